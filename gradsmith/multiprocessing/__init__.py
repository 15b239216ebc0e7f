"""Python's `multiprocessing`, with `spawn` of PyTorch's.

Tensors travel between processes as their values: what one process writes, another does not see. Those that
`Tensor.share_memory_` has moved to shared memory travel as this memory, and all processes see what one writes; PyTorch
moves every tensor that it sends. Which of its ways of sharing is chosen makes no difference here.
"""

from __future__ import annotations

import multiprocessing as _standard
from multiprocessing import *  # noqa: F403
from multiprocessing.reduction import ForkingPickler
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.multiprocessing.shared_memory import reduce_shared
from gradsmith.multiprocessing.sharing import (
    get_all_sharing_strategies,
    get_sharing_strategy,
    set_sharing_strategy,
)
from gradsmith.multiprocessing.spawning import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    spawn,
    start_processes,
)
from gradsmith.names.missing import missing_attribute
from gradsmith.nn.parameter import Parameter
from gradsmith.runtime.graph.tensor_api import reduce_leaf

__all__ = [
    *(name for name in _standard.__all__ if name != "reducer"),
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip


def _reduce(tensor: Any) -> tuple[Any, ...]:
    """Pickle a tensor for another process, by its memory where that is shared."""
    return (reduce_shared(tensor) if tensor.is_leaf else None) or reduce_leaf(tensor)


for _class in (Tensor, Parameter):
    ForkingPickler.register(_class, _reduce)


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
