"""SciPy's `linalg` for arrays and boxes; what has no derivative here is SciPy's own, of arrays."""

import importlib
from typing import Any

import gradsmith.scipy.linalg as _ours
from gradsmith.compat.hips.extend import primitive as _primitive
from gradsmith.compat.hips.scipy.functions import namespace as _namespace

__all__ = list(_ours.__all__)
_found = _namespace(_ours, globals())


def __getattr__(name: str) -> Any:
    if name in __all__ or name.startswith("_"):
        return _found(name)
    try:
        own = getattr(importlib.import_module("scipy.linalg"), name)
    except ImportError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; with SciPy installed it may") from None
    # Of a box it can be computed too: as there, an error comes when its derivative is wanted.
    value = globals()[name] = own if isinstance(own, type) or not callable(own) else _primitive(own)
    return value
