"""Distributions of real vectors, and of vectors of the simplex."""
