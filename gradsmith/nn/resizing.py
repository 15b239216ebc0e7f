"""Images of other sizes: each dimension by itself is a few weighted elements for each place of the result."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from gradsmith.generated import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    index_select,
)
from gradsmith.generated.interpolation import resampled
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.functions.networks.taps import Taps, taps_of_spans, taps_of_tables, transposed
from gradsmith.runtime.tensors.factories.new import copied_beside

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

Array = np.ndarray[Any, Any]

# Mode -> how many dimensions are resized.
_DIMS: Mapping[str, tuple[int, ...]] = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "area": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "bicubic": (2,),
    "trilinear": (3,),
}
_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Images of another size.

    Parameters
    ----------
    input : Tensor
        Of shape (images, channels, *sizes), with one to three sizes.
    size : int or sequence of int, optional
        The sizes of the result, or
    scale_factor : float or sequence of float, optional
        what those of the input are multiplied by, and rounded down.
    mode : {"nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear"}, optional
        The nearest element (as older libraries round, or exactly), the mean of the elements that a place covers, or
        lines, or cubic polynomials, between elements. "bilinear" and "bicubic" take images of bytes too.
    align_corners : bool, optional
        Of the last four modes: the first and last elements are those of the result; otherwise the outer edges of
        elements are.
    recompute_scale_factor : bool, optional
        Take the ratio of sizes, and not `scale_factor`, for where elements are.
    antialias : bool, optional
        Of "bilinear" and "bicubic": where the image becomes smaller, take all elements that a place covers.

    Returns
    -------
    Tensor
        Of shape (images, channels, *size).

    Raises
    ------
    ValueError
        `size` and `scale_factor` are both given, or neither; their number, or an option, does not go with the rest.
    NotImplementedError
        The mode is not for inputs with so many dimensions.

    Notes
    -----
    Cubic polynomials: Keys, Cubic convolution interpolation for digital image processing, 1981, with a = -0.75, and
    -0.5 with `antialias`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.interpolate(gs.tensor([[[0.0, 3.0]]]), size=4, mode="linear", align_corners=True)
    tensor([[[0., 1., 2., 3.]]])
    """
    sizes, factors, taps = _plan(
        tuple(input.shape), input.dtype, _as_key(size), _as_key(scale_factor), mode, align_corners,
        bool(recompute_scale_factor), antialias,
    )  # fmt: skip
    if mode == "area":
        found: Tensor = _AREA[input.ndim - 2](input, list(sizes))
        return found
    if taps is None:
        return _taken(input, mode, sizes, factors)
    return _resized(input, taps) if input.dtype.kind in "fc" else _resized_bytes(input, taps)


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Deprecated name of `interpolate`."""
    warnings.warn("nn.functional.upsample is deprecated; use nn.functional.interpolate instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Deprecated name of `interpolate` with the mode "nearest"."""
    warnings.warn("nn.functional.upsample_nearest is deprecated; use interpolate(mode='nearest').", stacklevel=2)
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """Deprecated name of `interpolate` with the mode "bilinear" and aligned corners."""
    warnings.warn("nn.functional.upsample_bilinear is deprecated; use interpolate(mode='bilinear').", stacklevel=2)
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)


# ---- what follows from sizes and settings alone

_Both = tuple[Taps | None, Taps | None]  # of a dimension, and of its gradient
_Plan = tuple[Sequence[int], Sequence[float | None], Sequence[_Both] | None]


def _as_key(given: Any) -> Any:
    """With types, for 2.0 and True, which equal numbers, are no sizes."""
    values = tuple(given) if isinstance(given, Sequence) else given
    return values, type(given), tuple(map(type, values)) if isinstance(values, tuple) else ()


