"""Images sampled at the points of a grid, and the grids of affine maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import add, mul
from typing import Any

import numpy as np

from gradsmith.generated import clamp, floor, matmul, remainder, round, stack, where
from gradsmith.generated.interpolation import sampled
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.formulas.networks.grids import places_alone, taps_alone
from gradsmith.runtime.tensors.factories.creation import ones_like
from gradsmith.runtime.tensors.factories.new import copied_beside

__all__ = ["affine_grid", "grid_sample", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]

# By the numbers that the functions with names of PyTorch's kernels take.
_MODES = ("bilinear", "nearest", "bicubic")
_PADDING_MODES = ("zeros", "border", "reflection")


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The points that affine maps take those of an image to, for `grid_sample`.

    Parameters
    ----------
    theta : Tensor
        Of shape (images, 2, 3), or (images, 3, 4) for volumes.
    size : sequence of int
        Of the images to be: (images, channels, *sizes).
    align_corners : bool, optional
        Whether -1 and 1 are the middles of the first and last elements, or their outer edges, as by default.

    Returns
    -------
    Tensor
        Of shape (images, *sizes, 2 or 3); the first coordinate goes along the last size.

    Raises
    ------
    ValueError
        Sizes do not fit.
    NotImplementedError
        `size` has neither four nor five numbers.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.affine_grid(gs.tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2))
    tensor([[[[0., 0.],
              [1., 0.]]]])
    """
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{tuple(size)}"
        )
    if theta.ndim != 3 or tuple(theta.shape) != (size[0], dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {size[0] if size else 0} affine matrices, of shape Nx2x3 for 4-D sizes or Nx3x4 for "
            f"5-D sizes, but got matrices of size {list(theta.shape)} for size {list(size)}"
        )
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype.name}")
    if min(size) < 1:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    sizes = tuple(size[2:])
    points_of = _kept_points if math.prod(sizes) <= _MOST_KEPT else _points
    points = copied_beside(theta, points_of(sizes, bool(align_corners)).astype(theta.dtype))
    moved = matmul(points, theta.transpose(1, 2))
    return moved.reshape(size[0], *size[2:], dims)


def _points(sizes: tuple[int, ...], align_corners: bool) -> np.ndarray[Any, Any]:
    """(points, dims + 1): the coordinates of all elements, the last size's first, and 1."""
    along = []
    for n in sizes:
        ends = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        along.append(ends if align_corners else ends * (n - 1) / n)
    grids = np.meshgrid(*along, indexing="ij")
    return np.stack([*grids[::-1], np.ones(sizes)], -1).reshape(-1, len(sizes) + 1)


