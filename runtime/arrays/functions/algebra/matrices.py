"""Parts and decompositions of matrices by NumPy's linalg, on batches too, with errors that name the op."""

from __future__ import annotations

import contextlib
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.algebra.factors import orthogonal, own_dtype
from gradsmith.runtime.arrays.functions.algebra.phases import phases_of
from gradsmith.runtime.arrays.functions.algebra.small_matrices import eigenvalues, elimination, singular_values

Array: TypeAlias = NDArray[Any]


class LinAlgError(np.linalg.LinAlgError, RuntimeError):
    """A matrix is singular, not positive definite, or an algorithm did not converge: NumPy's error and PyTorch's."""


# ---- what ops require


def check_matrix(op: str, a: Array, name: str = "A") -> None:
    """Require a matrix, or a batch of matrices, of floating-point numbers."""
    check_inexact(op, a)
    check_rows(op, a, name)


def check_rows(op: str, a: Array, name: str = "A") -> None:
    if a.ndim < 2:
        raise RuntimeError(f"{op}: The input tensor {name} must have at least 2 dimensions, but has {a.ndim}")


def check_inexact(op: str, a: Array) -> None:
    if a.dtype.kind not in "fc":
        raise RuntimeError(f"{op}: Expected a floating point or complex tensor as input, but got {a.dtype}")
    if a.dtype == np.float16:
        raise RuntimeError(f"{op}: Low precision dtypes are not supported, but got float16; convert it with .float()")


def check_square(op: str, a: Array) -> None:
    check_inexact(op, a)
    check_squares(op, a)


def check_squares(op: str, a: Array) -> None:
    """Of whole numbers too."""
    check_rows(op, a)
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(
            f"{op}: A must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices"
        )


def check_same_dtype(op: str, a: Array, b: Array) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(f"{op}: Expected A and B to have the same dtype, but found {a.dtype} and {b.dtype}")


def readable(a: Array) -> Array:
    """The matrices; for a tensor without data, unit matrices, for which every op has a result."""
    return np.broadcast_to(np.eye(*a.shape[-2:], dtype=a.dtype), a.shape) if has_no_data(a) else a


def like_given(a: Array, *results: Array) -> Any:
    """Results without data for a tensor without data."""
    return tuple(array_without_data(r.shape, r.dtype) for r in results) if has_no_data(a) else results


def batch_element(a: Array, failed: Array) -> str:
    """The first matrix of a batch that failed, for messages; "" for a single matrix."""
    return f"(Batch element {int(np.argmax(failed))}): " if a.ndim > 2 else ""


def joint_batch(op: str, a: Array, b: Array) -> tuple[int, ...]:
    """The dimensions before those of the matrices, which have to broadcast."""
    if a.shape[:-2] == b.shape[:-2]:
        return a.shape[:-2]
    try:
        return np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise RuntimeError(
            f"{op}: the batch dimensions of A and B, {list(a.shape[:-2])} and {list(b.shape[:-2])}, do not broadcast"
        ) from None


def with_batch(a: Array, batch: tuple[int, ...], dims: int = 2) -> Array:
    """A view of an array whose last dimensions are those of a matrix or a vector."""
    shape = (*batch, *a.shape[a.ndim - dims :])
    return a if a.shape == shape else np.broadcast_to(a, shape)


# ---- parts of matrices


def lower_half_of(a: Array) -> Array:
    """The lower triangle with half the diagonal; added to its adjoint, it gives a Hermitian matrix."""
    if has_no_data(a):
        return array_without_data(a.shape, a.dtype)
    half = np.tril(a)
    np.einsum("...ii->...i", half)[...] *= 0.5
    return half


def on_diagonal_of(a: Array) -> Array:
    """Vectors as diagonals of matrices."""
    if has_no_data(a):
        return array_without_data((*a.shape, a.shape[-1]), a.dtype)
    found = np.zeros((*a.shape, a.shape[-1]), a.dtype)
    np.einsum("...ii->...i", found)[...] = a
    return found


def main_diagonal_of(a: Array) -> Array:
    if a.shape[-1] != a.shape[-2]:
        raise RuntimeError(f"main_diagonal(): expected square matrices, but got size {list(a.shape)}")
    if has_no_data(a):
        return array_without_data(a.shape[:-1], a.dtype)
    return np.asarray(np.diagonal(a, axis1=-2, axis2=-1).copy())


# ---- decompositions


def hermitian_part_of(a: Array, triangle: str, op: str) -> Array:
    """The Hermitian matrix that one triangle describes; the other is ignored."""
    check_square(op, a)
    if triangle not in ("L", "U", "l", "u"):
        raise RuntimeError(f"{op}(): expected UPLO to be 'L' or 'U', but got {triangle!r}")
    return elimination.hermitian(readable(a), triangle in "Ll")


def hermitian_mean_of(a: Array) -> Array:
    """Half the sum of a matrix and its adjoint."""
    return array_without_data(a.shape, a.dtype) if has_no_data(a) else elimination.mean_with_adjoint(a)


