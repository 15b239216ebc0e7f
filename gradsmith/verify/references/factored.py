"""Definitions of functions of matrices by their factors and triangles, for the references of entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array


def eigh(x: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(x)
    return values, vectors * _phases_of(vectors)


def svd_with_rows(x: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    left, values, right = np.linalg.svd(x, full_matrices)
    count = values.shape[-1]
    phases = _phases_of(left[..., :count])
    left[..., :count] *= phases
    right[..., :count, :] *= np.conj(phases.mT)
    return left, values, right


def _phases_of(vectors: Array) -> Array:
    """Factors by which the greatest element of each complex vector is positive."""
    if vectors.dtype.kind != "c":
        return np.ones((1, 1))
    greatest = np.take_along_axis(vectors, np.abs(vectors).argmax(-2)[..., None, :], -2)
    return np.asarray(np.exp(-1j * np.angle(greatest)))


def eig(x: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eig(x)
    vectors = vectors + 0j
    return values + 0j, vectors * _phases_of(vectors)


def svd_with_columns(x: Array, some: bool, compute_uv: bool) -> tuple[Array, Array, Array]:
    left, values, right = svd_with_rows(x, not some)
    if compute_uv:
        return left, values, _adjoint(right)
    left, right = (np.zeros((*x.shape[:-2], n, n), x.dtype) for n in x.shape[-2:])
    return left, values, right


def triangle(x: Array, upper: bool, unitriangular: bool) -> Array:
    keep = np.triu if upper else np.tril
    if not unitriangular:
        return np.asarray(keep(x))
    return np.asarray(keep(x, 1 if upper else -1) + np.eye(x.shape[-1]))


def of_factor(x: Array, upper: bool) -> Array:
    """The matrix of which a Cholesky factor is given."""
    lower = _adjoint(np.triu(x)) if upper else np.tril(x)
    return np.asarray(lower @ _adjoint(lower))


def _adjoint(x: Array) -> Array:
    return np.swapaxes(x.conj(), -1, -2)


DEFINITIONS = (eig, eigh, of_factor, svd_with_columns, svd_with_rows, triangle)