@functools.lru_cache(256)  # the same few layers ask again and again
def _plan(
    shape: tuple[int, ...], dtype: np.dtype[Any], size: Any, scale_factor: Any, mode: str, align_corners: bool | None,
    recompute_scale_factor: bool, antialias: bool,
) -> _Plan:  # fmt: skip
    """Sizes of the result, factors where they were given, and the taps of modes that sum."""
    dims = len(shape) - 2
    _expect_mode(mode, shape, dtype, align_corners, antialias)
    sizes, factors = _sizes(shape, dims, size[0], scale_factor[0])
    if recompute_scale_factor:
        if scale_factor[0] is None:
            raise ValueError("interpolate(): recompute_scale_factor is not meaningful with an explicit size")
        factors = [None] * dims
    if min(*shape[1:], *sizes) < 1:
        raise RuntimeError(
            f"interpolate(): Input and output sizes should be greater than 0, but got input {list(shape)} and "
            f"output {sizes}"
        )
    if mode == "area" or (dtype.kind not in "fc" and mode.startswith("nearest")):
        return sizes, factors, None
    taps = [
        _taps(mode, size, length, factor, bool(align_corners), antialias)
        for size, length, factor in zip(shape[2:], sizes, factors, strict=True)
    ]
    return sizes, factors, taps


def _expect_mode(
    mode: str, shape: tuple[int, ...], dtype: np.dtype[Any], align_corners: bool | None, antialias: bool
) -> None:
    if mode not in _DIMS or len(shape) - 2 not in _DIMS[mode]:
        raise _error_of_mode(mode, shape)
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic modes and requires a 4-D tensor as input, but got "
            f"mode {mode!r}"
        )
    is_of_bytes = dtype == np.uint8 and mode in ("bilinear", "bicubic")
    if dtype.kind not in "fc" and not mode.startswith("nearest") and not is_of_bytes:
        raise RuntimeError(f"interpolate(): not implemented for {dtype.name}; convert it to a floating dtype")


def _error_of_mode(mode: str, shape: tuple[int, ...]) -> Exception:
    modes = [name for name, allowed in _DIMS.items() if len(shape) - 2 in allowed]
    problem = f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {len(shape)}D)"
    if mode in _DIMS and modes:
        problem = f"Got {len(shape)}D input, but {mode} mode needs {_DIMS[mode][0] + 2}D input"
    return NotImplementedError(
        f"{problem} for the modes: {' | '.join(_DIMS)} (got {mode}). interpolate() takes a size for images and one for "
        f"channels before one to three others, and for size {list(shape)} one of the modes {modes}"
    )


def _sizes(
    shape: tuple[int, ...], dims: int, size: int | Sequence[int] | None, scale_factor: float | Sequence[float] | None
) -> tuple[list[int], list[float | None]]:
    """The sizes of the result; and the factors, where they were given."""
    if size is None and scale_factor is None:
        raise ValueError("interpolate(): either size or scale_factor should be defined")
    if size is not None and scale_factor is not None:
        raise ValueError("interpolate(): only one of size or scale_factor should be defined")
    given: Any = size if scale_factor is None else scale_factor
    values = list(given) if isinstance(given, Sequence) else [given] * dims
    if len(values) != dims:
        what, name = ("output", "output size") if scale_factor is None else ("scale_factor", "scale_factor")
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(shape[2:])} and {name} of {given}"
        )
    if scale_factor is None:
        return [index(n) for n in values], [None] * dims
    return [math.floor(n * factor) for n, factor in zip(shape[2:], values, strict=True)], values


# ---- the dimensions together


def _resized(input: Tensor, taps: Sequence[_Both]) -> Tensor:
    """Signals are images of one row for each channel, and volumes are images behind one another."""
    if len(taps) < 3:
        return _resampled(input, *([(None, None)] * (2 - len(taps))), *taps)
    input = _resampled(input, *taps[1:])
    if taps[0][0] is None:
        return input
    images = input.reshape((*input.shape[:3], input.shape[3] * input.shape[4]))
    found = _resampled(images, taps[0], (None, None))
    return found.reshape((*input.shape[:2], found.shape[2], *input.shape[3:]))


def _resized_bytes(input: Tensor, taps: Sequence[_Both]) -> Tensor:
    """Images of bytes: first along the rows, then along the columns, rounded to bytes both times, as PyTorch's."""
    for along in ([(None, None), taps[1]], [taps[0], (None, None)]):
        input = (_resized(input.float(), along) + 0.5).floor().clamp(0, 255).to(np.uint8)
    return input


def _taken(input: Tensor, mode: str, sizes: Sequence[int], factors: Sequence[float | None]) -> Tensor:
    """The nearest elements, of whole numbers, which are not to be multiplied."""
    for number, (length, factor) in enumerate(zip(sizes, factors, strict=True)):
        places = _nearest(mode, input.shape[2 + number], length, factor)
        input = index_select(input, 2 + number, copied_beside(input, places.astype(np.int64, copy=False)))
    return input


