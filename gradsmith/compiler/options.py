"""What a caller of `compile` may choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ESCAPES = ("raise", "eager", "guard")
MEMORIES = ("min", "balanced")


@dataclass(frozen=True)
class Options:
    """How a function is compiled; see `compile`."""

    on_escape: str = "raise"
    memory: str | int | None = None
    static: tuple[Any, ...] = ()
    donate: tuple[Any, ...] = ()
    exact: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.exact, bool):
            raise TypeError(f"compile(): exact must be True or False, but is {self.exact!r}")
        if self.on_escape not in ESCAPES:
            raise ValueError(f"compile(): on_escape must be 'raise', 'eager' or 'guard', but is {self.on_escape!r}")
        memory = self.memory
        is_number = isinstance(memory, int) and not isinstance(memory, bool)
        if memory is not None and memory not in MEMORIES and not (is_number and memory >= 0):  # type: ignore[operator]
            raise ValueError(f"compile(): memory must be 'min', 'balanced' or a number of bytes, but is {memory!r}")
