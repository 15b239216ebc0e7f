"""SciPy for the ops whose value it computes: optional, and imported when the first of them is called."""

from __future__ import annotations

import importlib
from types import ModuleType


class SciPy:
    """The name `scipy` in the forward of an op: ``scipy.special.erfinv(self)``.

    A module becomes an attribute when it is first asked for. From then on Python finds it without asking this class.
    """

    def __init__(self, op: str) -> None:
        self._op = op

    def __getattr__(self, name: str) -> ModuleType:
        try:
            module = importlib.import_module(f"scipy.{name}")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{self._op}() needs scipy.{name}, which is not installed: pip install 'gradsmith[scipy]'",
                name=error.name,
            ) from error
        setattr(self, name, module)
        return module
