"""What each place along one dimension of a resized image sees: a span of elements, and their weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Taps(NamedTuple):
    """Place i is the sum of the elements from ``spans[i, 0]`` to before ``spans[i, 1]``, each times its weight."""

    size: int  # elements of the dimension
    spans: Array  # (places, 2), both columns in ascending order
    weights: Array  # (places, most elements of a span)


def taps_of_spans(size: int, spans: Array, weights: Array) -> Taps:
    """Taps with arrays that nobody changes."""
    spans, weights = np.ascontiguousarray(spans, np.intp), np.ascontiguousarray(weights, np.float64)
    spans.flags.writeable = weights.flags.writeable = False
    return Taps(size, spans, weights)


def taps_of_tables(size: int, places: Array, weights: Array) -> Taps:
    """From a list of elements and weights for each place, (taps, places), where an element may come repeatedly."""
    spans = np.stack([places.min(0), places.max(0) + 1], -1)
    own = np.zeros((places.shape[1], len(places)))
    for elements, shares in zip(places, weights, strict=True):
        own[np.arange(len(own)), elements - spans[:, 0]] += shares
    return taps_of_spans(size, spans, own)


def transposed(taps: Taps) -> Taps:
    """Those of the gradient: the places that see an element follow each other, since spans are in ascending order."""
    elements = np.arange(taps.size)
    first = np.searchsorted(taps.spans[:, 1], elements, "right")
    end = np.searchsorted(taps.spans[:, 0], elements, "right")
    places = first[:, None] + np.arange(max(int((end - first).max()), 1))
    sees = places < end[:, None]
    places = np.where(sees, places, 0)
    own = np.where(sees, elements[:, None] - taps.spans[places, 0], 0)
    weights = np.where(sees, taps.weights[places, own], 0)
    return taps_of_spans(len(taps.spans), np.stack([first, end], -1), weights)
