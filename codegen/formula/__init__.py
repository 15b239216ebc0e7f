"""A formula as a tree with types and C entries: its parts, what they may call, their shapes, and back to text."""
