"""The steps of a scan: rows go in one by one, results are stacked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradsmith.control_flow.trees import Tensors, TensorTree
from gradsmith.generated import cat, stack

# Rows are taken apart and stacked so many at a time: results should not wait long as tensors of their own.
CHUNK = 4096


class Steps:
    """A function of a scan, between flat lists of tensors."""

    def __init__(
        self, f: Callable[[Any, Any], tuple[Any, Any]], state: TensorTree, rows: TensorTree, reverse: bool
    ) -> None:
        self.f, self.state, self.rows, self.reverse = f, state, rows, reverse
        self.result: TensorTree | None = None  # as the first step gives it

    def run(self, carry: Tensors, columns: Tensors, n: int) -> list[Any]:
        """The tensors of the state after `n` steps, and those of the stacked results."""
        pile = _Pile(self.reverse)
        for row in self._each_row(columns, n):
            carry, results = self.step(carry, row)
            pile.add(results)
        return [*carry, *pile.stacked()]

    def step(self, carry: Tensors, row: Tensors) -> tuple[list[Any], list[Any]]:
        given = self.f(self.state.built(carry), self.rows.built(row))
        if not isinstance(given, tuple) or len(given) != 2:
            raise TypeError(f"scan(): f must give a pair (carry, y), but gave a {type(given).__name__}")
        if self.result is None:
            self.result = TensorTree("scan", "y", given[1])
            return self.state.flat(given[0]), self.result.tensors
        return self.state.flat(given[0]), self.result.flat(given[1])

    def trees_of(self, tensors: Tensors) -> tuple[Any, Any]:
        """The state and the results of these tensors, as `run` gives them."""
        assert self.result is not None
        count = len(self.state.places)
        return self.state.built(tensors[:count]), self.result.built(tensors[count:])

    def _each_row(self, columns: Tensors, n: int) -> Iterator[Tensors]:
        if not columns:
            yield from [()] * n
            return
        pieces = list(zip(*(column.split(CHUNK) if n > CHUNK else (column,) for column in columns)))
        for piece in reversed(pieces) if self.reverse else pieces:
            rows = list(zip(*(column.unbind(0) for column in piece)))
            yield from reversed(rows) if self.reverse else rows


class _Pile:
    """Results of steps, stacked some at a time, in the order of the rows."""

    def __init__(self, reverse: bool) -> None:
        self._reverse = reverse
        self._waiting: list[list[Any]] = []
        self._chunks: list[list[Any]] = []

    def add(self, results: list[Any]) -> None:
        self._waiting.append(results)
        if len(self._waiting) == CHUNK:
            self._stack()

    def stacked(self) -> list[Any]:
        if self._waiting:
            self._stack()
        return [joined(column, self._reverse) for column in zip(*self._chunks)]

    def _stack(self) -> None:
        if self._reverse:
            self._waiting.reverse()
        self._chunks.append([stack(column) for column in zip(*self._waiting)])
        self._waiting = []


def joined(parts: Tensors, reverse: bool) -> Any:
    """Results of runs of steps, one behind the other in the order of the rows."""
    return parts[0] if len(parts) == 1 else cat(list(reversed(parts)) if reverse else list(parts))
