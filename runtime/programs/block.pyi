from typing import Any

KINDS: dict[str, int]
ARITHMETIC: dict[int, str]
POWER: int
MOST_ELEMENTS: int
MOST_INPUTS: int

class Block:
    parts: list[Any]
    fresh: list[tuple[int, Any]]
    shown: list[int]
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        part: Any,
        kind: str,
        n: int,
        is_double: bool,
        out: int,
        operands: tuple[int, ...],
        moving: int,
        more: dict[str, Any] | None = None,
    ) -> None: ...
    def set_moving(self, places: list[tuple[int, int, int]]) -> None: ...
