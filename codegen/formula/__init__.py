"""A formula, from its text to a tree with types and C entries, and back to text."""
