"""Choices by values: steps of compiled functions, and slices of a `vmap` that go different ways."""
