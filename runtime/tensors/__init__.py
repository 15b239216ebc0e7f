"""Tensors for Python: their class, functions that create them, and the entry points of backward."""
