"""Definitions of ops that arrange elements anew, for the references of entries."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array, Shape


def combinations(x: Array, r: int = 2, with_replacement: bool = False) -> Array:
    choose: Any = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return np.array(list(choose(x.tolist(), r)), x.dtype).reshape(-1, r)


def diagonal_scatter(x: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    result: Array = x.copy()
    places = np.diagonal(np.arange(x.size).reshape(x.shape), offset, dim1, dim2)
    np.put(result, places, src)
    return result


def diag_embed(x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    rows = np.arange(x.shape[-1]) + max(-offset, 0)
    result = np.zeros((*x.shape[:-1], *(x.shape[-1] + abs(offset),) * 2), x.dtype)
    result[..., rows, rows + offset] = x
    return np.moveaxis(result, (-2, -1), (dim1, dim2))


def view_dtype(x: Array, dtype: str) -> Array:
    """The bytes of the elements by rows, read again; a number can become another of its size."""
    kind = np.dtype(dtype)
    if kind.kind == "b" and max(x.tobytes(), default=0) > 1:
        raise ValueError("bytes that are no bools")
    last = () if kind.itemsize == x.itemsize else (x.shape[-1] * x.itemsize // kind.itemsize,)
    return np.frombuffer(x.tobytes(), kind).reshape((*x.shape[: x.ndim - len(last)], *last))


def convolution(x: Array, y: Array, start: Shape, size: Shape, dim: Shape, by_fft: bool) -> Array:
    """The window of the whole, or zeros around it."""
    ndim = max(x.ndim, y.ndim)
    x, y = (a.reshape((1,) * (ndim - a.ndim) + a.shape) for a in (x, y))
    whole = np.moveaxis(fft_convolution(x, y, dim) if by_fft else whole_convolution(x, y, dim), dim, range(len(dim)))
    result = np.zeros([*size, *whole.shape[len(dim) :]], whole.dtype)
    for place in np.ndindex(*size):
        source = tuple(i + first for i, first in zip(place, start))
        if all(0 <= i < length for i, length in zip(source, whole.shape)):
            result[place] = whole[source]
    return np.moveaxis(result, range(len(dim)), dim)


def whole_convolution(x: Array, y: Array, dim: Shape) -> Array:
    """From the definition: every product of two elements, at the sum of their places."""
    x, y = (np.moveaxis(a, dim, range(len(dim))) for a in (x, y))
    sizes = [m + n - 1 for m, n in zip(x.shape, y.shape)][: len(dim)]
    others = np.broadcast_shapes(x.shape[len(dim) :], y.shape[len(dim) :])
    result = np.zeros([*(max(n, 0) for n in sizes), *others], np.result_type(x, y))
    for place in np.ndindex(y.shape[: len(dim)]):
        result[tuple(slice(i, i + n) for i, n in zip(place, x.shape))] += x * y[place]
    return np.moveaxis(result, range(len(dim)), dim)


def fft_convolution(x: Array, y: Array, dim: Shape) -> Array:
    """Fourier transforms spread what is not finite over all elements."""
    is_finite = np.isfinite(x).all(tuple(dim), keepdims=True) & np.isfinite(y).all(tuple(dim), keepdims=True)
    return np.where(is_finite, whole_convolution(x, y, dim), np.nan)


def centered_convolution(x: Array, y: Array, mode: str, method: str = "direct", axes: Shape | None = None) -> Array:
    """What SciPy leaves of it; of signals without elements nothing."""
    dims = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    last = tuple(d % x.ndim - x.ndim for d in dims)
    m, n = ([a.shape[d] for d in last] for a in (x, y))
    whole = [i + j - 1 for i, j in zip(m, n)]
    sizes = {"full": whole, "same": m, "valid": [abs(i - j) + 1 for i, j in zip(m, n)]}[mode]
    sizes = sizes if x.size and y.size else [0] * len(last)
    start = tuple((i - j) // 2 for i, j in zip(whole, sizes))
    return convolution(x, y, start, tuple(sizes), last, method == "fft")


def real_transform(x: Array, dim: Shape, sine: bool, kind: int, power: float, transposed: bool) -> Array:
    """By matrices; Fourier transforms spread what is not finite over all elements."""
    for d in dim:
        matrix = matrix_of_transform(x.shape[d], sine, kind, power)
        is_finite = np.isfinite(x).all(d, keepdims=True)
        product = np.tensordot(np.where(is_finite, x, np.nan), matrix, (d, 0 if transposed else 1))
        x = np.moveaxis(product, -1, d)
    return x


def matrix_of_transform(n: int, sine: bool, kind: int, power: float) -> Array:
    """Twice the cosines, or sines, apart from those at an end, which count half."""
    rows = np.arange(n) + (0.5 if kind in (3, 4) else int(sine))
    columns = np.arange(n) + (0.5 if kind in (2, 4) else int(sine))
    period = 2 * n + (2 if sine else -2) * (kind == 1)
    matrix = 2 * (np.sin if sine else np.cos)(2 * np.pi * np.outer(rows, columns) / period)
    halves = np.ones(n)
    if kind < 4 and not (sine and kind == 1):
        halves[[0, -1] if kind == 1 else -1 if sine else 0] = 0.5
    if power == 0.5:
        left, right = np.sqrt(halves) if kind < 3 else 1, np.sqrt(halves) if kind in (1, 3) else 1
        return np.asarray(((matrix * right).T * left).T / np.sqrt(period))
    return np.asarray((matrix * halves if kind in (1, 3) else matrix) / period**power)


def stft(
    x: Array, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Array | None = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Array:  # fmt: skip
    window, hop = padded_window(n_fft, hop_length, win_length, window)
    around = n_fft // 2 if center else (n_fft - (win_length or n_fft)) // 2 if align_to_window else 0
    names: dict[str, Any] = {"replicate": "edge", "circular": "wrap"}
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(around, around)], names.get(pad_mode, pad_mode) if center else "constant")
    starts = range(0, x.shape[-1] - n_fft + 1, hop)
    frames = np.stack([x[..., start : start + n_fft] for start in starts], -2) * window
    found = np.fft.fft(frames, norm="ortho" if normalized else None)
    if onesided or (onesided is None and not np.iscomplexobj(frames)):
        found = found[..., : n_fft // 2 + 1]
    found = np.moveaxis(found, -1, -2)
    return np.stack([found.real, found.imag], -1) if return_complex is False else found


def istft(
    x: Array, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Array | None = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Array:  # fmt: skip
    """The frames, each in its place, divided by the squares of the windows there."""
    window, hop = padded_window(n_fft, hop_length, win_length, window)
    spectra, norm = np.moveaxis(x, -1, -2), "ortho" if normalized else None
    half = spectra[..., : n_fft // 2 + 1]
    frames: Any = np.fft.ifft(spectra, norm=norm) if return_complex else np.fft.irfft(half, n_fft, norm=norm)  # type: ignore[arg-type]
    count = frames.shape[-2]
    total = np.zeros([*frames.shape[:-2], n_fft + hop * (count - 1)], frames.dtype)
    squares = np.zeros(total.shape[-1], window.dtype)
    for i in range(count):
        total[..., i * hop : i * hop + n_fft] += frames[..., i, :] * window
        squares[i * hop : i * hop + n_fft] += window**2
    start = n_fft // 2 if center else 0
    end = len(squares) - start if length is None else start + length
    found = total[..., start:end] / squares[start:end]
    after = max(end - len(squares), 0)
    return np.pad(found, [(0, 0)] * (found.ndim - 1) + [(0, after)])


def padded_window(n_fft: int, hop: int | None, length: int | None, window: Array | None) -> tuple[Array, int]:
    whole = np.zeros(n_fft, float if window is None else window.dtype)
    length = n_fft if length is None else length
    first = (n_fft - length) // 2
    whole[first : first + length] = 1 if window is None else window
    return whole, n_fft // 4 if hop is None else hop


def windows(shape: Shape, dim: int, size: int, step: int) -> Array:
    """Numbers of the elements that each window shows, its own dimension last."""
    numbers: Any = np.moveaxis(np.arange(np.prod(shape)).reshape(shape), dim, 0)
    starts = range(0, numbers.shape[0] - size + 1, step)
    found: Array = np.stack([numbers[start : start + size] for start in starts])
    return np.moveaxis(found, (0, 1), (dim % len(shape), -1))


def unfold(x: Array, dimension: int, size: int, step: int) -> Array:
    if x.ndim == 0:  # one window, of the number itself
        return np.reshape(x, 1)[:size]
    return np.take(x, windows(x.shape, dimension, size, step))


def unfold_backward(x: Array, input_sizes: Shape, dim: int, size: int, step: int) -> Array:
    result = np.zeros(int(np.prod(input_sizes)), x.dtype)
    np.add.at(result, windows(input_sizes, dim, size, step).ravel(), x.ravel())
    return result.reshape(input_sizes)


def index_fill(x: Array, dim: int, index: Array, value: Any) -> Array:
    result: Array = x.copy()
    np.moveaxis(result, dim, 0)[index] = value
    return result


def index_copy(x: Array, dim: int, index: Array, source: Array) -> Array:
    result: Array = x.copy()
    np.moveaxis(result, dim, 0)[index] = np.moveaxis(source, dim, 0)
    return result


DEFINITIONS = (
    centered_convolution, combinations, convolution, diag_embed, diagonal_scatter, index_copy, index_fill, istft,
    real_transform, stft, unfold, unfold_backward,
    view_dtype,
)  # fmt: skip
