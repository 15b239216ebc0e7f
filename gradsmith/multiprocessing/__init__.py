"""Python's `multiprocessing`, with `spawn` of PyTorch's.

Tensors travel between processes as their values: what one process writes, another does not see. PyTorch moves them to
shared memory instead. NumPy arrays over ``multiprocessing.shared_memory`` can be shared, and `gradsmith.from_numpy`
makes tensors over them. Which of PyTorch's ways of sharing is chosen makes no difference here.
"""

from __future__ import annotations

import multiprocessing as _standard
from multiprocessing import *  # noqa: F403
from multiprocessing.reduction import ForkingPickler
from typing import Any

from gradsmith.generated.tensor import Tensor
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
from gradsmith.runtime.graph.tensor_api import reduce_leaf

__all__ = [
    *(name for name in _standard.__all__ if name != "reducer"),
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException",
    "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip

ForkingPickler.register(Tensor, reduce_leaf)


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
