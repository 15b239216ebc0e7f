"""Tensors for Python: their class, its methods, and the entry points of backward."""
