"""What HIPS programs take from the tracer: the value of a box, and whether something is one."""

from __future__ import annotations

from typing import Any

from gradsmith.compat.hips.boxes import ArrayBox, getval
from gradsmith.compat.hips.extend import notrace_primitive, primitive

__all__ = ["getval", "isbox", "notrace_primitive", "primitive"]


def isbox(value: Any) -> bool:
    """Whether a value is a box."""
    return isinstance(value, ArrayBox)
