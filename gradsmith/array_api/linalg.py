"""The standard's extension for linear algebra: ``gradsmith.array_api.linalg``."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import gradsmith as gs
from gradsmith.array_api import statistics
from gradsmith.array_api.linear import matmul, matrix_transpose, tensordot, vecdot
from gradsmith.array_api.operands import DType, Tensor, axes_of, axis_of, promoted, tensor_of

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip


class Eigh(NamedTuple):
    """What `eigh` finds."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QR(NamedTuple):
    """What `qr` finds."""

    Q: Tensor
    R: Tensor


class Slogdet(NamedTuple):
    """What `slogdet` finds."""

    sign: Tensor
    logabsdet: Tensor


class SVD(NamedTuple):
    """What `svd` finds."""

    U: Tensor
    S: Tensor
    Vh: Tensor


# ---- decompositions


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """Lower (or upper) triangular factors of positive definite matrices."""
    return gs.linalg.cholesky(tensor_of("cholesky", x), upper=upper)


def eigh(x: Tensor, /) -> Eigh:
    """Eigenvalues of symmetric matrices, ascending, and their eigenvectors in columns."""
    return Eigh(*gs.linalg.eigh(tensor_of("eigh", x)))


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of symmetric matrices, ascending."""
    return gs.linalg.eigvalsh(tensor_of("eigvalsh", x))


def qr(x: Tensor, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QR:
    """Orthogonal and upper triangular factors, with as many columns as rows at most, or all."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr(): mode must be 'reduced' or 'complete', but got {mode!r}")
    return QR(*gs.linalg.qr(tensor_of("qr", x), mode))


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVD:
    """Singular vectors and values; only those that belong to values unless `full_matrices`."""
    return SVD(*gs.linalg.svd(tensor_of("svd", x), full_matrices))


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values, descending."""
    return gs.linalg.svdvals(tensor_of("svdvals", x))


# ---- inverses


def inv(x: Tensor, /) -> Tensor:
    """Inverses of square matrices."""
    return gs.linalg.inv(tensor_of("inv", x))


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Pseudo-inverses.

    Parameters
    ----------
    rtol : float or Tensor, optional
        Singular values below this part of the greatest count as zero; by default eps times the greater size.
    """
    return gs.linalg.pinv(tensor_of("pinv", x), rtol=rtol)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Solutions of linear systems; `x2` is one vector if it has one axis, and matrices of columns else."""
    matrix, right = promoted("solve", tensor_of("solve", x1), tensor_of("solve", x2))
    if right.ndim == 1:
        return gs.linalg.solve(matrix, right.unsqueeze(-1)).squeeze(-1)
    if right.ndim < matrix.ndim:  # where the op would see vectors
        stack = gs.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        right = right.expand((*stack, *right.shape[-2:]))
    return gs.linalg.solve(matrix, right)


# ---- numbers


def det(x: Tensor, /) -> Tensor:
    """Determinants."""
    return gs.linalg.det(tensor_of("det", x))


def slogdet(x: Tensor, /) -> Slogdet:
    """Signs of determinants, and logarithms of their absolute values."""
    return Slogdet(*gs.linalg.slogdet(tensor_of("slogdet", x)))


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Ranks: how many singular values exceed `rtol` times the greatest."""
    return gs.linalg.matrix_rank(tensor_of("matrix_rank", x), rtol=rtol)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """Norms of matrices: ``"fro"``, ``"nuc"``, 1, 2, inf, or the negative of these."""
    return gs.linalg.matrix_norm(tensor_of("matrix_norm", x), ord, keepdim=keepdims)


def vector_norm(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """Norms of vectors along axes, of all elements if `axis` is None."""
    axes = axes_of("vector_norm", tensor_of("vector_norm", x), axis)
    if not axes:  # vectors of one element
        return gs.linalg.vector_norm(x.unsqueeze(0), ord, (0,))
    return gs.linalg.vector_norm(x, ord, axes, keepdims)


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType | None = None) -> Tensor:
    """Sums of diagonals, in the dtype that `sum` has."""
    return statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# ---- matrices


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Diagonals of matrices, above the main one by `offset`."""
    return gs.diagonal(tensor_of("diagonal", x), offset, -2, -1)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Square matrices to an integer power; negative ones of their inverses."""
    return gs.linalg.matrix_power(tensor_of("matrix_power", x), n)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix of all products of the elements of two vectors."""
    return gs.outer(*promoted("outer", tensor_of("outer", x1), tensor_of("outer", x2)))


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Cross products of vectors of three elements along an axis, while the other axes broadcast.

    Raises
    ------
    ValueError
        Vectors have not three elements.
    """
    pair = promoted("cross", tensor_of("cross", x1), tensor_of("cross", x2))
    sizes = [x.shape[axis_of("cross", x.ndim, axis)] for x in pair]
    if sizes != [3, 3]:
        raise ValueError(f"cross(): vectors must have 3 elements along axis {axis}, but they have {sizes}")
    return gs.linalg.cross(*gs.broadcast_arrays(*pair), dim=axis)
