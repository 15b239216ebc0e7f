"""Pooling that returns indices on demand, takes none of its windows from settings alone, or is undone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, overload

import numpy as np

import gradsmith.generated as ops
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.checked_values import check_values
from gradsmith.runtime.tensors.factories.creation import arange
from gradsmith.runtime.tensors.factories.random import rand

__all__ = [
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "lp_pool1d",
    "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip

Sizes = int | Sequence[int]


# ---- greatest elements, with their indices where these are asked for


def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Greatest elements of windows of signals, (*, channels, n).

    Parameters
    ----------
    input : Tensor
        Of shape (channels, n) or (signals, channels, n).
    kernel_size, stride, padding, dilation : int or tuple of int
        Elements of a window, their distance from those of the next window (by default `kernel_size`), how many before
        the first and behind the last element windows may begin and end, and the distance between elements of a window.
    ceil_mode : bool, optional
        A last window that ends outside is not left out.
    return_indices : bool, optional
        Return the places of the elements too, which `max_unpool1d` takes.

    Returns
    -------
    Tensor, or pair of them
        The elements, and their places on demand. The gradient goes to the first of equal elements.

    Raises
    ------
    RuntimeError
        The input has another number of dimensions, or windows do not fit it.
    """
    op = ops.max_pool1d_with_indices if return_indices else ops.max_pool1d
    return op(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Greatest elements of windows of images, (*, channels, height, width), as `max_pool1d`."""
    op = ops.max_pool2d_with_indices if return_indices else ops.max_pool2d
    return op(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Greatest elements of windows of volumes, (*, channels, depth, height, width), as `max_pool1d`."""
    op = ops.max_pool3d_with_indices if return_indices else ops.max_pool3d
    return op(input, kernel_size, stride, padding, dilation, ceil_mode)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Greatest elements of `output_size` windows that share signals out; and their places on demand."""
    return _found(ops.adaptive_max_pool1d, return_indices, input, output_size)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The same of images; None in `output_size` keeps a size."""
    return _found(ops.adaptive_max_pool2d_with_indices, return_indices, input, output_size)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The same of volumes; None in `output_size` keeps a size."""
    return _found(ops.adaptive_max_pool3d_with_indices, return_indices, input, output_size)


def _found(op: Any, return_indices: bool, *arguments: Any) -> Any:
    found = op(*arguments)
    return tuple(found) if return_indices else found[0]


# ---- norms of windows


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """Roots of the sums of powers of windows of signals, (*, channels, n).

    Parameters
    ----------
    input : Tensor
        Of shape (channels, n) or (signals, channels, n).
    norm_type : float
        The exponent p in (sum of x^p)^(1/p); inf for greatest magnitudes.
    kernel_size, stride, ceil_mode
        As those of `max_pool1d`.

    Returns
    -------
    Tensor
        Of the shape that `max_pool1d` has. Where all of a window is zero, so is the gradient.
    """
    return _norms(ops.avg_pool1d, ops.max_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The same of windows of images, (*, channels, height, width)."""
    return _norms(ops.avg_pool2d, ops.max_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The same of windows of volumes, (*, channels, depth, height, width)."""
    return _norms(ops.avg_pool3d, ops.max_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _norms(
    means: Any, maxima: Any, dims: int, input: Tensor, p: float, window: Sizes, stride: Sizes | None, ceil_mode: bool
) -> Tensor:
    if p == math.inf:
        found: Tensor = maxima(input.abs(), window, stride, ceil_mode=ceil_mode)
        return found
    count = math.prod(_each(window, dims))
    sums = means(input**p, window, stride, ceil_mode=ceil_mode) * count
    is_zero = sums == 0
    norms: Tensor = (sums.masked_fill(is_zero, 1) ** (1 / p)).masked_fill(is_zero, 0)
    return norms


# ---- windows that are drawn


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool2d`, with the places of elements in any case."""
    return _fractional("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`fractional_max_pool3d`, with the places of elements in any case."""
    return _fractional("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Greatest elements of windows whose distances are drawn, one or the other of two whole numbers.

    Parameters
    ----------
    input : Tensor
        Of shape (channels, height, width) or (images, channels, height, width).
    kernel_size : int or tuple of int
        Sizes of a window.
    output_size : int or tuple of int, optional
        Sizes of the result, or
    output_ratio : float or tuple of float, optional
        what those of the input are multiplied by, between 0 and 1.
    return_indices : bool, optional
        Return the places of the elements too.
    _random_samples : Tensor, optional
        What is drawn, from 0 to 1, of shape (images, channels, 2).

    Returns
    -------
    Tensor, or pair of them

    Raises
    ------
    ValueError
        Neither or both of `output_size` and `output_ratio` are given, or a ratio is not between 0 and 1.
    RuntimeError
        Windows do not fit the input.

    Notes
    -----
    Source: Graham, Fractional Max-Pooling, 2014.
    """
    found = _fractional("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The same of volumes, (*, channels, depth, height, width)."""
    found = _fractional("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, _random_samples)
    return found if return_indices else found[0]


def _fractional(
    op: str, dims: int, input: Tensor, kernel_size: Sizes, output_size: Any, output_ratio: Any, samples: Any
) -> tuple[Tensor, Tensor]:
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{op}(): Expected {dims + 1}D or {dims + 2}D tensor, but got input of size {list(input.shape)}"
        )
    sizes, window = tuple(input.shape[-dims:]), _for_each(op, "kernel_size", kernel_size, dims)
    output = _fractional_sizes(op, sizes, output_size, output_ratio)
    if 0 in output:
        nothing = input.reshape(-1)[:0].reshape(*input.shape[:-dims], *output)
        return nothing, nothing.detach().long()
    if any(m < 1 or k < 1 or m + k - 1 > n for n, m, k in zip(sizes, output, window, strict=True)):
        raise RuntimeError(
            f"{op}(): {list(output)} windows of size {list(window)} do not fit an input of size {list(sizes)}"
        )
    n_planes = math.prod(input.shape[:-dims])
    if samples is None:
        dtype = input.dtype if input.is_floating_point() else None
        samples = rand(n_planes, dims, dtype=dtype, device=input.device)
    wanted = n_planes * dims
    if samples.ndim == 3 and samples.shape[1:] == (input.shape[-dims - 1], dims):
        samples = samples.reshape(-1)[:wanted]  # those of more images than there are are left over
    if samples.numel() != wanted:
        raise RuntimeError(f"{op}(): expected {dims} samples for each of {n_planes} planes, but got {samples.shape}")
    rows = input.reshape(n_planes, math.prod(sizes))
    places = _drawn_places(rows.detach(), sizes, output, window, samples.detach().double().reshape(n_planes, dims))
    shape = (*input.shape[:-dims], *output)
    return ops.gather(rows, 1, places).reshape(shape), places.reshape(shape)


def _fractional_sizes(op: str, sizes: tuple[int, ...], output_size: Any, output_ratio: Any) -> tuple[int, ...]:
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{op} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return _for_each(op, "output_size", output_size, len(sizes))
    ratios = _for_each(op, "output_ratio", output_ratio, len(sizes))
    if not all(0 < ratio < 1 for ratio in ratios):
        raise ValueError(f"{op}: output_ratio must be between 0 and 1, but got {output_ratio}")
    return tuple(int(n * ratio) for n, ratio in zip(sizes, ratios, strict=True))


def _for_each(op: str, name: str, given: Any, dims: int) -> tuple[Any, ...]:
    """One value for each dimension, from a number or a sequence of that length; a sequence of one is not repeated."""
    if isinstance(given, Sequence) and len(given) != dims:
        raise RuntimeError(f"{op}(): {name} must either be a single number or a tuple of {dims}, but got {given}")
    return _each(given, dims)


def _drawn_places(
    rows: Tensor, sizes: tuple[int, ...], output: tuple[int, ...], window: tuple[int, ...], samples: Tensor
) -> Tensor:
    """(planes, windows): where in the row of each plane the greatest element of each window is."""
    dims, n_planes = len(output), rows.shape[0]
    # PyTorch takes the samples of images in the order of width and height, and those of volumes in that of the sizes.
    order = (1, 0) if dims == 2 else range(dims)
    flat = arange(1, device=rows.device)
    for dim, sample in enumerate(order):
        seen = _starts(sizes[dim], output[dim], window[dim], samples[:, sample]).unsqueeze(-1)
        seen = seen + arange(window[dim], device=rows.device)
        shape = [1] * (2 * dims)
        shape[dim], shape[dims + dim] = output[dim], window[dim]
        flat = flat * sizes[dim] + seen.reshape(n_planes, *shape)
    n_windows, n_elements = math.prod(output), math.prod(window)
    flat = flat.reshape(n_planes, n_windows * n_elements)
    elements = ops.gather(rows, 1, flat).reshape(n_planes, n_windows, n_elements)
    chosen = ops.argmax(elements, -1, True)
    return ops.gather(flat.reshape(n_planes, n_windows, n_elements), 2, chosen).squeeze(2)


def _starts(size: int, output: int, window: int, samples: Tensor) -> Tensor:
    """(planes, output): where windows begin; the last one ends with the plane."""
    step = (size - window) / (output - 1) if output > 1 else 0.0
    numbers, samples = arange(output, device=samples.device), samples.unsqueeze(1)
    starts = ((numbers + samples) * step).to(np.int64) - (samples * step).to(np.int64)
    found: Tensor = ops.where(numbers == output - 1, size - window, starts)
    return found


# ---- back to images


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Signals of zeros but for elements at the places that `max_pool1d` found them.

    Parameters
    ----------
    input, indices : Tensor
        Elements and places, as `max_pool1d` returns them.
    kernel_size, stride, padding
        The settings that it had, from which the size of the result follows, or
    output_size : sequence of int, optional
        that size, with or without those of signals and channels.

    Returns
    -------
    Tensor
        Of shape (*, channels, n).

    Raises
    ------
    RuntimeError
        Shapes differ, or an index is outside of the result.
    ValueError
        `output_size` is none that these settings give.
    """
    return _unpooled("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The same of images, (*, channels, height, width)."""
    return _unpooled("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """The same of volumes, (*, channels, depth, height, width)."""
    return _unpooled("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)


def _unpooled(
    op: str, dims: int, input: Tensor, indices: Tensor, kernel_size: Sizes, stride: Any, padding: Sizes, output: Any
) -> Tensor:
    if input.ndim not in (dims + 1, dims + 2) or indices.shape != input.shape or indices.dtype != np.int64:
        raise RuntimeError(
            f"{op}(): Expected a {dims + 1}D or {dims + 2}D input and int64 indices of its shape, but got sizes "
            f"{list(input.shape)} and {list(indices.shape)} and {indices.dtype}"
        )
    window = _each(kernel_size, dims)
    steps, before = _each(stride or window, dims), _each(padding, dims)
    usual = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(input.shape[-dims:], steps, before, window, strict=True)]
    sizes = usual if output is None else _unpooled_sizes(op, usual, steps, list(output), input.ndim)
    total = math.prod(sizes)
    flat = (*input.shape[:-dims], math.prod(input.shape[-dims:]))
    zeros = input.detach().new_zeros((*input.shape[:-dims], total))
    check_values(partial(_expect_places, op, sizes), indices)
    found = ops.scatter(zeros, -1, indices.reshape(flat), input.reshape(flat))
    return found.reshape(*input.shape[:-dims], *sizes)


def _expect_places(op: str, sizes: list[int], indices: Tensor) -> None:
    if ((indices < 0) | (indices >= math.prod(sizes))).any():
        raise RuntimeError(f"{op}(): an index is outside of an output of size {sizes}")


def _unpooled_sizes(op: str, usual: list[int], steps: Sequence[int], output: list[int], ndim: int) -> list[int]:
    """Several sizes give one when they are pooled, those less than a stride from the usual one."""
    sizes = output[-len(usual) :] if len(output) in (len(usual), ndim) else []
    if not sizes or any(not n - s < m < n + s for n, s, m in zip(usual, steps, sizes, strict=True)):
        raise ValueError(f"{op}: output_size {output} is none that sizes {usual}, less or more than a stride, allow")
    return sizes


@overload
def _each(value: Sizes, dims: int) -> tuple[int, ...]: ...
@overload
def _each(value: float | Sequence[float], dims: int) -> tuple[float, ...]: ...
def _each(value: Any, dims: int) -> Any:
    """A setting for each dimension."""
    values = tuple(value) if isinstance(value, Sequence) else (value,)
    return values * dims if len(values) == 1 else values
