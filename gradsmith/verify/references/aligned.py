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


def scores_of(a: Array, labels: list[int], steps: int, blank: int) -> Array:
    """The logarithm of the probability of each alignment of one sequence."""
    paths = alignments(labels, steps, a.shape[1], blank)
    return np.array([a[np.arange(steps), list(path)].sum() for path in paths], a.dtype)


def sequences(label_counts: Any, labels: Array) -> Iterator[tuple[int, list[int]]]:
    ends = np.cumsum([0, *label_counts])
    for i in range(len(label_counts)):
        yield i, [int(label) for label in labels[ends[i] : ends[i + 1]]]


def ctc_losses(a: Array, labels: Array, label_counts: Any, step_counts: Any, blank: int) -> Array:
    loops = np.broadcast_shapes(a.shape[:-3], labels.shape[:-1])
    a, labels = np.broadcast_to(a, (*loops, *a.shape[-3:])), np.broadcast_to(labels, (*loops, labels.shape[-1]))
    losses = np.zeros((*loops, a.shape[-2]), a.dtype)
    for loop in np.ndindex(*loops):
        for i, own in sequences(label_counts, labels[loop]):
            scores = scores_of(a[loop][:, i], own, step_counts[i], blank)
            most = np.max(scores.real)
            losses[loop][i] = -(most + np.log(np.exp(scores - most).sum()))
    return losses


DEFINITIONS = (ctc_losses,)
