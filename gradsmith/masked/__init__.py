"""Reductions and normalizations of the elements that a mask picks, with PyTorch's names and arguments.

>>> import gradsmith as gs
>>> x = gs.tensor([[1.0, 2.0], [3.0, float("nan")]], requires_grad=True)
>>> gs.masked.sum(x, 1, mask=x.detach() < 3).sum().backward()
>>> x.grad
tensor([[1., 1.],
        [0., 0.]])

A mask is true where an element counts. It broadcasts to the tensor; without one, all elements count. Elements outside
the mask get a zero gradient, whatever their value.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.masked.extremes import amax as amax
    from gradsmith.masked.extremes import amin as amin
    from gradsmith.masked.extremes import argmax as argmax
    from gradsmith.masked.extremes import argmin as argmin
    from gradsmith.masked.extremes import median as median
    from gradsmith.masked.moments import mean as mean
    from gradsmith.masked.moments import std as std
    from gradsmith.masked.moments import var as var
    from gradsmith.masked.scaled import log_softmax as log_softmax
    from gradsmith.masked.scaled import normalize as normalize
    from gradsmith.masked.scaled import softmax as softmax
    from gradsmith.masked.scaled import softmin as softmin
    from gradsmith.masked.sums import cumprod as cumprod
    from gradsmith.masked.sums import cumsum as cumsum
    from gradsmith.masked.sums import logaddexp as logaddexp
    from gradsmith.masked.sums import logsumexp as logsumexp
    from gradsmith.masked.sums import norm as norm
    from gradsmith.masked.sums import prod as prod
    from gradsmith.masked.sums import sum as sum

_NAMES = {
    "extremes": ("amax", "amin", "argmax", "argmin", "median"),
    "moments": ("mean", "std", "var"),
    "scaled": ("log_softmax", "normalize", "softmax", "softmin"),
    "sums": ("cumprod", "cumsum", "logaddexp", "logsumexp", "norm", "prod", "sum"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import what has a function when it is first used."""
    if name not in _MODULE_OF:
        from gradsmith.names.missing import missing_attribute

        raise missing_attribute(__name__, name)
    value = globals()[name] = getattr(importlib.import_module(f"gradsmith.masked.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
