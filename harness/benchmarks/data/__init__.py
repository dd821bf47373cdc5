"""Data shipped with the package: the frozen synthetic benchmark, and the script that once wrote it."""
