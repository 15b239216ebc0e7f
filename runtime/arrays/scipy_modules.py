"""SciPy for the ops whose value it computes: optional, and imported when the first of them is called."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from gradsmith.runtime.arrays.array import limit_threads_of_scipy


def scipy_module(name: str, user: str, instead: str = "") -> Any:
    """A module of SciPy, which is held to the number of threads that was set before.

    Parameters
    ----------
    name : str
        Without ``scipy.``
    user : str
        What needs it, for the error.
    instead : str
        What the user can do without SciPy.
    """
    try:
        module = importlib.import_module(f"scipy.{name}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{user} needs scipy.{name}, which is not installed: pip install 'gradsmith[scipy]'{instead}",
            name=error.name,
        ) from error
    limit_threads_of_scipy()
    return module


class SciPy:
    """The name `scipy` in the forward of an op: ``scipy.special.erfinv(self)``.

    A module becomes an attribute when it is first asked for. From then on Python finds it without asking this class.
    """

    def __init__(self, op: str) -> None:
        self._op = op

    def __getattr__(self, name: str) -> PublicFunctions:
        public = PublicFunctions(scipy_module(name, f"{self._op}()"))
        setattr(self, name, public)
        return public


class PublicFunctions:
    """A module of SciPy as far as it is public: what else is in it, other modules for one, is not for tables."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name not in getattr(self._module, "__all__", ()):
            raise AttributeError(f"module '{self._module.__name__}' has no public function '{name}'")
        value = getattr(self._module, name)
        setattr(self, name, value)
        return value
