"""References of pooling: every window gone over by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def last(place: Any) -> Any:
    """The index of a place in the last dimensions, whatever is before them."""
    return (..., *place)


def seen_in_windows(a: Array, spans: Any, dilation: Any) -> Iterator[tuple[Any, Array, Any]]:
    """For each place of the output the elements that it sees, (..., *window), and the slices of the window."""
    for place in np.ndindex(*map(len, spans)):
        windows = [slice(along[i][0], along[i][1], step) for along, i, step in zip(spans, place, dilation)]
        yield place, a[last(windows)], windows


def window_maxima(a: Array, spans: Any, dilation: Any) -> tuple[Array, Array]:
    sizes, before = a.shape[a.ndim - 3 :], a.shape[: a.ndim - 3]
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    values = np.zeros((*before, *map(len, spans)), a.dtype)
    places = np.zeros(values.shape, np.int64)
    for place, seen, window in seen_in_windows(a, spans, dilation):
        flat = seen.reshape((*before, -1))
        chosen = np.argmax(flat.real, -1)
        values[last(place)] = np.take_along_axis(flat, chosen[..., None], -1)[..., 0]
        places[last(place)] = numbers[tuple(window)].reshape(-1)[chosen]
    return values, places


def window_means(a: Array, spans: Any, divisors: Any) -> Array:
    means = np.zeros((*a.shape[: a.ndim - 3], *map(len, spans)), a.dtype)
    for place, seen, _ in seen_in_windows(a, spans, (1, 1, 1)):
        means[last(place)] = seen.sum((-3, -2, -1)) / np.prod([along[i] for along, i in zip(divisors, place)])
    return means


def spread_means(means: Array, spans: Any, divisors: Any, size: Any) -> Array:
    a = np.zeros((*means.shape[: means.ndim - 3], *size), means.dtype)
    for place, _, window in seen_in_windows(a, spans, (1, 1, 1)):
        divisor = np.prod([along[i] for along, i in zip(divisors, place)])
        a[last(window)] += means[last(place)][..., None, None, None] / divisor
    return a


def at_places(a: Array, places: Array) -> Array:
    before, own = a.shape[: a.ndim - 3], places.shape[places.ndim - 3 :]
    loops = np.broadcast_shapes(before, places.shape[: places.ndim - 3])
    rows = np.broadcast_to(a, (*loops, *a.shape[a.ndim - 3 :])).reshape((*loops, -1))
    flat = np.broadcast_to(places, (*loops, *own)).reshape((*loops, -1))
    return np.take_along_axis(rows, flat, -1).reshape((*loops, *own))


def to_places(values: Array, places: Array, size: Any) -> Array:
    loops = np.broadcast_shapes(values.shape[: values.ndim - 3], places.shape[: places.ndim - 3])
    own = places.shape[places.ndim - 3 :]
    values, places = (np.broadcast_to(part, (*loops, *own)) for part in (values, places))
    a = np.zeros((*loops, int(np.prod(size))), values.dtype)
    for loop in np.ndindex(*loops):
        np.add.at(a[loop], places[loop].reshape(-1), values[loop].reshape(-1))
    return a.reshape((*loops, *size))


def terms(places: Array) -> Iterator[tuple[Any, int, int, int]]:
    """Of every place inside of its image, in any of the dimensions before the own ones: these, tap, point and place."""
    for index in np.ndindex(*places.shape):
        if places[index] >= 0:
            yield index[:-2], *index[-2:], places[index]


def in_loops(*operands: Array) -> list[Array]:
    loops = np.broadcast_shapes(*[x.shape[:-2] for x in operands])
    return [np.broadcast_to(x, (*loops, *x.shape[-2:])) for x in operands]


def sampled(a: Array, weights: Array, places: Array) -> Array:
    a, weights, places = in_loops(a, weights, places)
    values = np.zeros((*a.shape[:-1], places.shape[-1]), a.dtype)
    for loop, tap, point, place in terms(places):
        values[loop][:, point] += weights[loop][tap, point] * a[loop][:, place]
    return values


def spread_samples(values: Array, weights: Array, places: Array, size: int) -> Array:
    values, weights, places = in_loops(values, weights, places)
    a = np.zeros((*values.shape[:-1], size), values.dtype)
    for loop, tap, point, place in terms(places):
        a[loop][:, place] += weights[loop][tap, point] * values[loop][:, point]
    return a


def weigh_samples(values: Array, a: Array, places: Array) -> Array:
    values, a, places = in_loops(values, a, places)
    weights = np.zeros(places.shape, a.dtype)
    for loop, tap, point, place in terms(places):
        weights[loop][tap, point] = values[loop][:, point] @ a[loop][:, place]
    return weights


def resampled(a: Array, taps: Any) -> Array:
    for axis, given in zip((-2, -1), taps):
        a = a if given is None else np.moveaxis(summed_in_spans(np.moveaxis(a, axis, -1), *given[1:]), -1, axis)
    return a


def summed_in_spans(a: Array, spans: Any, weights: Any) -> Array:
    sums = np.zeros((*a.shape[:-1], len(spans)), a.dtype)
    for place, ((first, last), own) in enumerate(zip(spans, weights)):
        for element in range(first, last):
            sums[..., place] += a[..., element] * own[element - first]
    return sums


def for_each(number: Any, dims: int) -> tuple[int, ...]:
    return (number,) * dims if isinstance(number, int) else tuple(number) * (dims // len(number))


def laid_out(
    a: Array, window: tuple[int, ...], stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> list[list[Array]]:
    """For each dimension the places that each window would see, outside of the image too."""
    dims = len(window)
    stride, padding, dilation = (for_each(x, dims) for x in (window if stride is None else stride, padding, dilation))
    found = []
    for n, k, s, p, d in zip(a.shape[a.ndim - dims :], window, stride, padding, dilation):
        starts = np.arange(-p, n + (p if not ceil_mode else 0), s)
        if not ceil_mode:
            starts = starts[starts + d * (k - 1) < n + p]
        else:  # those that begin before the padding behind the image, as many as touch what is padded
            starts = starts[(starts < n) & (starts < n + p - d * (k - 1) - 1 + s)]
        found.append([start + d * np.arange(k) for start in starts])
    return found


def pooled_maxima(
    a: Array, window: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Array, Array]:
    dims = rank_of_windows(a, window, stride, padding, dilation)
    layout = laid_out(a, for_each(window, dims), stride, padding, dilation, ceil_mode)
    sizes, before = a.shape[a.ndim - dims :], a.shape[: a.ndim - dims]
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    values = np.zeros((*before, *map(len, layout)), a.dtype)
    places = np.zeros(values.shape, np.int64)
    for place in np.ndindex(*map(len, layout)):
        inside = [p[(p >= 0) & (p < n)] for p, n in zip((layout[d][i] for d, i in enumerate(place)), sizes)]
        flat = a[last(np.ix_(*inside))].reshape((*before, -1))
        chosen = np.argmax(flat.real, -1)
        values[last(place)] = np.take_along_axis(flat, chosen[..., None], -1)[..., 0]
        places[last(place)] = numbers[np.ix_(*inside)].reshape(-1)[chosen]
    return values, places


def rank_of_windows(a: Array, *settings: Any) -> int:
    """How many dimensions windows have, from settings of which some are one number for all."""
    lengths = [len(setting) for setting in settings if np.ndim(setting)]
    return max(lengths) if lengths and max(lengths) > 1 else {2: 1, 3: 1, 4: 2, 5: 3}[a.ndim]


def pooled_means(
    a: Array, window: Any, stride: Any, padding: Any, ceil_mode: bool, with_padding: bool, divisor: int | None
) -> Array:
    dims = rank_of_windows(a, window, stride, padding)
    paddings = for_each(padding, dims)
    layout = laid_out(a, for_each(window, dims), stride, padding, 1, ceil_mode)
    sizes, before = a.shape[a.ndim - dims :], a.shape[: a.ndim - dims]
    means = np.zeros((*before, *map(len, layout)), a.dtype)
    for place in np.ndindex(*map(len, layout)):
        places = [layout[d][i] for d, i in enumerate(place)]
        inside = [p[(p >= 0) & (p < n)] for p, n in zip(places, sizes)]
        counted = [p[p < n + more] for p, n, more in zip(places, sizes, paddings)] if with_padding else inside
        count = np.prod([len(p) for p in counted]) if divisor is None else divisor
        means[last(place)] = a[last(np.ix_(*inside))].reshape((*before, -1)).sum(-1) / count
    return means


def adaptively(a: Array, output: Any, dims: int) -> tuple[Array, Array, Array]:
    """Maxima, means and places of maxima in windows that share the image out."""
    sizes, before = a.shape[a.ndim - dims :], a.shape[: a.ndim - dims]
    wanted = [n if m is None else m for n, m in zip(sizes, for_each(output, dims))]
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    maxima, means = (np.zeros((*before, *wanted), a.dtype) for _ in range(2))
    places = np.zeros(maxima.shape, np.int64)
    for place in np.ndindex(*wanted):
        window = tuple(slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in zip(place, sizes, wanted))
        flat = a[last(window)].reshape((*before, -1))
        chosen = np.argmax(flat.real, -1)
        maxima[last(place)] = np.take_along_axis(flat, chosen[..., None], -1)[..., 0]
        places[last(place)] = numbers[window].reshape(-1)[chosen]
        means[last(place)] = flat.mean(-1)
    return maxima, means, places


DEFINITIONS = (
    window_maxima, window_means, spread_means, at_places, to_places, pooled_maxima, pooled_means, adaptively, sampled,
    spread_samples, weigh_samples, resampled,
)  # fmt: skip
