"""Versioned retrieval experiments with preregistered judgments."""

__version__ = "0.1.0"