def _adjoint(a: Array) -> Array:
    return np.asarray(np.conj(a).swapaxes(-1, -2))


def hermitian_eigen_of(a: Array) -> tuple[Array, Array]:
    """The gradient, which is Hermitian, is that of the mean of a matrix and its adjoint."""
    values, vectors = converged("linalg.eigh", eigenvalues.eigh, readable(a))
    if vectors.dtype.kind == "c":
        vectors = vectors * phases_of(vectors)
    values, vectors = like_given(a, values, vectors)
    return values, vectors


def hermitian_values_of(a: Array) -> Array:
    return np.asarray(converged("linalg.eigvalsh", eigenvalues.eigvalsh, readable(a)))


def eigen_of(a: Array, any_phase: bool) -> tuple[Array, Array]:
    """Complex whatever the dtype; the greatest element of each vector is positive, as that of Hermitian matrices."""
    check_square("linalg.eig", a)
    values, vectors = converged("linalg.eig", own_dtype.eig, readable(a))
    values, vectors = like_given(a, values, vectors * phases_of(vectors) if a.size else vectors)
    return values, vectors


def linalg_eigvals_of(a: Array) -> Array:
    check_square("linalg.eigvals", a)
    return np.asarray(converged("linalg.eigvals", own_dtype.eigvals, readable(a)))


def converged(op: str, function: Any, a: Array, *arguments: Any) -> Any:
    with contextlib.suppress(np.linalg.LinAlgError):
        if np.isfinite(a).all():
            return function(a, *arguments)
    raise LinAlgError(
        f"{op}: The algorithm failed to converge because the input matrix contains non-finite values "
        "or is ill-conditioned."
    )


def reduced_svd_of(a: Array, any_phase: bool) -> tuple[Array, Array, Array]:
    check_matrix("linalg.svd", a)
    u, s, vh = converged("linalg.svd", singular_values.svd, readable(a), False)
    phases = phases_of(u)
    if phases.ndim:
        u *= phases
        vh *= phases.conj().mT
    u, s, vh = like_given(a, u, s, vh)
    return u, s, vh


def complement_of(a: Array) -> Array:
    """The further columns of Q in the complete decomposition A = QR; a single complex one in the usual phase."""
    rows, columns = a.shape[-2:]
    if has_no_data(a):
        return array_without_data((*a.shape[:-1], max(rows - columns, 0)), a.dtype)
    if rows <= columns:
        return np.empty((*a.shape[:-1], 0), a.dtype)
    basis: Array = converged("linalg.svd", orthogonal.qr, a, "complete")[0][..., columns:]
    return basis * phases_of(basis) if rows - columns == 1 else np.ascontiguousarray(basis)


def linalg_svdvals_of(a: Array) -> Array:
    check_matrix("linalg.svdvals", a)
    return np.asarray(converged("linalg.svdvals", singular_values.svdvals, readable(a)))


def linalg_qr_of(a: Array, mode: str) -> tuple[Array, Array]:
    check_matrix("linalg.qr", a)
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"linalg.qr: unrecognized mode {mode!r}, but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    basis, triangle = orthogonal.qr(readable(a), mode)
    return np.zeros(0, a.dtype) if basis is None else basis, triangle


def pseudo_inverse_of(a: Array, atol: Any, rtol: Any, op: str) -> Array:
    """Singular values not above ``max(atol, rtol * the greatest)`` count as zero."""
    check_matrix(op, a)
    a = readable(a)
    if not a.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    u, s, vh = converged(op, singular_values.svd, a, False)
    kept = s > threshold(a, s, atol, rtol)
    inverted = np.divide(1, s, where=kept, out=np.zeros(kept.shape, s.dtype))
    return np.asarray(np.matmul(_adjoint(vh) * inverted[..., None, :], _adjoint(u)))


def linalg_matrix_rank_of(a: Array, tol: Any, hermitian: bool, atol: Any, rtol: Any) -> Array:
    """Number of singular values above ``max(atol, rtol * the greatest)``, or above `tol`."""
    if tol is not None:
        atol, rtol = tol, 0.0
    op = "linalg.matrix_rank"
    check_square(op, a) if hermitian else check_matrix(op, a)
    a = readable(a)
    if not a.size:
        return np.zeros(a.shape[:-2], np.int64)
    s = np.abs(converged(op, eigenvalues.eigvalsh, a)) if hermitian else converged(op, singular_values.svdvals, a)
    return np.asarray((s > threshold(a, s, atol, rtol)).sum(-1))


def threshold(a: Array, values: Array, atol: Any, rtol: Any) -> Array:
    """The threshold below which singular values count as zero, with PyTorch's defaults."""
    absolute = np.zeros(()) if atol is None else np.asarray(atol)
    if rtol is None:
        relative = np.where(absolute > 0, 0.0, max(a.shape[-2:]) * np.finfo(a.dtype).eps)
    else:
        relative = np.asarray(rtol)
    greatest = values.max(-1)
    return np.asarray(np.maximum(absolute, relative * greatest))[..., None]
