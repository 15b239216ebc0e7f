"""Numbers that stand for sizes in PyTorch's compiler, and functions of them.

Here all sizes are known: nothing is an instance of these classes, and the functions are those of plain numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NoReturn

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum",
]  # fmt: skip


class _Symbol:
    def __new__(cls, *args: Any, **named: Any) -> NoReturn:
        raise TypeError(f"there are no symbolic numbers in gradsmith: {cls.__name__} is a class for isinstance only")


class SymInt(_Symbol):
    """For `isinstance` only: sizes are plain ints."""


class SymFloat(_Symbol):
    """For `isinstance` only: numbers are plain floats."""


class SymBool(_Symbol):
    """For `isinstance` only: conditions on sizes are plain bools."""


def sym_int(a: Any) -> int:
    """A number as an int, towards zero."""
    found: int = math.trunc(a)
    return found


def sym_float(a: Any) -> float:
    """A number as a float."""
    return float(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger number, a float if one of them is."""
    return type(a + b)(max(a, b))


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number, a float if one of them is."""
    return type(a + b)(min(a, b))


def sym_not(a: Any) -> bool:
    """Whether something is false."""
    return not a


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """One of two values."""
    return t if b else f


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return sum(args)