def _resampled(input: Tensor, down: _Both, across: _Both) -> Tensor:
    return resampled(input, (down[0], across[0]), (down[1], across[1]))


# ---- one dimension


def _nearest(mode: str, size: int, length: int, factor: float | None) -> Array:
    if length == size and mode == "nearest":
        # Whatever the factor is.  PyTorch's gradients of "nearest" say so too, its values only for images.
        return np.arange(size)
    # In float32, as PyTorch decides between neighbours.
    step = np.float32(size / length if factor is None else 1 / factor)
    half = np.float32(0.5 if mode == "nearest-exact" else 0)
    places = np.floor((np.arange(length, dtype=np.float32) + half) * step)
    return np.asarray(np.minimum(places.astype(np.int64), size - 1))


@functools.lru_cache(64)  # the same few layers ask again and again
def _taps(mode: str, size: int, length: int, factor: float | None, align_corners: bool, antialias: bool) -> _Both:
    """None where each place is the element there."""
    if length == size and (antialias or mode not in ("nearest-exact", "bicubic")):
        return None, None
    taps = _taps_of(mode, size, length, factor, align_corners, antialias)
    return taps, transposed(taps)


def _taps_of(mode: str, size: int, length: int, factor: float | None, align_corners: bool, antialias: bool) -> Taps:
    if mode.startswith("nearest"):
        return taps_of_tables(size, _nearest(mode, size, length, factor)[None], np.ones((1, length)))
    is_cubic = mode == "bicubic"
    if align_corners:
        step = (size - 1) / (length - 1) if length > 1 else 0.0
    else:
        step = size / length if factor is None else 1 / factor
    if antialias:
        return _covering(size, length, step, _cubic_kernel if is_cubic else _linear_kernel, 2 if is_cubic else 1)
    along = np.arange(length)
    centers = along * step if align_corners else (along + 0.5) * step - 0.5
    return _cubic(size, centers) if is_cubic else _linear(size, centers)


def _linear(size: int, centers: Array) -> Taps:
    centers = np.maximum(centers, 0)
    first = np.minimum(centers.astype(np.int64), size - 1)
    part = np.minimum(centers - first, 1)
    return taps_of_tables(size, np.stack([first, np.minimum(first + 1, size - 1)]), np.stack([1 - part, part]))


def _cubic(size: int, centers: Array) -> Taps:
    first = np.floor(centers)
    places = first.astype(np.int64) + np.arange(-1, 3)[:, None]
    return taps_of_tables(size, np.clip(places, 0, size - 1), _cubic_weights(centers - first))


def _cubic_weights(part: Array, a: float = -0.75) -> Array:
    """Of the four elements around a place, of which `part` is how far it is behind the second one."""
    one, other = part, 1 - part
    return np.stack(
        [
            ((a * (one + 1) - 5 * a) * (one + 1) + 8 * a) * (one + 1) - 4 * a,
            ((a + 2) * one - (a + 3)) * one * one + 1,
            ((a + 2) * other - (a + 3)) * other * other + 1,
            ((a * (other + 1) - 5 * a) * (other + 1) + 8 * a) * (other + 1) - 4 * a,
        ]
    )


def _linear_kernel(x: Array) -> Array:
    return np.asarray(np.maximum(1 - np.abs(x), 0))


def _cubic_kernel(x: Array, a: float = -0.5) -> Array:
    x = np.abs(x)
    near: Array = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.asarray(np.where(x < 1, near, np.where(x < 2, far, 0)))


def _covering(size: int, length: int, step: float, kernel: Callable[[Array], Array], reach: int) -> Taps:
    """All elements below a kernel that is as wide as a place of the result, or as an element where those are wider."""
    width = max(step, 1.0)
    support = reach * width
    centers = step * (np.arange(length) + 0.5)
    first: Array = np.maximum((centers - support + 0.5).astype(np.int64), 0)
    end = np.minimum((centers + support + 0.5).astype(np.int64), size)
    taps = np.arange(max(int((end - first).max()), 1))
    within = taps < (end - first)[:, None]
    weights = np.where(within, kernel((taps + (first - centers)[:, None] + 0.5) / width), 0)
    return taps_of_spans(size, np.stack([first, end], -1), weights / weights.sum(-1, keepdims=True))
