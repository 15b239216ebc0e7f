from collections.abc import Callable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.programs.block import Block

class Slot:
    number: int
    def __init__(self, number: int) -> None: ...

class Step:
    name: str
    operands: tuple[Any, ...]
    results: tuple[int | None, ...]
    is_single: bool
    writes: bool
    has_effects: bool
    function: Callable[..., Any] | None
    def count_writes_to(self, slot: int) -> None: ...
    @property
    def place(self) -> str: ...
    @property
    def is_loop(self) -> bool: ...
    block: Block | None
    @property
    def loop(self) -> tuple[Any, ...] | None: ...
    @property
    def loop_inputs(self) -> list[int]: ...
    @property
    def reads(self) -> list[int]: ...

def block_step(block: Block) -> Step: ...
def native_step(name: str, operands: tuple[Any, ...], like: Step) -> Step: ...

class Program:
    steps: list[Step]
    n_slots: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    room_models: list[tuple[int, int, Any]]
    arena_size: int
    def __init__(self, steps: list[Step], n_slots: int, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None: ...
    def give_rooms(
        self, room_models: list[tuple[int, int, Any]], arena_size: int, dying: dict[int, list[int]]
    ) -> None: ...
    def give_addresses(self, rooms: list[tuple[int, int]], constants: list[tuple[int, Any]], count: int) -> None: ...
    def run(self, values: tuple[Tensor, ...]) -> tuple[Tensor, ...]: ...
    def __len__(self) -> int: ...
