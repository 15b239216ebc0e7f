"""Tensors, nodes and saved values, which know each other."""
