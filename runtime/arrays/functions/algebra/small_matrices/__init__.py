"""Kernels for many matrices of at most 8 rows, without a call of LAPACK for each."""
