"""References of the layers of networks: tables, convolutions, pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


# ---- rows of tables


def row_shares(indices: Array, padding_idx: int, by_frequency: bool) -> Array:
    """What the gradient of each row that is looked up in a table is multiplied by."""
    _, places, counts = np.unique(indices, return_inverse=True, return_counts=True)
    shares = 1 / counts[places.reshape(indices.shape)] if by_frequency else np.ones(indices.shape)
    return np.where(indices == padding_idx, 0, shares)[..., None]


# ---- convolutions: every product of an element of the image, or of its padding, with a weight


def elements_at(a: Array, places: list[Array]) -> Array:
    """The elements at all combinations of places in the last dimensions, zeros where one is outside."""
    for number, place in enumerate(places):
        axis = a.ndim - len(places) + number
        size = a.shape[axis]
        if size == 0:
            return np.zeros((*a.shape[: a.ndim - len(places)], *map(len, places)), a.dtype)
        inside = ((place >= 0) & (place < size)).reshape((-1, *[1] * (a.ndim - axis - 1)))
        a = np.where(inside, np.take(a, np.clip(place, 0, size - 1), axis), 0)
    return a


def seen_by_taps(image: Array, window: Any, stride: Any, padding: Any, dilation: Any, output: Any) -> Array:
    """(..., images, channels, *window, *output): what each tap sees at each position."""
    rank = len(window)
    seen = np.zeros((*image.shape[: image.ndim - rank], *window, *output), image.dtype)
    for tap in np.ndindex(*window):
        places = [
            np.arange(n) * step + k * spread - before
            for n, step, k, spread, before in zip(output, stride, tap, dilation, padding)
        ]
        at_tap = (..., *tap, *[slice(None)] * rank)
        seen[at_tap] = elements_at(image, places)
    return seen


def in_groups(a: Array, axis: int, groups: int) -> Array:
    """The dimension split in two: group, and place in it."""
    axis += a.ndim
    return a.reshape((*a.shape[:axis], groups, a.shape[axis] // groups, *a.shape[axis + 1 :]))


def of_groups(a: Array, axis: int) -> Array:
    """The dimension of groups and the next one, joined."""
    axis += a.ndim
    return a.reshape((*a.shape[:axis], a.shape[axis] * a.shape[axis + 1], *a.shape[axis + 2 :]))


def conv_output(
    image: Array, weight: Array, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, size: Any
) -> Array:
    seen = in_groups(seen_by_taps(image, weight.shape[-3:], stride, padding, dilation, size), -7, groups)
    sums = np.einsum("...ngixyzpqr,...goixyz->...ngopqr", seen, in_groups(weight, -5, groups))
    sums = of_groups(sums, -5)
    return sums if bias is None else sums + bias[..., None, :, None, None, None]


def conv_weight(output: Array, image: Array, stride: Any, padding: Any, dilation: Any, groups: int, size: Any) -> Array:
    seen = in_groups(seen_by_taps(image, size, stride, padding, dilation, output.shape[-3:]), -7, groups)
    sums = np.einsum("...ngixyzpqr,...ngopqr->...goixyz", seen, in_groups(output, -4, groups))
    return of_groups(sums, -6)


def conv_image(output: Array, weight: Array, stride: Any, padding: Any, dilation: Any, groups: int, size: Any) -> Array:
    """A place of the image is reached from the places of the output that a tap brings there."""
    window = weight.shape[-3:]
    loops = np.broadcast_shapes(output.shape[:-5], weight.shape[:-5])
    shape = (*loops, output.shape[-5], groups, weight.shape[-4], *size)
    image = np.zeros(shape, np.result_type(output, weight))
    for tap in np.ndindex(*window):
        reached = [np.arange(n) + before - k * spread for n, before, k, spread in zip(size, padding, tap, dilation)]
        comes = [
            (of % step == 0) & (of >= 0) & (of < step * n) for of, step, n in zip(reached, stride, output.shape[-3:])
        ]
        there = np.ix_(*map(np.flatnonzero, comes))
        places = np.ix_(*[of[here] // step for of, step, here in zip(reached, stride, comes)])
        from_places: Any = (..., *places)
        values = in_groups(output[from_places], -4, groups)
        at_tap: Any = (..., *tap)
        reachable: Any = (..., *there)
        weights = in_groups(weight[at_tap], -2, groups)
        image[reachable] += np.einsum("...ngoxyz,...goi->...ngixyz", values, weights)
    return of_groups(image, -5)


def convolved(
    image: Array, weight: Array, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Array:
    """A convolution of one to three dimensions."""
    rank = weight.ndim - 2
    stride, dilation = (listed(value, rank) for value in (stride, dilation))
    reach = [spread * (n - 1) for spread, n in zip(dilation, weight.shape[2:])]
    ends = reach if padding == "same" else [0] * rank if padding == "valid" else [2 * n for n in listed(padding, rank)]
    before = [n // 2 for n in ends]
    sizes = image.shape[image.ndim - rank :]
    found = [(n + end - far - 1) // step + 1 for n, end, far, step in zip(sizes, ends, reach, stride)]
    settings = (filled(stride, 1), filled(before, 0), filled(dilation, 1), groups, filled(found, 1))
    return of_rank(conv_output(volumes(image, rank), volumes(weight, rank), bias, *settings), rank, image.ndim)


def transposed_convolved(
    output: Array, weight: Array, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Array:  # fmt: skip
    """The transpose of a convolution of one to three dimensions."""
    rank = weight.ndim - 2
    stride, padding, more, dilation = (listed(value, rank) for value in (stride, padding, output_padding, dilation))
    sizes = output.shape[output.ndim - rank :]
    found = [
        (n - 1) * step - 2 * before + spread * (k - 1) + extra + 1
        for n, step, before, spread, k, extra in zip(sizes, stride, padding, dilation, weight.shape[2:], more)
    ]
    settings = (filled(stride, 1), filled(padding, 0), filled(dilation, 1), groups, filled(found, 1))
    image = conv_image(volumes(output, rank), volumes(weight, rank), *settings)
    if bias is not None:
        image = image + bias[:, None, None, None]
    return of_rank(image, rank, output.ndim)


def listed(value: Any, rank: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * rank if len(values) == 1 else values


def filled(values: list[int], filler: int) -> list[int]:
    return [filler] * (3 - len(values)) + values


def volumes(a: Array, rank: int) -> Array:
    images = a if a.ndim == rank + 2 else a[None]
    return images.reshape((*images.shape[:2], *[1] * (3 - rank), *images.shape[2:]))


def of_rank(a: Array, rank: int, ndim: int) -> Array:
    images = a.reshape((*a.shape[:2], *a.shape[5 - rank :]))
    return images if ndim == rank + 2 else images[0]


# ---- losses


def multilabel_margins(x: Array, target: Array, reduction: str = "mean") -> Any:
    """Of each row of scores the sum over all pairs of a class before the first -1 and one that is not there."""
    losses = []
    for scores, classes in zip(np.atleast_2d(x), np.atleast_2d(target)):
        chosen = classes[: np.argmax(np.append(classes, -1) < 0)]
        others = np.setdiff1d(np.arange(len(scores)), chosen)
        losses.append(np.maximum(1 - scores[chosen][:, None] + scores[others], 0).sum() / len(scores))
    found = np.asarray(losses).reshape(x.shape[:-1])
    return found if reduction == "none" else found.sum() if reduction == "sum" else found.mean()


DEFINITIONS = (
    row_shares, conv_output, conv_weight, conv_image, convolved, transposed_convolved, multilabel_margins,
)  # fmt: skip
