"""Convolutions for arrays and boxes, over chosen axes, with products over others."""

from __future__ import annotations

from typing import Any

import gradsmith.scipy.signal as _ours
from gradsmith.compat.hips import numpy as np
from gradsmith.compat.hips.scipy.functions import of_arrays

__all__ = ["convolve"]

_plain = of_arrays(_ours.convolve)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def convolve(A: Any, B: Any, axes: Any = None, dot_axes: Any = ((), ()), mode: str = "full") -> Any:
    """Convolution over `axes`, a list of axes of each; products are summed over `dot_axes`, others are combined.

    The result has the other axes of `A`, those of `B`, and the axes of the convolution.
    """
    if mode not in ("valid", "full", "same"):
        raise ValueError(f"Mode {mode} undefined, it can be one of 'valid', 'full', and 'same'")
    if axes is None and not any(map(len, dot_axes)):
        return _plain(A, B, mode)
    over = axes or [list(range(np.ndim(_shaped(A)))), list(range(np.ndim(_shaped(B))))]
    windows, kernel = _windows(A, B, over, mode)
    return np.einsum(_subscripts(A, B, over, dot_axes), windows, kernel)


def _shaped(x: Any) -> Any:
    return np.empty(np.shape(x))


def _windows(A: Any, B: Any, axes: Any, mode: str) -> tuple[Any, Any]:
    """`A` with an axis more after each that is convolved, for the elements under the kernel, and `B` reversed."""
    sizes = [(np.shape(A)[a], np.shape(B)[b]) for a, b in zip(*axes)]
    if mode == "valid" and any(m < n for m, n in sizes):
        raise ValueError("in mode 'valid' the first array is at least as large as the second where they are convolved")
    widths = [(0, 0)] * np.ndim(_shaped(A))
    index: list[Any] = [slice(None)] * np.ndim(_shaped(A))
    flipped: list[Any] = [slice(None)] * np.ndim(_shaped(B))
    for a, b, (m, n) in zip(*axes, sizes):
        count, before = _extent(m, n, mode)
        widths[a] = (before, max(count + n - 1 - m - before, 0))
        flipped[b] = slice(None, None, -1)
        index[a] = np.arange(count)[:, None] + np.arange(n)[None, :]
    padded = np.pad(A, widths, mode="constant")
    for a in sorted((a for a in axes[0]), reverse=True):
        padded = np.take(padded, index[a], axis=a)
    return padded, B[tuple(flipped)]


def _extent(m: int, n: int, mode: str) -> tuple[int, int]:
    """How many places the kernel takes, and how many zeros are before the first element."""
    if mode == "full":
        return m + n - 1, n - 1
    if mode == "same":
        return m, n // 2
    return m - n + 1, 0


def _subscripts(A: Any, B: Any, axes: Any, dot_axes: Any) -> str:
    letters = iter(LETTERS)
    first: list[str] = []
    names: dict[tuple[str, int], str] = {}
    for axis in range(np.ndim(_shaped(A))):
        names["A", axis] = next(letters)
        first.append(names["A", axis])
        if axis in axes[0]:
            names["window", axis] = next(letters)
            first.append(names["window", axis])
    second = []
    for axis in range(np.ndim(_shaped(B))):
        if axis in axes[1]:
            second.append(names["window", axes[0][list(axes[1]).index(axis)]])
        elif axis in dot_axes[1]:
            second.append(names["A", dot_axes[0][list(dot_axes[1]).index(axis)]])
        else:
            second.append(next(letters))
    kept = [names["A", n] for n in range(np.ndim(_shaped(A))) if n not in axes[0] and n not in dot_axes[0]]
    kept += [second[n] for n in range(np.ndim(_shaped(B))) if n not in axes[1] and n not in dot_axes[1]]
    kept += [names["A", n] for n in axes[0]]
    return f"{''.join(first)},{''.join(second)}->{''.join(kept)}"
