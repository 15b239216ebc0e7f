"""The place where PyTorch has `DistributedDataParallel`, which is imported by programs of several processes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.distributed.ddp import DistributedDataParallel as DistributedDataParallel

__all__ = ["DistributedDataParallel"]


def __getattr__(name: str) -> Any:
    if name == "DistributedDataParallel":
        return importlib.import_module("gradsmith.distributed.ddp").DistributedDataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
