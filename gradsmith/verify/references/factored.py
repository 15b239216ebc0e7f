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
    return np.asarray(keep(x, 1 if upper else -1) + np.eye(*x.shape[-2:]))


def of_factor(x: Array, upper: bool) -> Array:
    """The matrix of which a Cholesky factor is given."""
    lower = _adjoint(np.triu(x)) if upper else np.tril(x)
    return np.asarray(lower @ _adjoint(lower))


def eliminated(x: Array) -> tuple[Array, Array, Array]:
    """Factors L and U in one array, the rows exchanged at each step, and the first step without a pivot, or 0."""
    found, steps = x.copy(), min(x.shape[-2:])
    pivots, info = np.zeros((*x.shape[:-2], steps), np.int32), np.zeros(x.shape[:-2], np.int32)
    for place in np.ndindex(x.shape[:-2]):
        matrix, exchanged = found[place], pivots[place]
        for k in range(steps):
            sizes = np.abs(matrix[k:, k].real) + np.abs(matrix[k:, k].imag)
            row = k + int(sizes.argmax())
            exchanged[k] = row + 1
            matrix[[k, row]] = matrix[[row, k]]
            if matrix[k, k] == 0:
                info[place] = info[place] or k + 1
                continue
            matrix[k + 1 :, k] /= matrix[k, k]
            matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
    return found, pivots, info


def exchanged(x: Array, pivots: Array, inverse: bool) -> Array:
    """The rows after exchanges, or after the same in the reverse order."""
    batch = np.broadcast_shapes(x.shape[:-2], pivots.shape[:-1])
    found = np.array(np.broadcast_to(x, (*batch, *x.shape[-2:])))
    rows = np.broadcast_to(pivots, (*batch, pivots.shape[-1])) - 1
    for place in np.ndindex(batch):
        steps = list(enumerate(rows[place]))
        for k, row in steps if inverse else reversed(steps):
            found[place][[k, row]] = found[place][[row, k]]
    return found


def permutation(pivots: Array, rows: int) -> Array:
    """The matrix P of A = P L U, for the rows exchanged at each step."""
    return exchanged(np.eye(rows), pivots, False)


def unpacked(factors: Array, pivots: Array) -> tuple[Array, Array, Array]:
    """The three matrices of which two are in `factors`."""
    steps = min(factors.shape[-2:])
    lower = triangle(factors, False, True)[..., :steps].astype(factors.dtype)
    places = permutation(pivots, factors.shape[-2]).astype(factors.dtype)
    batch = np.broadcast_shapes(places.shape[:-2], factors.shape[:-2])
    return np.broadcast_to(places, (*batch, *places.shape[-2:])), lower, np.triu(factors)[..., :steps, :]


def solved_with(a: Array, b: Array, left: bool, adjoint: bool) -> Array:
    """The solution X of A X = B or of X A = B, with the adjoint of A if asked for."""
    if adjoint:
        a = _adjoint(a)
    return np.asarray(np.linalg.solve(a, b) if left else np.linalg.solve(a.mT, b.mT).mT)


def shortest_solution(a: Array, b: Array, rcond: float | None) -> tuple[Array, Array, Array]:
    """Least-squares solution, rank and singular values."""
    small = max(a.shape[-2:]) * np.finfo(a.dtype).eps if rcond is None else rcond
    found = np.linalg.pinv(a, rcond=small) @ b
    values = np.broadcast_to(np.linalg.svdvals(a), (*found.shape[:-2], min(a.shape[-2:])))
    return found, (values > small * values.max(-1, keepdims=True)).sum(-1), values


def lstsq(a: Array, b: Array, rcond: float | None) -> tuple[Array, Array, Array, Array]:
    is_vector = b.ndim == 1 or b.shape == a.shape[:-1]
    columns = b[..., None] if is_vector else b
    solution, rank, values = shortest_solution(a, columns, rcond)
    rest = np.square(np.abs(columns - a @ solution)).sum(-2)
    if a.shape[-2] <= a.shape[-1]:
        rest = np.zeros(0, rest.dtype)
    return solution[..., 0] if is_vector else solution, rest, rank, values


def reflections(a: Array, tau: Array, x: Array, adjoint: bool) -> Array:
    """The product H1 H2 ... of reflections, or its adjoint, times a matrix, one reflection after the other."""
    steps = range(tau.shape[-1])
    x = np.broadcast_to(x, (*np.broadcast_shapes(a.shape[:-2], x.shape[:-2]), *x.shape[-2:]))
    for step in steps if adjoint else reversed(steps):
        vector = np.tril(a[..., : step + 1], -1)[..., step:]
        vector[..., step, 0] = 1
        factor = tau[..., step, None, None]
        x = x - (np.conj(factor) if adjoint else factor) * vector @ (_adjoint(vector) @ x)
    return np.asarray(x)


def _adjoint(x: Array) -> Array:
    return np.swapaxes(x.conj(), -1, -2)


DEFINITIONS = (
    eig,
    eigh,
    eliminated,
    exchanged,
    lstsq,
    of_factor,
    permutation,
    reflections,
    shortest_solution,
    solved_with,
    svd_with_columns,
    svd_with_rows,
    triangle,
    unpacked,
)
