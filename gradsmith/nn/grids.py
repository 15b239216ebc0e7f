"""Images sampled at the points of a grid, and the grids of affine maps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradsmith.generated import clamp, floor, matmul, remainder, round, stack, where
from gradsmith.generated.interpolation import sampled
from gradsmith.generated.tensor import Tensor

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
    points = theta.detach().new_tensor(_points(tuple(size[2:]), bool(align_corners)).astype(theta.dtype))
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
    sizes = tuple(input.shape[2:])
    aligned = bool(align_corners)
    # Coordinate i of a point goes along the size that is the i-th from the end.
    places = [_place(grid[..., i], sizes[-1 - i], aligned) for i in range(len(sizes))][::-1]
    if mode == "bicubic":
        taps = [_cubic_taps(place, n, padding_mode, aligned) for place, n in zip(places, sizes, strict=True)]
    else:
        choose = _nearest_tap if mode == "nearest" else _linear_taps
        padded = [_padded(place, n, padding_mode, aligned) for place, n in zip(places, sizes, strict=True)]
        taps = [choose(place, n) for place, n in zip(padded, sizes, strict=True)]
    return _sums(input, taps)


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
    if input.numel() == 0 and min(input.shape[1:]) == 0:
        raise RuntimeError(f"grid_sample(): expected input to have non-empty sizes, but got {list(input.shape)}")


def _place(coordinate: Tensor, size: int, aligned: bool) -> Tensor:
    """From -1 to 1, to numbers of elements."""
    return (coordinate + 1) * ((size - 1) / 2) if aligned else ((coordinate + 1) * size - 1) / 2


def _padded(place: Tensor, size: int, padding_mode: str, aligned: bool) -> Tensor:
    if padding_mode == "zeros":
        return place
    if padding_mode == "reflection":
        place = _mirrored(place, size, aligned)
    return clamp(place, 0, size - 1)


def _mirrored(place: Tensor, size: int, aligned: bool) -> Tensor:
    """Mirror images between the first and last elements, or between their outer edges."""
    low, span = (0.0, size - 1) if aligned else (-0.5, size)
    if span == 0:
        return place * 0
    distance = (place - low).abs()
    within = remainder(distance, 2 * span)
    return where(within <= span, within, 2 * span - within) + low


# ---- taps: along each size, the elements that a point takes, and their weights


class _Tap(NamedTuple):
    number: Tensor  # int64, -1 for what is outside
    weight: Tensor | None  # None for one


def _tap(place: Tensor, size: int, weight: Tensor | None) -> _Tap:
    """Of a whole number. NaN is outside."""
    is_inside = (place >= 0).logical_and(place <= size - 1)
    return _Tap(where(is_inside, place, -1).long(), weight)


def _nearest_tap(place: Tensor, size: int) -> list[_Tap]:
    return [_tap(round(place.detach()), size, None)]


def _linear_taps(place: Tensor, size: int) -> list[_Tap]:
    low = floor(place.detach())
    part = place - low
    return [_tap(low, size, 1 - part), _tap(low + 1, size, part)]


def _cubic_taps(place: Tensor, size: int, padding_mode: str, aligned: bool) -> list[_Tap]:
    low = floor(place.detach())
    found = []
    for number, weight in enumerate(_cubic_weights(place - low)):
        at = round(_padded(low + (number - 1), size, padding_mode, aligned))
        found.append(_tap(at, size, weight))
    return found


def _cubic_weights(part: Tensor, a: float = -0.75) -> list[Tensor]:
    """Of the four elements around a place; as those of `interpolate`."""
    one, other = part, 1 - part
    return [
        ((a * (one + 1) - 5 * a) * (one + 1) + 8 * a) * (one + 1) - 4 * a,
        ((a + 2) * one - (a + 3)) * one * one + 1,
        ((a + 2) * other - (a + 3)) * other * other + 1,
        ((a * (other + 1) - 5 * a) * (other + 1) + 8 * a) * (other + 1) - 4 * a,
    ]


def _sums(input: Tensor, taps: Sequence[Sequence[_Tap]]) -> Tensor:
    """The sum over one tap of each size, in all combinations, of elements times weights."""
    images, channels, *sizes = input.shape
    chosen = [_joined(choice, sizes) for choice in itertools.product(*taps)]
    output = chosen[0].number.shape[1:]
    rows = (images, len(chosen), math.prod(output))
    places = stack([tap.number for tap in chosen], 1).reshape(rows)
    weights = [
        tap.number.new_ones(tap.number.shape, dtype=input.dtype) if tap.weight is None else tap.weight for tap in chosen
    ]
    flat = input.reshape(images, channels, math.prod(sizes))
    found: Tensor = sampled(flat, stack(weights, 1).reshape(rows), places)
    return found.reshape(images, channels, *output)


def _joined(taps: Sequence[_Tap], sizes: Sequence[int]) -> _Tap:
    """The number of an element counted through, and the product of weights."""
    number, weight = taps[0]
    is_inside = number >= 0
    for tap, size in zip(taps[1:], sizes[1:], strict=True):
        is_inside = is_inside.logical_and(tap.number >= 0)
        number = number * size + tap.number
        weight = tap.weight if weight is None or tap.weight is None else weight * tap.weight
    return _Tap(where(is_inside, number, -1), weight)
