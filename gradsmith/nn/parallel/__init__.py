"""PyTorch's wrappers for several devices, of which there is one, and for several processes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.names.missing import missing_attribute
from gradsmith.nn.parallel.data_parallel import DataParallel, data_parallel

if TYPE_CHECKING:
    from gradsmith.distributed.ddp import DistributedDataParallel as DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]
_MODULES = ("distributed", "scatter_gather")


def __getattr__(name: str) -> Any:
    """What is for several processes is imported by programs that have them."""
    if name == "DistributedDataParallel":
        return importlib.import_module("gradsmith.distributed.ddp").DistributedDataParallel
    if name in ("gather", "scatter"):
        return getattr(importlib.import_module(f"{__name__}.scatter_gather"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise missing_attribute(__name__, name)
