"""The type checker of formulas: from their text to a tree with types and C entries."""
