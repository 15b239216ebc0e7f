"""Calls of functions mapped by `vmap` that are under way in a thread, and their random numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradsmith.runtime.batching.batch import VmapLevel, all_slices, batched
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.threads import register_switch

if TYPE_CHECKING:
    from gradsmith.generated.tensor import Tensor


class _Open(threading.local):
    levels: tuple[VmapLevel, ...] = ()


_open = _Open()


def open_levels() -> tuple[VmapLevel, ...]:
    """The levels of this thread, the innermost last."""
    return _open.levels


def _put(levels: tuple[VmapLevel, ...]) -> None:
    _open.levels = levels


register_switch(open_levels, _put)


class open_level:
    """Context manager: a level for one call of a mapped function, over a number of slices."""

    def __init__(self, size: int, randomness: str, call: Any) -> None:
        self.level = VmapLevel(size, randomness, call)

    def __enter__(self) -> VmapLevel:
        self.before = _open.levels
        _open.levels = (*self.before, self.level)
        return self.level

    def __exit__(self, *raised: object) -> None:
        _open.levels = self.before
        self.level.close()


class below:
    """Context manager: leave a level's call and the calls inside it."""

    def __init__(self, level: VmapLevel) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before = _open.levels
        _open.levels = tuple(level for level in self.before if level.number < self.level.number)

    def __exit__(self, *raised: object) -> None:
        _open.levels = self.before


class reopened:
    """Context manager: enter the calls of levels again, even if these have ended."""

    def __init__(self, levels: tuple[VmapLevel, ...]) -> None:
        self.levels = levels

    def __enter__(self) -> None:
        self.before = _open.levels
        self.ended = [level for level in self.levels if not level.is_open]
        for level in self.ended:
            level.reopen()
        _open.levels = self.levels

    def __exit__(self, *raised: object) -> None:
        _open.levels = self.before
        for level in self.ended:
            level.close()


class Caller:
    """The name that errors use for a level opened by another function than `vmap`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def error(self, text: str, kind: type[Exception] = RuntimeError) -> Exception:
        return kind(f"{self.name}: {text}")

    def ended(self) -> Caller:
        return self


def at_once(
    call: Any,
    function: Callable[[list[Any]], Sequence[Any]],
    stacked: Sequence[Any],
    size: int,
    randomness: str = "error",
) -> list[Any]:
    """Call a function of a list of tensors, each of which stands for the slices of one of `stacked`.

    None stands for itself, among the tensors and among the results.
    """
    with open_level(size, randomness, call) as level:
        found = function([None if tensor is None else upcalls.one_slice(tensor, level) for tensor in stacked])
        return [None if result is None else all_slices(result, level) for result in found]


def in_chunks(
    call: Any,
    function: Callable[[list[Any]], Sequence[Any]],
    stacked: Sequence[Any],
    size: int,
    chunk_size: int | None,
    randomness: str = "error",
) -> list[Any]:
    """`at_once` for a number of slices at a time."""
    if chunk_size is None or size <= chunk_size:
        return at_once(call, function, stacked, size, randomness)
    parts = [
        at_once(
            call,
            function,
            [t.narrow(0, n, min(chunk_size, size - n)) for t in stacked],
            min(chunk_size, size - n),
            randomness,
        )
        for n in range(0, size, chunk_size)
    ]
    return [upcalls.cat(list(column), 0) for column in zip(*parts)]


def has_recorded_data() -> bool:
    """Does a batched tensor of this thread belong to a graph begun outside the mapped function?

    What is computed of it has to be recorded then, also where the graph of batched tensors needs no recording.
    """
    return any(level.has_history for level in _open.levels)


# ---- random numbers


class Draws:
    """How many numbers an op draws at once, and the tensors that these become.

    Raises
    ------
    RuntimeError
        A call of `vmap` does not say how random numbers of different slices are related.
    """

    def __init__(self, op: str) -> None:
        self.op = op
        for level in _open.levels:
            if level.randomness == "error":
                raise level.call.error(
                    f"called random operation while in randomness error mode: {op}() draws random numbers, and vmap "
                    "was not told whether these are to be the same for all slices. Say randomness='different' or "
                    "randomness='same', or draw them out of vmap"
                )
        self.levels = [level for level in _open.levels if level.randomness == "different"]
        self.sizes = tuple(level.size for level in self.levels)

    def batched(self, tensor: Tensor) -> Tensor:
        """A tensor drawn with leading sizes, as seen by one slice."""
        for level in self.levels:
            tensor = batched(tensor, level)
        return tensor
