"""gradsmith under the name ``autograd``, for libraries that import HIPS autograd."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

from gradsmith.compat.aliases import Other, UnderName

_OWN = "gradsmith.compat.hips"
_AUTOGRAD = Other("autograd", (_OWN,), "as_autograd", "HIPS autograd", lambda parent, name: None)
_LAZY = ("numpy", "numpy.fft", "numpy.linalg", "numpy.random")  # their names are made on first use otherwise


class as_autograd(UnderName):
    """Within the block, ``import autograd`` gives `gradsmith.compat.hips`, ``autograd.numpy`` its `numpy`, and so on.

    Libraries that are imported in the block keep what they imported, and compute with gradsmith afterwards too. They
    stay in `sys.modules`, ``autograd`` does not: what a library imports later, inside its functions, needs a block
    again.

    Raises
    ------
    RuntimeError
        When HIPS autograd itself has been imported already: two libraries cannot have one name.

    Examples
    --------
    >>> import gradsmith as gs
    >>> with gs.compat.as_autograd():
    ...     import autograd.numpy as np
    ...     from autograd import grad
    >>> float(grad(np.sin)(0.0))
    1.0
    """

    other = _AUTOGRAD

    def _begin(self) -> None:
        _prepare()


def _prepare() -> None:
    """What libraries look at: all names of a namespace in its `__dict__`, and the module of the class of boxes."""
    importlib.import_module(f"{_OWN}.boxes").ArrayBox.__module__ = "autograd.numpy.numpy_boxes"
    for name in _LAZY:
        _fill(importlib.import_module(f"{_OWN}.{name}"))


def _fill(module: ModuleType) -> None:
    """Makes all names. What makes them goes to the class: libraries would wrap it with the rest of a namespace."""
    make = vars(module).pop("__getattr__", None)
    if make is None:
        return  # done in a block before
    vars(module).pop("__dir__")
    own = {"__getattr__": lambda self, name: make(name), "__dir__": lambda self: sorted(self.__all__)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that NumPy is about to drop
        for name in module.__all__:
            if name not in vars(module):
                setattr(module, name, make(name))
    module.__class__ = type("Namespace", (ModuleType,), own)
