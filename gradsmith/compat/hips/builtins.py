"""Python's containers and questions of type, which take a box for the array in it."""

from __future__ import annotations

import builtins as _python
from typing import Any

from gradsmith.compat.hips.boxes import ArrayBox, getval

__all__ = ["dict", "isinstance", "list", "tuple", "type"]

dict, list, tuple = _python.dict, _python.list, _python.tuple  # boxes live in Python's own containers
isinstance_, type_, tuple_, list_, dict_ = _python.isinstance, _python.type, tuple, list, dict


def isinstance(value: Any, kinds: Any) -> bool:
    """Python's, and of a box whether its value is one."""
    return isinstance_(value, kinds) or (isinstance_(value, ArrayBox) and isinstance_(getval(value), kinds))


def type(value: Any, *more: Any) -> Any:
    """Python's, of a box that of its value."""
    return type_(value, *more) if more else type_(getval(value))
