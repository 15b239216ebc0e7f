from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.node import Node

class RecordedCallBackward(Node): ...

def record(
    gradients: Callable[[tuple[Tensor | None, ...], tuple[Tensor, ...]], Sequence[Tensor | None]],
    results: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    saved: tuple[Tensor, ...],
    *others: Sequence[Any],
) -> bool: ...
