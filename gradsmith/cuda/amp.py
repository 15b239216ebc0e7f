"""``torch.cuda.amp``: the older place of `gradsmith.amp`."""

from __future__ import annotations

from typing import Any

from gradsmith import amp as _amp
from gradsmith.names.missing import missing_attribute
from gradsmith.names.other_modules import add_other_name

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

custom_fwd = _amp.custom_fwd
custom_bwd = _amp.custom_bwd
# PyTorch has one module for each.
autocast_mode = add_other_name(f"{__name__}.autocast_mode", __name__)
grad_scaler = add_other_name(f"{__name__}.grad_scaler", __name__)


class autocast(_amp.autocast):
    """`gradsmith.amp.autocast` for ``"cuda"``."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_amp.GradScaler):
    """`gradsmith.amp.GradScaler` for ``"cuda"``."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
