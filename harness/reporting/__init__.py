"""Pages: a verdict in words first, then the numbers behind it. Plain mappings in, text out."""
