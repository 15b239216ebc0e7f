"""Differences that are deliberate, by subject."""

from __future__ import annotations

from ..compare import Difference
from . import dual_numbers, errors, gradients, graphs, open_results, values, views, writes
from .explanation import Explanation

ROOMS = (errors, writes, views, graphs, gradients, values, dual_numbers, open_results)
EXPLANATIONS: tuple[Explanation, ...] = tuple(e for room in ROOMS for e in room.EXPLANATIONS)


def explanation_of(difference: Difference) -> Explanation | None:
    return next((e for e in EXPLANATIONS if e.applies(difference)), None)
