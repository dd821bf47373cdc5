"""From rankings and labels to scores, and from two systems' scores to one honest comparison."""
