"""Sparse Jacobians and Hessians: pattern, colouring, compressed products."""

from gradsmith.func.sparse.pattern import SparsityPattern
from gradsmith.func.sparse.transforms import hessian_pattern, jacobian_pattern, sparse_hessian, sparse_jacobian

__all__ = ["SparsityPattern", "hessian_pattern", "jacobian_pattern", "sparse_hessian", "sparse_jacobian"]
