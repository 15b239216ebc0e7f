"""The parts of ``torch.amp`` that programs are written with, where nothing is computed in lower precision.

On a GPU, matrix products are several times faster in half precision. A CPU has nothing to gain: NumPy's products are
those of float32 and float64, and there is no bfloat16. So `autocast` leaves every op in the dtype of its operands, and
`GradScaler`, which keeps small gradients of float16 from vanishing, has nothing to scale. Programs that use them run,
in the precision of their parameters.
"""

from __future__ import annotations

from typing import Any

from gradsmith.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available, is_autocast_enabled
from gradsmith.amp.grad_scaler import GradScaler
from gradsmith.names.missing import missing_attribute

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available", "is_autocast_enabled"]


def __getattr__(name: str) -> Any:
    raise missing_attribute(__name__, name)
