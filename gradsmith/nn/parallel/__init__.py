"""PyTorch's wrappers for several devices, of which there is one, and for several processes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.nn.parallel.data_parallel import DataParallel, data_parallel

if TYPE_CHECKING:
    from gradsmith.distributed.ddp import DistributedDataParallel as DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def __getattr__(name: str) -> Any:
    """What is for several processes is imported by programs that have them."""
    if name == "DistributedDataParallel":
        return importlib.import_module("gradsmith.distributed.ddp").DistributedDataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
