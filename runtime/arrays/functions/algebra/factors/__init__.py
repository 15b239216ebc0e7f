"""Eliminations, factors and substitutions on arrays of matrices, by the kernels of factors/."""
