"""Functions of matrices, dense and sparse."""
