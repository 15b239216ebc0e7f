"""Batched tensors: one tensor that stands for a batch of them, for `vmap`."""
