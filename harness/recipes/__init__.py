"""Recipes of published figures, as YAML."""
