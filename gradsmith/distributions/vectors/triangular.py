"""Cholesky factors of the covariances of vectors."""

from __future__ import annotations

from gradsmith.generated import square
from gradsmith.generated.decompositions import linalg_cholesky
from gradsmith.generated.tensor import Tensor
from gradsmith.generated.triangular import cholesky_solve, linalg_solve_triangular
from gradsmith.runtime.tensors.factories.creation import eye

__all__ = ["factor_of_precision", "half_log_determinant", "mahalanobis", "precision_of_factor", "times_vectors"]


def factor_of_precision(precision: Tensor) -> Tensor:
    """The lower triangular L with ``L @ L.mT`` the inverse of a matrix, without this inverse.

    The factor of the matrix with rows and columns in reverse order is, in reverse order, an upper triangular factor
    of the matrix. Its transpose has L for an inverse.
    """
    upper = linalg_cholesky(precision.flip(-2, -1)).flip(-2, -1).mT
    identity = eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return linalg_solve_triangular(upper, identity.expand(upper.shape), upper=False)


def precision_of_factor(factor: Tensor) -> Tensor:
    """The inverse of ``factor @ factor.mT``."""
    identity = eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    return cholesky_solve(identity.expand(factor.shape), factor)


def half_log_determinant(factor: Tensor) -> Tensor:
    """Half the logarithm of the determinant of ``factor @ factor.mT``."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def mahalanobis(factor: Tensor, difference: Tensor) -> Tensor:
    """The square of the norm of ``factor^-1 difference``; the batches of matrices and of vectors broadcast."""
    if factor.ndim == 2:  # one matrix for all vectors, which are then solved for at once
        rows = difference.reshape((-1, difference.shape[-1]))
        solved = linalg_solve_triangular(factor, rows.mT, upper=False)
        return square(solved).sum(0).reshape(difference.shape[:-1])
    batch = (difference.unsqueeze(-1) * factor[..., :1]).shape  # what both broadcast to
    wide = factor.expand((*batch[:-1], factor.shape[-1]))
    solved = linalg_solve_triangular(wide, difference.unsqueeze(-1).expand(batch), upper=False)
    return square(solved).sum((-2, -1))


def times_vectors(matrix: Tensor, vectors: Tensor) -> Tensor:
    """Products of matrices and vectors, whose batches broadcast."""
    if matrix.ndim == 2:
        return vectors @ matrix.mT
    return (matrix @ vectors.unsqueeze(-1)).squeeze(-1)
