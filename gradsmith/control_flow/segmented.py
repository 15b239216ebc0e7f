"""A loop in segments, of which a backward runs the steps again: a loop of loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradsmith.control_flow.repeating.loop import Loop, looped
from gradsmith.control_flow.steps import joined


def looped_in_segments(loop: Loop, operands: list[Any], size: int) -> list[Any]:
    """What `looped` gives, with the states between segments of `size` steps kept for a backward, and no others."""
    n, n_state = loop.shape.n, loop.shape.n_state
    whole, rest = divmod(n, size)
    parts = [(0, whole, size)] * (whole > 0) + [(whole * size, 1, rest)] * (rest > 0)
    results = []
    for first, count, length in reversed(parts) if loop.shape.reverse else parts:
        found = _segments(loop, operands, first, count, length)
        operands = [*found[:n_state], *operands[n_state:]]
        results.append(found[n_state:])
    return [*operands[:n_state], *(joined(column, loop.shape.reverse) for column in zip(*results))]


def _segments(loop: Loop, operands: list[Any], first: int, count: int, length: int) -> list[Any]:
    """The state after so many segments of the same length, and their results."""
    shape, given = loop.shape, list(operands)
    for place in range(shape.n_state, shape.n_state + shape.n_rows):
        rows = operands[place][first : first + count * length]
        given[place] = rows.reshape(count, length, *rows.shape[1:])
    segment = _Segment(replace(loop, shape=replace(shape, n=length)))
    outer = replace(
        loop, work=segment, shape=replace(shape, n=count), twins=(), is_own=False, made=(), bodies={}, n_inside=length
    )
    found = looped(outer, given)
    return [*found[: shape.n_next], *(one.flatten(0, 1) for one in found[shape.n_next :])]


class _Segment:
    """The steps of one segment."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    def __call__(self, tensors: list[Any]) -> list[Any]:
        return looped(self.loop, tensors)
