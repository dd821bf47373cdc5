"""Benchmarks as columns: what is searched, what is asked, and what counts as evidence.

Every importer ends in the same `Benchmark`; every benchmark lies on disk as separate files, so that work on
the dev questions never has the held-out labels in its hands.
"""
