"""Retrieval versions: from a corpus and questions to one total order of documents for each question."""
