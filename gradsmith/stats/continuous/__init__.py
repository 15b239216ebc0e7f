"""Distributions of real numbers, under SciPy's names."""
