"""``torch.cpu.amp``, deprecated there: `gradsmith.amp` for the CPU."""

from __future__ import annotations

from typing import Any

import gradsmith.amp as _amp
from gradsmith.names.other_modules import add_other_name
from gradsmith.runtime.arrays.warning_place import warn_caller

__all__ = ["GradScaler", "autocast"]

# PyTorch has one module for each.
autocast_mode = add_other_name(f"{__name__}.autocast_mode", __name__)
grad_scaler = add_other_name(f"{__name__}.grad_scaler", __name__)


class autocast(_amp.autocast):
    """`gradsmith.amp.autocast("cpu")`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        warn_caller("torch.cpu.amp.autocast(args...) is deprecated; torch.amp.autocast('cpu', args...)", FutureWarning)
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`gradsmith.amp.GradScaler("cpu")`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_caller(
            "torch.cpu.amp.GradScaler(args...) is deprecated; torch.amp.GradScaler('cpu', args...)", FutureWarning
        )
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
