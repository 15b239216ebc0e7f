"""Definitions of functions of matrices by their factors and triangles, for the references of entries."""

from __future__ import annotations

import math
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
    if full_matrices:
        left = np.concatenate([left[..., :count], complement(left[..., :count])], -1)
        right = np.concatenate([right[..., :count, :], _adjoint(complement(_adjoint(right[..., :count, :])))], -2)
    return left, values, right


def complement(x: Array) -> Array:
    """What is orthogonal to the columns, in the basis that a decomposition by reflections gives; there are others."""
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError("not finite")
    basis = np.linalg.qr(x, "complete").Q[..., x.shape[-1] :]
    return np.asarray(basis * _phases_of(basis)) if basis.shape[-1] == 1 else basis


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


def slope_of_factor(factor: Array, slope: Array) -> Array:
    """The gradient of a positive definite matrix for that of its lower triangular factor."""
    lower = np.tril(factor)
    inner = np.tril(_adjoint(lower) @ np.tril(slope)) * (1 - 0.5 * np.eye(factor.shape[-1]))
    inverse = np.linalg.inv(lower)
    return np.asarray(0.5 * _adjoint(inverse) @ (inner + _adjoint(inner)) @ inverse)


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
    solution = shortest_solution(a, columns, rcond)[0]
    _, rank, values = shortest_solution(a, a, rcond)
    rest = np.square(np.abs(columns - a @ solution)).sum(-2)
    if a.shape[-2] <= a.shape[-1] or np.any(rank < a.shape[-1]):
        rest = np.zeros(0, rest.dtype)
    return solution[..., 0] if is_vector else solution, rest, rank, values


def reflections(a: Array, tau: Array, x: Array, adjoint: bool) -> Array:
    """The product H1 H2 ... of reflections, or its adjoint, times a matrix, one reflection after the other."""
    steps = range(tau.shape[-1])
    x = np.broadcast_to(x, (*np.broadcast_shapes(a.shape[:-2], x.shape[:-2]), *x.shape[-2:]))
    for step in steps if adjoint else reversed(steps):
        vector = np.tril(a[..., : step + 1], -1)[..., step:]
        vector[..., step, 0] = 1
        x = _reflected(vector, tau[..., step, None, None], x, adjoint)
    return np.asarray(x)


def whole_reflections(vectors: Array, tau: Array, x: Array, adjoint: bool) -> Array:
    """The same for vectors of which all elements count."""
    steps = range(tau.shape[-1])
    for step in steps if adjoint else reversed(steps):
        x = _reflected(vectors[..., step : step + 1], tau[..., step, None, None], x, adjoint)
    return x


def _reflected(vector: Array, factor: Array, x: Array, adjoint: bool) -> Array:
    return np.asarray(x - (np.conj(factor) if adjoint else factor) * vector @ (_adjoint(vector) @ x))


def of_bands(bands: Array, upper: int) -> Array:
    """The matrix whose element i, j is that in row ``upper + i - j`` and column j of the diagonals."""
    count, size = bands.shape[-2:]
    found = np.zeros((*bands.shape[:-2], size, size), bands.dtype)
    for j in range(size):
        for i in range(max(0, j - upper), min(size, j - upper + count)):
            found[..., i, j] = bands[..., upper + i - j, j]
    return found


def of_diagonals(column: Array, row: Array) -> Array:
    """The Toeplitz matrix of a first column and a first row, whose first element is not read."""
    i, j = np.indices((column.shape[-1], column.shape[-1]))
    return np.asarray(np.where(i >= j, column[..., np.abs(i - j)], row[..., np.abs(i - j)]))


def sylvester(a: Array, b: Array, q: Array) -> Array:
    """The solution of A X + X B = Q, in the bases in which both matrices are diagonal."""
    (first, left), (second, right) = np.linalg.eig(a), np.linalg.eig(b)
    inner = np.linalg.solve(left, q.astype(complex)) @ right / (first[..., :, None] + second[..., None, :])
    return _like(q, np.linalg.solve(right.mT, (left @ inner).mT).mT)


def stein(a: Array, q: Array) -> Array:
    """The solution of X - A X A* = Q, in the basis in which A is diagonal."""
    values, left = np.linalg.eig(a)
    inner = _adjoint(np.linalg.solve(left, _adjoint(np.linalg.solve(left, q.astype(complex)))))
    return _like(q, left @ (inner / (1 - values[..., :, None] * values[..., None, :].conj())) @ _adjoint(left))


def riccati(a: Array, b: Array, q: Array, r: Array) -> Array:
    """The stabilizing solution of Riccati's equation, from the stable subspace of its Hamiltonian matrix."""
    size = a.shape[-1]
    a, feedback, q = np.broadcast_arrays(a, b @ np.linalg.solve((r + r.mT) / 2, b.mT), (q + q.mT) / 2)
    values, vectors = np.linalg.eig(np.block([[a, -feedback], [-q, -a.mT]]))
    stable = np.take_along_axis(vectors, np.argsort(values.real, -1)[..., None, :size], -1)
    return _like(q, np.linalg.solve(stable[..., :size, :].mT, stable[..., size:, :].mT).mT)


