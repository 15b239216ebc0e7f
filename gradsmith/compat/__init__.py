"""Programs written for other libraries: what they lack here, and gradsmith under the name of another library."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.compat import hips as hips
    from gradsmith.compat.autograd_modules import as_autograd as as_autograd
    from gradsmith.compat.torch_modules import as_torch as as_torch

__all__ = ["as_autograd", "as_torch", "hips"]

_MODULE_OF = {"as_autograd": "autograd_modules", "as_torch": "torch_modules"}


def __getattr__(name: str) -> Any:
    if name == "hips":
        return importlib.import_module(f"{__name__}.hips")
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
