"""Lists of tensors that are taken apart, and columns of rows that are gone through in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradsmith.generated import cat
from gradsmith.runtime.tensors.factories.creation import zeros

Pieces = list[tuple[int, dict[int, Any]]]  # in the order of the steps: how many, and columns by number


class Parts:
    """A list that is taken apart from its beginning."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        self._left: Iterator[Any] = iter(tensors)

    def take(self, count: int) -> list[Any]:
        return [next(self._left) for _ in range(count)]

    def rest(self) -> list[Any]:
        return list(self._left)


def piece_of(column: Any, done: int, count: int, from_end: bool) -> Any:
    """The rows of the next `count` steps, after those of `done` ones."""
    n = column.shape[0]
    if count == n:
        return column
    return column[n - done - count : n - done] if from_end else column[done : done + count]


def joined_pieces(pieces: Pieces, number: int, from_end: bool) -> Any:
    """The whole column, with zeros for steps that have none; None where no step has one."""
    like = next((piece[number] for _, piece in pieces if number in piece), None)
    if like is None:
        return None
    found = [
        piece[number] if number in piece else zeros((count, *like.shape[1:]), dtype=like.dtype)
        for count, piece in pieces
    ]
    if from_end:
        found.reverse()
    return found[0] if len(found) == 1 else cat(found)
