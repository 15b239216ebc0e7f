"""Matrices of up to 8 rows, of which there are many: no call of LAPACK for each of them."""
