from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.node import Node
from gradsmith.runtime.programs.program import Program

class RecordedCallBackward(Node): ...
class UsedUpBackward(Node): ...

class UsedUp:
    def __init__(
        self, result: int, inputs: Sequence[Any], text: str, apply: Callable[[str, Tensor, tuple[Tensor, ...]], Tensor]
    ) -> None: ...
    def with_history(self, found: tuple[Tensor, ...], leaves: Sequence[Any]) -> tuple[Tensor, ...]: ...

def error_if_used_up(result: Tensor) -> RuntimeError | None: ...

class Recorder:
    def __init__(
        self,
        results: Sequence[int],
        inputs: Sequence[Any],
        kept: Sequence[int],
        sources: Sequence[Any],
        captured: Sequence[Tensor],
        backward: Program,
        gradients: Sequence[int | None],
        recording: Callable[[list[Any], list[Any]], Any],
    ) -> None: ...
    def with_history(
        self, found: tuple[Tensor, ...], leaves: Sequence[Any], states: list[Any]
    ) -> tuple[Tensor, ...]: ...
