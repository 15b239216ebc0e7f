"""How the kernels of normalizations see an array: as (outer, groups, inner), see kernels/networks/normalization.h."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """What follows from the sizes of the operands alone."""

    stats: Shape  # of means and variances
    is_empty: bool
    sizes: Shape | None = None  # outer, groups, inner
    factors: tuple[int, int] = (1, 1)  # period, run
    has_factors: bool = True  # may the kernels take weight and bias?
    order: tuple[int, ...] | None = None  # of dimensions, where these are not as the kernels want them
    last: tuple[int, ...] = ()  # the dimensions of groups in that order


# The same few layers ask again and again.
@lru_cache(1024)
def plan_for(shape: Shape, dim: tuple[int, ...], weight: Shape | None, bias: Shape | None) -> Plan:
    """The plan for an array, the dimensions that a group extends over (none: all), and the sizes of weight and bias."""
    ndim = len(shape)
    if any(not -ndim <= d < ndim for d in dim):
        raise IndexError(f"standardized(): dimensions {list(dim)} are not all among those of size {list(shape)}")
    places = {d % ndim for d in dim} if dim else set(range(ndim))
    reduced = [axis in places for axis in range(ndim)]
    stats = tuple([1 if reduced[axis] else n for axis, n in enumerate(shape)])
    bounds = _bounds_of_groups(reduced, shape)
    if bounds is None:
        order = sorted(range(ndim), key=lambda axis: reduced[axis])
        return Plan(stats, 0 in shape, order=tuple(order), last=tuple(range(ndim - sum(reduced), ndim)))
    first, middle = bounds
    sizes = (prod(shape[:first]), prod(shape[first:middle]), prod(shape[middle:]))
    layouts = {_layout_of(factor, shape, first, middle) for factor in (weight, bias) if factor is not None}
    if not layouts:
        return Plan(stats, 0 in shape, sizes)
    found = layouts.pop()
    if found is None or layouts:
        return Plan(stats, 0 in shape, sizes, has_factors=False)
    return Plan(stats, 0 in shape, sizes, found)


def _bounds_of_groups(reduced: list[bool], shape: Shape) -> tuple[int, int] | None:
    """The first of the dimensions that groups have for themselves and the one after the last, if no others lie between.

    Dimensions of size one belong to either side.
    """
    long = [axis for axis, n in enumerate(shape) if n != 1]
    starts = [axis for place, axis in enumerate(long) if place == 0 or reduced[axis] != reduced[long[place - 1]]]
    kinds = [reduced[axis] for axis in starts]
    ends = [*starts, len(shape), len(shape)]
    if kinds in ([], [False], [False, True]):
        return 0, ends[1]
    if kinds == [True]:
        return 0, ends[0]
    return (ends[1], ends[2]) if kinds in ([True, False], [True, False, True]) else None


def _layout_of(factor: Shape, shape: Shape, first: int, middle: int) -> tuple[int, int] | None:
    """Period and run of factors of that size; None if they have none."""
    if len(factor) > len(shape) or any(n not in (1, m) for n, m in zip(factor[::-1], shape[::-1], strict=False)):
        raise RuntimeError(
            f"standardized(): a weight or bias of size {list(factor)} does not go with an input of size {list(shape)}"
        )
    sizes = (1,) * (len(shape) - len(factor)) + factor
    varying = [axis for axis, n in enumerate(sizes) if n != 1]
    if not varying:
        return (1, 1) if prod(shape) == 1 else None
    start, stop = varying[0], varying[-1] + 1
    is_inside = start >= first and sizes[start:stop] == shape[start:stop]
    if not is_inside or prod(shape[middle:start]) != 1 or prod(shape[stop:middle]) != 1:
        return None
    return prod(shape[start:middle]), prod(shape[max(stop, middle) :])