_MOST_KEPT = 1 << 16  # points
_kept_points = lru_cache(16)(_points)  # a network asks for the same ones again and again


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Images at the points of grids.

    Parameters
    ----------
    input : Tensor
        Of shape (images, channels, *sizes), with two or three sizes.
    grid : Tensor
        Of shape (images, *output sizes, 2 or 3): points whose first coordinate goes along the last size, from -1 to 1.
    mode : {"bilinear", "nearest", "bicubic"}, optional
        Lines between elements (in three dimensions too), the nearest element, or cubic polynomials.
    padding_mode : {"zeros", "border", "reflection"}, optional
        What is outside: zeros, the nearest element, or a mirror image.
    align_corners : bool, optional
        Whether -1 and 1 are the middles of the first and last elements, or their outer edges, as by default.

    Returns
    -------
    Tensor
        Of shape (images, channels, *output sizes).

    Raises
    ------
    ValueError
        There is no such mode.
    RuntimeError
        Sizes or dtypes do not fit.

    Notes
    -----
    Source: Jaderberg et al., Spatial Transformer Networks, 2015.
    """
    if mode not in _MODES:
        raise ValueError(f"grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            f"grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    _expect_grid(input, grid, mode)
    places, weights = _taps(grid, tuple(input.shape[2:]), mode, padding_mode, bool(align_corners))
    images, channels, *sizes = input.shape
    factors = places.new_ones(places.shape, dtype=input.dtype) if weights is None else weights
    found: Tensor = sampled(input.reshape(images, channels, math.prod(sizes)), factors, places)
    return found.reshape(images, channels, *grid.shape[1:-1])


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`nn.functional.grid_sample` with numbers for words.

    Parameters
    ----------
    input, grid : Tensor
    interpolation_mode : int
        0 for "bilinear", 1 for "nearest", 2 for "bicubic".
    padding_mode : int
        0 for "zeros", 1 for "border", 2 for "reflection".
    align_corners : bool

    Returns
    -------
    Tensor
    """
    return _sampled_by_number("grid_sampler", input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`grid_sampler` of images, (images, channels, height, width)."""
    _expect_ndim("grid_sampler_2d", input, 4)
    return _sampled_by_number("grid_sampler_2d", input, grid, interpolation_mode, padding_mode, align_corners)


def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`grid_sampler` of volumes, (images, channels, depth, height, width)."""
    _expect_ndim("grid_sampler_3d", input, 5)
    return _sampled_by_number("grid_sampler_3d", input, grid, interpolation_mode, padding_mode, align_corners)


def _expect_ndim(op: str, input: Tensor, ndim: int) -> None:
    if input.ndim != ndim:
        raise RuntimeError(f"{op}(): expected {ndim}D input, but got input with sizes {list(input.shape)}")


def _sampled_by_number(op: str, input: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    for name, number in (("interpolation_mode", mode), ("padding_mode", padding)):
        if number not in (0, 1, 2):
            raise RuntimeError(f"{op}(): expected {name} to be 0, 1 or 2, but got {number}")
    return grid_sample(input, grid, _MODES[mode], _PADDING_MODES[padding], align_corners)


def _expect_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    dims = input.ndim - 2
    if dims not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != dims or grid.shape[0] != input.shape[0]:
        raise RuntimeError(
            "grid_sample(): expected 4D or 5D input and a grid of as many dimensions, with as many images and as many "
            f"coordinates as sizes, but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if mode == "bicubic" and dims != 2:
        raise RuntimeError("grid_sample(): bicubic interpolation only supports 4D input")
    if input.dtype != grid.dtype or not input.is_floating_point():
        raise RuntimeError(
            "grid_sample(): expected input and grid to have same floating dtype, but input has "
            f"{input.dtype.name} and grid has {grid.dtype.name}"
        )
    if 0 in input.shape[2:]:
        raise RuntimeError(
            f"grid_sample(): expected input to have non-empty spatial dimensions, but got {list(input.shape)}"
        )


class _Frame:
    """The sizes of images as tensors, in the order of a point's coordinates: the first goes along the last size.

    Parameters
    ----------
    grid : Tensor
        For dtype and device.
    sizes : tuple of int
    aligned : bool
        Whether -1 and 1 are the middles of the first and last elements.
    """

    def __init__(self, grid: Tensor, sizes: tuple[int, ...], aligned: bool) -> None:
        self.sizes, self.aligned = sizes, aligned
        along = np.array(sizes[::-1], np.int64)
        along = along.reshape(-1, *(1,) * len(sizes))  # (coordinates, ...), to be broadcast
        steps = np.cumprod([1, *along[:-1].flat]).reshape(-1, *(1,) * (len(sizes) + 1))
        self.steps = copied_beside(grid, steps)  # from an element to the next along a size; of taps
        self.size = copied_beside(grid, along.astype(grid.dtype))
        self.last = copied_beside(grid, (along - 1).astype(grid.dtype))

    def place_of(self, grid: Tensor) -> Tensor:
        """From -1 to 1, to numbers of elements."""
        moved = grid + 1
        return moved * (self.last / 2) if self.aligned else (moved * self.size - 1) / 2

    def padded(self, place: Tensor, padding_mode: str) -> Tensor:
        """Where the elements are that stand for those outside; zeros have no place.

        On the first and last elements the gradient is that of a point beyond, zero, as in PyTorch.
        """
        if padding_mode == "zeros":
            return place
        if padding_mode == "reflection":
            place = self._mirrored(place)
        is_between = (place > 0).logical_and(place < self.last)
        return where(is_between, place, clamp(place.detach(), self.last * 0, self.last))

    def _mirrored(self, place: Tensor) -> Tensor:
        """Mirror images between the first and last elements, or between their outer edges."""
        low, span = (0.0, self.last) if self.aligned else (-0.5, self.size)
        is_long = (span > 0).to(place.dtype)  # one element has itself for a mirror image
        distance = (place - low).abs()
        span = span + (1 - is_long)
        within = remainder(distance, 2 * span)
        return where(within <= span, within, 2 * span - within) * is_long + low

    def elements_at(self, numbers: Tensor) -> Tensor:
        """Whole numbers along each size, as what they add to the number of an element counted through.

        What is outside, as NaN is, adds so little that the sum is negative.
        """
        is_inside = (numbers >= 0).logical_and(numbers <= self.last.unsqueeze(1))
        return where(is_inside, where(is_inside, numbers, 0).long() * self.steps, -math.prod(self.sizes))


# ---- taps: the elements that a point takes, (images, taps, points), and their weights; without these each counts once


def _taps(
    grid: Tensor, sizes: tuple[int, ...], mode: str, padding_mode: str, aligned: bool
) -> tuple[Tensor, Tensor | None]:
    places = None
    if mode != "bicubic":
        asked = (grid, sizes, mode == "nearest", _PADDING_MODES.index(padding_mode), aligned)
        taps = taps_alone(*asked)
        if taps is not None:
            return taps
        places = places_alone(*asked)
    if mode == "nearest" and places is not None:
        weights = _nearest_weights(grid.movedim(-1, 1))
        return places, None if weights is None else _in_a_row(weights)
    numbers, weights = _taps_of_ops(grid, frame := _Frame(grid, sizes, aligned), mode, padding_mode)
    factors = None if weights is None else _in_a_row(_combined(weights, mul))
    return _in_a_row(_combined(frame.elements_at(numbers), add)) if places is None else places, factors


def _in_a_row(taps: Tensor) -> Tensor:
    """The points of (images, taps, ...)."""
    return taps.reshape(*taps.shape[:2], math.prod(taps.shape[2:]))


# ---- those of each size for itself: (images, coordinates, taps, ...)


def _taps_of_ops(grid: Tensor, frame: _Frame, mode: str, padding_mode: str) -> tuple[Tensor, Tensor | None]:
    points = grid.movedim(-1, 1).contiguous()  # where numbers of one coordinate follow each other
    place = frame.place_of(points.detach() if mode == "nearest" else points)
    if mode == "bicubic":
        return _cubic_taps(frame, place, padding_mode)
    place = frame.padded(place, padding_mode)
    return _nearest_tap(place, points) if mode == "nearest" else _linear_taps(place)


def _nearest_tap(place: Tensor, grid: Tensor) -> tuple[Tensor, Tensor | None]:
    """Nothing changes with the grid, whose gradient is zero: it has one, as in PyTorch, by its first coordinate."""
    weights = _nearest_weights(grid)
    return round(place).unsqueeze(2), None if weights is None else weights.unsqueeze(1)


def _nearest_weights(grid: Tensor) -> Tensor | None:
    """(images, taps, ...) with one tap."""
    if not grid.requires_grad:
        return None
    first = grid.narrow(1, 0, 1)
    return where(ones_like(first, dtype=np.bool_), 1.0, first)


def _linear_taps(place: Tensor) -> tuple[Tensor, Tensor]:
    low = floor(place.detach())
    part = place - low
    return stack([low, low + 1], 2), stack([1 - part, part], 2)


def _cubic_taps(frame: _Frame, place: Tensor, padding_mode: str) -> tuple[Tensor, Tensor]:
    low = floor(place.detach())
    numbers = [round(frame.padded(low + (number - 1), padding_mode)) for number in range(4)]
    return stack(numbers, 2), stack(_cubic_weights(place - low), 2)


def _cubic_weights(part: Tensor, a: float = -0.75) -> list[Tensor]:
    """Of the four elements around a place; as those of `interpolate`."""
    one, other = part, 1 - part
    return [
        ((a * (one + 1) - 5 * a) * (one + 1) + 8 * a) * (one + 1) - 4 * a,
        ((a + 2) * one - (a + 3)) * one * one + 1,
        ((a + 2) * other - (a + 3)) * other * other + 1,
        ((a * (other + 1) - 5 * a) * (other + 1) + 8 * a) * (other + 1) - 4 * a,
    ]


def _combined(taps: Tensor, operator: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """One tap of each size with each of the other sizes."""
    found, *others = taps.unbind(1)
    for along in others:
        pairs = operator(found.unsqueeze(1), along.unsqueeze(2))
        found = pairs.reshape(pairs.shape[0], pairs.shape[1] * pairs.shape[2], *pairs.shape[3:])
    return found
