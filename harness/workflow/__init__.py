"""What a user does, step by step: dev, freeze, lock, full run, judge, verify. Hands things across the layers."""
