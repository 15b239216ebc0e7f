from collections.abc import Sequence
from typing import Any

import numpy as np

KINDS: dict[str, int]
ARITHMETIC: dict[int, str]
ADD: int
MULTIPLY: int
POWER: int
POWERS: dict[float, int]
MOST_ELEMENTS: int
MOST_INPUTS: int

class Block:
    parts: list[Any]
    fresh: list[tuple[int, Any]]
    shown: list[int]
    counted: list[int]
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
    def add_repeat(self, repeat: Repeat) -> None: ...
    def add_tiles(self, tiles: Tiles) -> None: ...
    def set_moving(self, places: list[tuple[int, int, int]]) -> None: ...

class Repeat:
    body: Block
    count: int
    starts: np.ndarray[Any, Any]
    strides: np.ndarray[Any, Any]
    listed: np.ndarray[Any, Any]
    def __init__(
        self,
        body: Block,
        count: int,
        first: int,
        starts: Sequence[int],
        strides: Sequence[int],
        listed: np.ndarray[Any, Any],
    ) -> None: ...

class Tiles:
    body: Block
    rest: Block
    n: int
    places: np.ndarray[Any, Any]
    strides: np.ndarray[Any, Any]
    def __init__(
        self,
        body: Block,
        rest: Block,
        n: int,
        size: int,
        places: Sequence[int],
        strides: Sequence[int],
        scratch: int,
        gaps: Sequence[tuple[int, int]],
    ) -> None: ...
