"""The phase of complex eigenvectors and singular vectors, and the turn of a basis, which are anybody's choice."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.switches.phases import is_phase_dependence_allowed

Array: TypeAlias = NDArray[Any]

TOLERANCE = 1e-2  # PyTorch's: rounding stays far below it


def phases_of(vectors: Array) -> Array:
    """Factors that make the greatest element of each complex vector positive; 1 for real vectors."""
    if vectors.dtype.kind != "c" or vectors.size == 0:
        return np.ones((), vectors.dtype)
    pivots = np.take_along_axis(vectors, np.abs(vectors).argmax(-2, keepdims=True), -2)
    return np.asarray(np.abs(pivots) / pivots)


def greatest_of(vectors: Array) -> Array:
    """Row of the greatest element of each column."""
    if vectors.size == 0:
        return np.zeros(vectors.shape, bool)
    return np.asarray(np.arange(vectors.shape[-2])[:, None] == np.abs(vectors).argmax(-2, keepdims=True))


def phase_checked_of(gradient: Array, vectors: Array, op: str) -> Array:
    """A copy of `gradient`, that of a loss of `vectors`; no loss may change when a vector is multiplied by a phase."""
    shape = np.broadcast_shapes(gradient.shape, vectors.shape)
    if has_no_data(gradient):
        return array_without_data(shape, gradient.dtype)
    if not is_phase_dependence_allowed():
        _check_phase(gradient, vectors, op)
    return np.array(np.broadcast_to(gradient, shape))


def _check_phase(gradient: Array, vectors: Array, op: str) -> None:
    products = vectors.conj() * gradient
    slopes = np.abs(products.sum(-2).imag)  # of the loss, as each vector turns
    if (slopes > TOLERANCE * np.maximum(1, np.abs(products).sum(-2))).any():
        kind = "singular vectors" if op == "linalg.svd" else "eigenvectors"
        raise RuntimeError(
            f"{op}: The {kind} in the complex case are specified up to multiplication by e^{{i phi}}. The specified "
            "loss function depends on this quantity, so it is ill-defined. Use one that does not, such as a function "
            "of their magnitudes; or, since the greatest element of each of gradsmith's vectors is positive, allow it "
            "by gradsmith.autograd.allow_phase_dependence()."
        )


def basis_checked_of(gradient: Array, basis: Array) -> Array:
    """A copy of `gradient`, that of a loss of a basis; no loss may change when the basis is turned within its span."""
    if basis.shape[-1] == 1:
        return phase_checked_of(gradient, basis, "linalg.svd")
    shape = np.broadcast_shapes(gradient.shape, basis.shape)
    if has_no_data(gradient):
        return array_without_data(shape, gradient.dtype)
    _check_turns(gradient, basis)
    return np.array(np.broadcast_to(gradient, shape))


def _check_turns(gradient: Array, basis: Array) -> None:
    products = np.matmul(basis.conj().mT, gradient)
    slopes = np.abs(products - products.conj().mT)  # of the loss, as one vector turns towards another
    sizes = np.matmul(np.abs(basis).mT, np.abs(gradient))
    if (slopes > TOLERANCE * np.maximum(1, sizes + sizes.mT)).any():
        raise NotImplementedError(
            "linalg.svd: The singular vectors beyond the number of singular values, which full_matrices=True adds, are "
            "any basis of what is orthogonal to the others. The specified loss function depends on the choice of this "
            "basis, so it is ill-defined. Use one that does not, such as a function of U[..., k:] @ U[..., k:].mH; or "
            "use full_matrices=False."
        )
