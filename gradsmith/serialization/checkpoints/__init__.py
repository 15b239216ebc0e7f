"""Checkpoints of PyTorch, read without PyTorch and without running what is in them."""
