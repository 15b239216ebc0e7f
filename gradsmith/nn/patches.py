"""Patches of images as columns, and the sums of columns over images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gradsmith.generated import constant_pad_nd, index_add, index_select
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.new import copied_beside

__all__ = ["fold", "unfold"]

Sizes = int | Sequence[int]


def unfold(input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """The patches of images as columns.

    Parameters
    ----------
    input : Tensor
        Of shape (channels, height, width) or (images, channels, height, width).
    kernel_size, dilation, padding, stride : int or pair of int
        Of patches, as those of `conv2d`.

    Returns
    -------
    Tensor
        Of shape (*, channels * elements of a patch, patches).

    Raises
    ------
    RuntimeError
        The input has another number of dimensions, or no patch fits it.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.unfold(gs.arange(6.0).reshape(1, 2, 3), (2, 2))
    tensor([[0., 1.],
            [1., 2.],
            [3., 4.],
            [4., 5.]])
    """
    if input.ndim not in (3, 4):
        raise RuntimeError(
            f"unfold(): Expected 3D or 4D (batch mode) tensor, but got input of size {list(input.shape)}"
        )
    window, spread, before, step = (_pair("unfold", x) for x in (kernel_size, dilation, padding, stride))
    places, padded = _places("unfold", tuple(input.shape[-2:]), window, spread, before, step)
    framed = constant_pad_nd(input, [before[1], before[1], before[0], before[0]]) if any(before) else input
    flat = framed.reshape(*input.shape[:-2], padded[0] * padded[1])
    seen = index_select(flat, -1, copied_beside(input, places.reshape(-1)))
    return seen.reshape(*input.shape[:-3], input.shape[-3] * len(places), places.shape[1])


def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """The sums of columns over the patches that they are: the transpose of `unfold`.

    Parameters
    ----------
    input : Tensor
        Of shape (*, channels * elements of a patch, patches).
    output_size : int or pair of int
        Height and width of the images.
    kernel_size, dilation, padding, stride : int or pair of int
        As those of `unfold`.

    Returns
    -------
    Tensor
        Of shape (*, channels, height, width).

    Raises
    ------
    RuntimeError
        The sizes of the input are not those of such columns.
    """
    sizes = _pair("fold", output_size)
    window, spread, before, step = (_pair("fold", x) for x in (kernel_size, dilation, padding, stride))
    places, padded = _places("fold", sizes, window, spread, before, step)
    if input.ndim not in (2, 3) or input.shape[-2] % len(places) or input.shape[-1] != places.shape[1]:
        raise RuntimeError(
            f"fold(): images of size {list(sizes)} have {places.shape[1]} patches of {len(places)} elements for each "
            f"channel, with which an input of size {list(input.shape)} does not go"
        )
    channels = input.shape[-2] // len(places)
    columns = input.reshape(*input.shape[:-2], channels, places.size)
    zeros = input.detach().new_zeros((*columns.shape[:-1], padded[0] * padded[1]))
    flat = index_add(zeros, -1, copied_beside(input, places.reshape(-1)), columns)
    framed = flat.reshape(*columns.shape[:-1], *padded)
    return constant_pad_nd(framed, [-before[1], -before[1], -before[0], -before[0]])


@lru_cache(64)
def _places(
    op: str,
    sizes: tuple[int, ...],
    window: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: tuple[int, ...],
    stride: tuple[int, ...],
) -> tuple[np.ndarray[Any, Any], tuple[int, ...]]:
    """(elements of a patch, patches): where in the padded image each element is; and the sizes of that image."""
    if min(*window, *dilation, *stride) < 1 or min(padding) < 0:
        raise RuntimeError(
            f"{op}(): kernel_size {window}, dilation {dilation} and stride {stride} should be greater than zero, and "
            f"padding {padding} not negative"
        )
    padded = tuple(n + 2 * p for n, p in zip(sizes, padding, strict=True))
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(padded, dilation, window, stride, strict=True)]
    if min(counts) < 1:
        raise RuntimeError(
            f"{op}(): no patch fits: images of size {sizes}, kernel_size {window}, dilation {dilation}, padding "
            f"{padding} and stride {stride} would have {counts} of them"
        )
    rows, columns = (
        np.arange(k, dtype=np.int64)[:, None] * d + np.arange(count) * s
        for k, d, count, s in zip(window, dilation, counts, stride, strict=True)
    )
    places = rows[:, None, :, None] * padded[1] + columns[None, :, None, :]
    return places.reshape(window[0] * window[1], counts[0] * counts[1]), padded


def _pair(op: str, value: Sizes) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, Sequence) else (value, value)
    if len(values) != 2:
        raise RuntimeError(f"{op}(): settings of patches are a number or a pair of them, but got {value}")
    return values
