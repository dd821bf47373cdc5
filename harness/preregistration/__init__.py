"""Preregistration: what was promised before the run, whether it can be decided, and the verdict."""
