"""Texts as vectors: the models that can be chosen, and a cache in which each distinct text is embedded once."""
