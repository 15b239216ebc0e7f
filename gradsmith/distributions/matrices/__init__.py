"""Distributions of matrices."""
