"""Matrices that are made of vectors: Toeplitz, Hankel, circulant ones and others."""

from __future__ import annotations

from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import array_of, as_tensor, common, np, without_data, wrapped


def _places(tensor: Any, places: Any) -> Any:
    return tensor.reshape(-1)[wrapped(np.ascontiguousarray(places))]


def toeplitz(c: Any, r: Any = None) -> Any:
    """Matrix with constant diagonals, of a first column and a first row, by default the conjugate of the column."""
    column = as_tensor(c).reshape(-1)
    row = (column.conj() if column.dtype.kind == "c" else column) if r is None else as_tensor(r).reshape(-1)
    column, row = common([column, row])
    pool = generated.cat([column.flip(0), row[1:]])
    rows, columns = np.ogrid[: column.shape[0], : row.shape[0]]
    return _places(pool, columns - rows + column.shape[0] - 1)


def hankel(c: Any, r: Any = None) -> Any:
    """Matrix with constant antidiagonals, of a first column and a last row, by default of zeros."""
    column = as_tensor(c).reshape(-1)
    row = column.new_zeros(column.shape) if r is None else as_tensor(r).reshape(-1)
    column, row = common([column, row])
    rows, columns = np.ogrid[: column.shape[0], : row.shape[0]]
    return _places(generated.cat([column, row[1:]]), rows + columns)


def circulant(c: Any) -> Any:
    """Matrix whose columns are the rotations of a vector."""
    column = as_tensor(c)
    count = column.shape[-1]
    rows, columns = np.ogrid[:count, :count]
    return column[..., wrapped((rows - columns) % count)]


def companion(a: Any) -> Any:
    """Matrix whose eigenvalues are the roots of a polynomial, of coefficients with the highest power first."""
    x = as_tensor(a)
    if x.ndim != 1 or x.shape[0] < 2 or (not without_data([x]) and array_of(x)[0] == 0):
        raise ValueError("companion: expected at least two coefficients, of which the first is not zero")
    x = x / x[0]
    below = as_tensor(np.eye(x.shape[0] - 2, x.shape[0] - 1), x.dtype)
    return generated.cat([-x[1:].unsqueeze(0), below])


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """Matrix whose product with a vector of length `n` is its convolution with `a`."""
    x = as_tensor(a)
    if n <= 0 or x.ndim != 1 or not x.numel():
        raise ValueError("convolution_matrix: expected a vector that is not empty, and a positive n")
    count = x.shape[0]
    rows, columns = np.ogrid[: n + count - 1, :n]
    at = rows - columns
    padded = generated.cat([x, x.new_zeros(1)])
    whole = _places(padded, np.where((at >= 0) & (at < count), at, count))
    if mode == "full":
        return whole
    length = max(count, n) if mode == "same" else max(count, n) - min(count, n) + 1
    first = (n + count - 1 - length) // 2 if mode == "same" else min(count, n) - 1
    return whole[first : first + length]


def block_diag(*arrs: Any) -> Any:
    """Matrix with matrices along its diagonal."""
    if not arrs:
        return wrapped(np.zeros((1, 0)))
    blocks = common([generated.atleast_2d(as_tensor(one)) for one in arrs])
    return generated.block_diag(*blocks)


def khatri_rao(a: Any, b: Any) -> Any:
    """Matrix whose columns are the Kronecker products of the columns of two matrices."""
    x, y = common([as_tensor(a), as_tensor(b)])
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    product = x.unsqueeze(-2) * y.unsqueeze(-3)
    return product.reshape((*product.shape[:-3], x.shape[-2] * y.shape[-2], x.shape[-1]))


def leslie(f: Any, s: Any) -> Any:
    """Matrix of a population's growth, of fertilities in its first row and survivals below its diagonal."""
    rates, shares = common([as_tensor(f), as_tensor(s)])
    if rates.ndim != 1 or shares.ndim != 1 or rates.shape[0] != shares.shape[0] + 1:
        raise ValueError("leslie: the length of s must be one less than that of f")
    below = generated.cat([generated.diag(shares), shares.new_zeros((shares.shape[0], 1))], 1)
    return generated.cat([rates.unsqueeze(0), below])


def dft(n: int, scale: Any = None) -> Any:
    """Matrix of the discrete Fourier transform."""
    if scale not in (None, "sqrtn", "n"):
        raise ValueError("scale must be None, 'sqrtn', or 'n'; " + repr(scale) + " is not valid.")
    angles = -2j * np.pi * (np.arange(n)[:, None] * np.arange(n) % n) / n
    return wrapped(np.exp(angles) / {None: 1, "sqrtn": np.sqrt(n), "n": n}[scale])


def hilbert(n: int) -> Any:
    """Matrix of the numbers ``1 / (i + j + 1)``."""
    return wrapped(1.0 / (np.arange(n)[:, None] + np.arange(n) + 1))


def helmert(n: int, full: bool = False) -> Any:
    """Orthonormal contrasts of each place with those before it."""
    rows = np.tril(np.ones((n, n)), -1) - np.diag(np.arange(n))
    rows[0] = 1
    rows /= np.sqrt(np.concatenate([[n], np.arange(1, n) * np.arange(2, n + 1)]))[:, None]
    return wrapped(rows if full else rows[1:].copy())


def pascal(n: int, kind: str = "symmetric", exact: bool = True) -> Any:
    """Matrix of binomial coefficients."""
    import math

    lower = np.array([[math.comb(i, j) for j in range(n)] for i in range(n)], dtype=np.int64 if exact else np.float64)
    if kind not in ("symmetric", "lower", "upper"):
        raise ValueError("kind must be 'symmetric', 'lower', or 'upper'")
    return wrapped({"symmetric": lower @ lower.T, "lower": lower, "upper": lower.T.copy()}[kind])
