"""References of connectionist temporal classification: every alignment by itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def alignments(labels: list[int], steps: int, classes: int, blank: int) -> Iterator[tuple[int, ...]]:
    """The classes of all steps that become the labels once repetitions are merged and blanks left out."""
    for path in product(range(classes), repeat=steps):
        if [label for label, _ in groupby(path) if label != blank] == labels:
            yield path


def occupied(a: Array, labels: list[int], steps: int, blank: int) -> tuple[Array, Array]:
    """The score of each alignment of one sequence, and ones where it is: (alignments,), (alignments, *a.shape)."""
    paths = list(alignments(labels, steps, a.shape[1], blank))
    places = np.zeros((len(paths), *a.shape))
    for path, place in zip(paths, places):
        place[np.arange(steps), list(path)] = 1
    where = places.reshape(len(paths), -1) != 0
    return np.array([a.reshape(-1)[taken].sum() for taken in where], a.dtype), places


def sequences(label_counts: Any, labels: Array) -> Iterator[tuple[int, list[int]]]:
    ends = np.cumsum([0, *label_counts])
    for i in range(len(label_counts)):
        yield i, [int(label) for label in labels[ends[i] : ends[i + 1]]]


def shares_of(scores: Array) -> Array:
    powers = np.exp(scores - np.max(scores.real))
    return powers / powers.sum()


def in_slices(work: Any, a: Array, others: list[Array], own: list[int]) -> Array:
    loops = np.broadcast_shapes(a.shape[:-3], *(x.shape[: x.ndim - k] for x, k in zip(others, own)))
    a = np.broadcast_to(a, (*loops, *a.shape[-3:]))
    spread = [np.broadcast_to(x, (*loops, *x.shape[x.ndim - k :])) for x, k in zip(others, own)]
    found = np.stack([work(a[place], *(x[place] for x in spread)) for place in np.ndindex(*loops)])
    return found.reshape((*loops, *found.shape[1:]))


def ctc_losses(a: Array, labels: Array, label_counts: Any, step_counts: Any, blank: int) -> Array:
    def work(a: Array, labels: Array) -> Array:
        losses = np.zeros(a.shape[1], a.dtype)
        for i, own in sequences(label_counts, labels):
            scores, _ = occupied(a[:, i], own, step_counts[i], blank)
            most = np.max(scores.real)
            losses[i] = -(most + np.log(np.exp(scores - most).sum()))
        return losses

    return in_slices(work, a, [labels], [1])


def ctc_slopes(a: Array, scale: Array, labels: Array, label_counts: Any, step_counts: Any, blank: int) -> Array:
    def work(a: Array, scale: Array, labels: Array) -> Array:
        slopes = np.zeros(a.shape, np.result_type(a, scale))
        for i, own in sequences(label_counts, labels):
            scores, places = occupied(a[:, i], own, step_counts[i], blank)
            slopes[:, i] = -scale[i] * np.tensordot(shares_of(scores), places, 1)
        return slopes

    return in_slices(work, a, [scale, labels], [1, 1])


def ctc_curvature(
    a: Array, direction: Array, scale: Array, labels: Array, label_counts: Any, step_counts: Any, blank: int
) -> Array:
    def work(a: Array, direction: Array, scale: Array, labels: Array) -> Array:
        curvature = np.zeros(a.shape, np.result_type(a, direction, scale))
        for i, own in sequences(label_counts, labels):
            scores, places = occupied(a[:, i], own, step_counts[i], blank)
            shares, slopes = shares_of(scores), np.tensordot(places, direction[:, i], 2)
            curvature[:, i] = -scale[i] * np.tensordot(shares * (slopes - (shares * slopes).sum()), places, 1)
        return curvature

    return in_slices(work, a, [direction, scale, labels], [3, 1, 1])


DEFINITIONS = (ctc_losses, ctc_slopes, ctc_curvature)
