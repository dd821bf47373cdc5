"""One file a retrieval version. A version that has been released never changes its behaviour under its name."""
