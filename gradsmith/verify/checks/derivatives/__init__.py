"""Gradients and tangents of every order: against differences, against each other, and of inputs of several dtypes."""
