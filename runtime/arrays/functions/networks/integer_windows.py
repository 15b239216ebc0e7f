"""Convolutions of integers and their means of windows: exact, modulo 2^64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Sizes: TypeAlias = Sequence[int]


def integer_output(
    image: Array, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, size: Sizes
) -> Array:
    """The sums of weighted windows of (images, channels, *sizes), an output of `size`."""
    window, inner = weight.shape[2:], weight.shape[1]
    whole = padded(image, reach(size, window, stride, dilation), padding)
    factors = weight.reshape(groups, -1, *weight.shape[1:])
    found = np.zeros((len(image), groups, factors.shape[1], *size), np.int64)
    for place in np.ndindex(*window):
        part = whole[windows(place, size, stride, dilation)].reshape(len(image), groups, inner, *size)
        found += np.einsum("ngixyz,goi->ngoxyz", part, at(factors, place))
    return found.reshape(len(image), len(weight), *size)


def integer_image(
    a: Array, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, size: Sizes
) -> Array:
    """The transpose: an image of `size` to whose windows the weights of the output `a` are added."""
    window, places = weight.shape[2:], a.shape[2:]
    factors = weight.reshape(groups, -1, *weight.shape[1:])
    given = a.reshape(len(a), groups, -1, *places)
    reached = reach(places, window, stride, dilation)
    channels = groups * weight.shape[1]
    whole = np.zeros((len(a), channels, *reached), np.int64)
    for place in np.ndindex(*window):
        part = np.einsum("ngoxyz,goi->ngixyz", given, at(factors, place))
        whole[windows(place, places, stride, dilation)] += part.reshape(len(a), channels, *places)
    return padded(whole, size, [-before for before in padding])


def at(weight: Array, place: Sizes) -> Array:
    """The weights of one place of the window."""
    index: Any = (..., *place)
    return np.asarray(weight[index])


def reach(size: Sizes, window: Sizes, stride: Sizes, dilation: Sizes) -> list[int]:
    """How long an image is that all windows lie in."""
    return [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in zip(size, window, stride, dilation, strict=True)]


def windows(place: Sizes, size: Sizes, stride: Sizes, dilation: Sizes) -> tuple[Any, ...]:
    """The index of what all windows have at one of their places."""
    steps = zip(place, size, stride, dilation, strict=True)
    return (..., *(slice(k * d, k * d + (n - 1) * s + 1, s) for k, n, s, d in steps))


def padded(image: Array, size: Sizes, before: Sizes) -> Array:
    """Zeros of `size`, and the part of an image that lies within when it begins at `before`."""
    found = np.zeros((*image.shape[:2], *size), np.int64)
    to, source = [slice(None)] * 2, [slice(None)] * 2
    for n, length, first in zip(size, image.shape[2:], before, strict=True):
        last = max(min(n, first + length), first, 0)
        to.append(slice(max(first, 0), last))
        source.append(slice(max(-first, 0), max(last - first, 0)))
    found[tuple(to)] = image[tuple(source)]
    return found


def integer_means(images: Array, spans: Sequence[Any], divisors: Sequence[Any]) -> Array:
    """The sums of windows of (*, a, b, d) images, divided by a product of three divisors towards zero, as C does."""
    divisor = np.ones((), np.int64)
    for axis, (span, factors) in enumerate(zip(spans, divisors, strict=True), -len(spans)):
        pairs = np.asarray(span, np.intp).reshape(-1, 2)
        sums = np.cumsum(images, axis, np.int64)
        sums = np.concatenate([np.zeros_like(sums.take([0], axis)), sums], axis)
        images = sums.take(pairs[:, 1], axis) - sums.take(pairs[:, 0], axis)
        divisor = divisor * np.asarray(factors, np.int64).reshape([-1] + [1] * (-1 - axis))
    quotient = images // divisor
    return np.asarray(quotient + ((quotient < 0) & (quotient * divisor != images)))
