"""Generated modules that are imported when something of them is first used."""

from __future__ import annotations

import importlib
from typing import Any


class LazyModule:
    """A module as methods of Tensor see it: its functions are attributes, and the first one asked for imports it.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> LazyModule("math").gcd(4, 6)
    2
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self._name), name)
        setattr(self, name, value)  # Python finds it from now on without asking this class
        return value
