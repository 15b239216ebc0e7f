"""What libraries take to make primitives of a namespace; the names of `gradsmith.compat.hips.numpy` are here too."""

from __future__ import annotations

import inspect
from collections.abc import MutableMapping
from typing import Any

import numpy as _numpy

from gradsmith.compat.hips import numpy as _space
from gradsmith.compat.hips.extend import primitive

__all__ = ["wrap_intdtype", "wrap_namespace", *_space.__all__]


def wrap_namespace(old: MutableMapping[str, Any], new: MutableMapping[str, Any]) -> None:
    """Put the functions of a namespace, as primitives without rules, into another one, and its numbers and types.

    >>> import math
    >>> from gradsmith.compat.hips import grad
    >>> from gradsmith.compat.hips.extend import defvjp
    >>> from gradsmith.compat.hips.numpy.numpy_wrapper import wrap_namespace
    >>> ours = {}
    >>> wrap_namespace(vars(math), ours)
    >>> defvjp(ours["erf"], lambda ans, x: lambda g: g * 2 / math.sqrt(math.pi) * ours["exp"](-x * x))
    >>> round(float(grad(ours["erf"])(0.0)), 4)
    1.1284
    """
    for name, value in list(old.items()):
        if name.startswith("__"):
            continue
        if isinstance(value, _numpy.ufunc) or inspect.isroutine(value):
            new[name] = primitive(value)
        elif value is None or isinstance(value, (type, int, float)):
            new[name] = value


def wrap_intdtype(cls: type) -> type:
    """An integer type as it is: values of integers have no derivatives anyway."""
    return cls


def __getattr__(name: str) -> Any:
    return getattr(_space, name)
