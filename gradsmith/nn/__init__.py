"""Building blocks of networks: modules, their functions, initial values, and tools for parameters.

>>> import gradsmith as gs
>>> from gradsmith import nn
>>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
>>> loss = nn.MSELoss()(model(gs.ones(3, 4)), gs.zeros(3, 1))
>>> loss.backward()
>>> [tuple(parameter.grad.shape) for parameter in model.parameters()]
[(8, 4), (8,), (1, 8), (1,)]
"""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.nn import functional as functional

if TYPE_CHECKING:
    from gradsmith.nn import attention as attention
    from gradsmith.nn import init as init
    from gradsmith.nn import modules as modules
    from gradsmith.nn import parallel as parallel
    from gradsmith.nn import parameter as parameter
    from gradsmith.nn import utils as utils
    from gradsmith.nn.modules import *  # noqa: F403
    from gradsmith.nn.parallel import DataParallel as DataParallel
    from gradsmith.nn.parameter import Buffer as Buffer
    from gradsmith.nn.parameter import Parameter as Parameter
    from gradsmith.nn.parameter import UninitializedBuffer as UninitializedBuffer
    from gradsmith.nn.parameter import UninitializedParameter as UninitializedParameter

# Modules that are found under PyTorch's names too, and stand among those for its libraries.
_FOR_LIBRARIES = ("_reduction", "common_types", "grad")
_MODULES = ("attention", "init", "modules", "parallel", "parameter", "utils")
_TENSORS = ("Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter")


def _public_names() -> list[str]:
    """Public names of all modules, collected on first use."""
    return sorted(
        {"DataParallel", "functional", *_MODULES, *_TENSORS, *importlib.import_module(f"{__name__}.modules").__all__}
    )


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use: functions alone need no modules."""
    if name == "__all__":
        return _public_names()
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FOR_LIBRARIES:
        return importlib.import_module(f"gradsmith.compat.torch.nn.{name}")
    file = "parameter" if name in _TENSORS else "parallel" if name == "DataParallel" else "modules"
    try:
        value = getattr(importlib.import_module(f"{__name__}.{file}"), name)
    except AttributeError:
        from gradsmith.names.missing import missing_attribute

        raise missing_attribute(__name__, name) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_public_names()})
