"""Communication hooks for `DistributedDataParallel.register_comm_hook`."""

from __future__ import annotations

import enum
from functools import partial
from typing import Any

from gradsmith.distributed.algorithms.ddp_comm_hooks import debugging_hooks, default_hooks, powerSGD_hook

__all__ = ["DDPCommHookType", "debugging_hooks", "default_hooks", "powerSGD_hook", "register_ddp_comm_hook"]


class DDPCommHookType(enum.Enum):
    """Hooks by name, for `register_ddp_comm_hook`."""

    ALLREDUCE = partial(default_hooks.allreduce_hook)
    FP16_COMPRESS = partial(default_hooks.fp16_compress_hook)
    POWER_SGD = partial(powerSGD_hook.powerSGD_hook)
    NOOP = partial(debugging_hooks.noop_hook)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook of this package by its name.

    Parameters
    ----------
    comm_hook_type : DDPCommHookType
    model : DistributedDataParallel
    state : optional
        The first argument of the hook: a process group, or a `PowerSGDState`.
    """
    model.register_comm_hook(state, comm_hook_type.value)