def discrete_riccati(a: Array, b: Array, q: Array, r: Array) -> Array:
    """The solution that the recursion of Riccati's equation converges to."""
    if b.shape[-1] != r.shape[-1]:
        raise ValueError(f"B has {b.shape[-1]} columns, and R is of size {r.shape[-1]}")
    q, r = (q + q.mT) / 2, (r + r.mT) / 2
    found = q + 0 * a
    for _ in range(1000):
        across = b.mT @ found
        gain = np.linalg.solve(r + across @ b, across @ a)
        before, found = found, a.mT @ found @ (a - b @ gain) + q
        if np.allclose(found, before, rtol=1e-14, atol=0):
            break
    return np.asarray(found)


ROWS_OF_ONE = (1 + math.sqrt(17)) / 8  # Bunch and Kaufman: how large a pivot of one row has to be


def pivoted_by_rows(x: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """Factors L and D in one array, the rows exchanged at each step, and the first step without a pivot, or 0."""
    found, pivots = np.zeros_like(x), np.zeros(x.shape[:-1], np.int32)
    info = np.zeros(x.shape[:-2], np.int32)
    for place in np.ndindex(x.shape[:-2]):
        lower = np.tril(x[place])
        rest = lower + (_adjoint(np.tril(lower, -1)) if hermitian else np.tril(lower, -1).mT)
        if hermitian:
            np.einsum("ii->i", rest)[...] = np.einsum("ii->i", rest).real
        k = 0
        while k < len(rest):
            row, size = _pivot(rest, k)
            last = k + size - 1
            rest[[last, row], k:] = rest[[row, last], k:]
            rest[k:, [last, row]] = rest[k:, [row, last]]
            pivots[place][k : last + 1] = row + 1 if size == 1 else -row - 1
            found[place][k:, k : last + 1] = rest[k:, k : last + 1]
            block = rest[k : last + 1, k : last + 1]
            if size == 1 and rest[k, k] == 0:
                info[place] = info[place] or k + 1
            else:
                columns = np.linalg.solve(block.mT, rest[last + 1 :, k : last + 1].mT).mT
                found[place][last + 1 :, k : last + 1] = columns
                rest[last + 1 :, last + 1 :] -= columns @ rest[k : last + 1, last + 1 :]
            k += size
    return np.tril(found), pivots, info


def _pivot(rest: Array, k: int) -> tuple[int, int]:
    """The row of the pivot for step k, and how many rows it takes."""
    sizes = np.abs(rest.real) + np.abs(rest.imag)
    largest = sizes[k + 1 :, k].max(initial=0)
    if sizes[k, k] >= ROWS_OF_ONE * largest:
        return k, 1
    row = k + 1 + int(sizes[k + 1 :, k].argmax())
    beside = np.delete(sizes[row, k:], row - k).max()
    if sizes[k, k] * beside >= ROWS_OF_ONE * largest**2:
        return k, 1
    return (row, 1) if sizes[row, row] >= ROWS_OF_ONE * beside else (row, 2)


def of_rows_with_pivots(factors: Array, pivots: Array, hermitian: bool) -> Array:
    """The matrix whose factors were found with pivots of one or two rows."""
    factors, pivots = np.broadcast_arrays(factors, pivots[..., None])
    found = np.empty_like(factors)
    for place in np.ndindex(factors.shape[:-2]):
        found[place] = _product(factors[place], pivots[place][:, 0], hermitian)
    return found


def _product(factors: Array, pivots: Array, hermitian: bool) -> Array:
    """From the last step to the first, each of which adds rows and columns of its own."""
    size, steps, k = len(factors), [], 0
    while k < size:
        steps.append((k, 1 if pivots[k] > 0 else 2))
        k += steps[-1][1]
    found = np.zeros_like(factors)
    for k, count in reversed(steps):
        end = k + count
        block = np.tril(factors[k:end, k:end])
        if hermitian:
            np.einsum("ii->i", block)[...] = np.einsum("ii->i", block).real
        turned = _adjoint if hermitian else np.transpose
        block = block + turned(np.tril(block, -1))
        column = np.concatenate([np.eye(count), factors[end:, k:end]])
        found[k:, k:] += column @ block @ turned(column)
        last, row = end - 1, abs(pivots[k]) - 1
        found[[last, row]] = found[[row, last]]
        found[:, [last, row]] = found[:, [row, last]]
    return found


def _like(given: Array, found: Array) -> Array:
    return np.asarray(found.real if given.dtype.kind == "f" else found)


def _adjoint(x: Array) -> Array:
    return np.swapaxes(x.conj(), -1, -2)


DEFINITIONS = (
    complement,
    discrete_riccati,
    eig,
    eigh,
    eliminated,
    exchanged,
    lstsq,
    of_bands,
    of_diagonals,
    of_factor,
    of_rows_with_pivots,
    permutation,
    pivoted_by_rows,
    reflections,
    riccati,
    shortest_solution,
    slope_of_factor,
    solved_with,
    stein,
    svd_with_columns,
    svd_with_rows,
    sylvester,
    triangle,
    unpacked,
    whole_reflections,
)
