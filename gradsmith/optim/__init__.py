"""Optimizers and schedules of learning rates, with PyTorch's names and arguments.

A step of an optimizer whose rule goes element by element is one compiled call over all its parameters.
"""

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.names.on_demand import show_all_names
from gradsmith.names.other_modules import add_other_name
from gradsmith.optim.adadelta import Adadelta
from gradsmith.optim.adagrad import Adagrad
from gradsmith.optim.adam import Adam, AdamW
from gradsmith.optim.adamax import Adamax
from gradsmith.optim.asgd import ASGD
from gradsmith.optim.nadam import NAdam
from gradsmith.optim.optimizer import Optimizer
from gradsmith.optim.radam import RAdam
from gradsmith.optim.rmsprop import RMSprop
from gradsmith.optim.rprop import Rprop
from gradsmith.optim.sgd import SGD

if TYPE_CHECKING:
    from gradsmith.optim import lr_scheduler as lr_scheduler
    from gradsmith.optim import swa_utils as swa_utils
    from gradsmith.optim.adafactor import Adafactor as Adafactor
    from gradsmith.optim.lbfgs import LBFGS as LBFGS
    from gradsmith.optim.muon import Muon as Muon
    from gradsmith.optim.sparse_adam import SparseAdam as SparseAdam

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip

_LAZY = {"Adafactor": "adafactor", "LBFGS": "lbfgs", "Muon": "muon", "SparseAdam": "sparse_adam"}

adamw = add_other_name(f"{__name__}.adamw", f"{__name__}.adam")


def __getattr__(name: str) -> Any:
    """Import rarely used modules on first use."""
    if name in ("lr_scheduler", "swa_utils"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY:
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
        return value
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


show_all_names(__name__)
