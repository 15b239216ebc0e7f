"""A distribution whose functions take arrays and boxes."""

from __future__ import annotations

import importlib
from typing import Any

from gradsmith.compat.hips.scipy.functions import of_arrays


class Distribution:
    """The functions of one of `gradsmith.stats`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ours = getattr(importlib.import_module("gradsmith.stats"), name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.ours, name)
        return of_arrays(found) if callable(found) else found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return of_arrays(self.ours)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<distribution {self.name} of arrays and boxes>"


def function_of(distribution: str, name: str) -> Any:
    """A function of a distribution, for the module of its name."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(Distribution(distribution), name)
