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
        return Walk(self, carry, columns, n).finished()

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


class Walk:
    """The steps of a scan, one after the other.

    Attributes
    ----------
    carry : list of Tensor
        The state after the steps that have been made.
    row : sequence of Tensor
        That of the last step, or of the next one where it has been taken already.
    needs_grad : list of bool
        Which results required grad in any step.
    """

    def __init__(self, steps: Steps, carry: Tensors, columns: Tensors, n: int, n_first: int = 0) -> None:
        self.steps, self.carry, self.left = steps, carry, n
        self.row: Tensors = ()
        self.needs_grad: list[bool] = []
        self._is_taken = False
        self._pile = _Pile(steps.reverse)
        self._rows = _each_row(columns, n, n_first, steps.reverse)

    def take_row(self) -> None:
        """Get the row of the next step."""
        self.row, self._is_taken = next(self._rows), True

    def advance(self) -> None:
        """Make one step."""
        if not self._is_taken:
            self.take_row()
        self._is_taken = False
        self.carry, results = self.steps.step(self.carry, self.row)
        now = [one.requires_grad for one in results]
        self.needs_grad = [any(flags) for flags in zip(self.needs_grad or now, now, strict=True)]
        self._pile.add(results)
        self.left -= 1

    def finished(self) -> list[Any]:
        """The tensors of the state after all steps, and those of the stacked results."""
        while self.left:
            self.advance()
        return [*self.carry, *self._pile.stacked()]


def _each_row(columns: Tensors, n: int, n_first: int, reverse: bool) -> Iterator[Tensors]:
    """Rows, of which `n_first` are taken apart before the others."""
    if not columns:
        yield from [()] * n
        return
    sizes = _sizes(n, n_first, reverse)
    pieces = list(zip(*(column.split(sizes) if len(sizes) > 1 else (column,) for column in columns)))
    for piece in reversed(pieces) if reverse else pieces:
        rows = list(zip(*(column.unbind(0) for column in piece)))
        yield from reversed(rows) if reverse else rows


def _sizes(n: int, n_first: int, reverse: bool) -> list[int]:
    """Of the pieces in which rows are taken apart."""
    whole, rest = divmod(n - n_first, CHUNK)
    sizes = [size for size in (n_first, *[CHUNK] * whole, rest) if size]
    return [*sizes[1:], n_first] if reverse and n_first else sizes


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
