"""Numbers that stand for sizes in PyTorch's compiler. Here all sizes are known: nothing is an instance of these."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["SymBool", "SymFloat", "SymInt"]


class _Symbol:
    def __new__(cls, *args: Any, **named: Any) -> NoReturn:
        raise TypeError(f"there are no symbolic numbers in gradsmith: {cls.__name__} is a class for isinstance only")


class SymInt(_Symbol):
    """For `isinstance` only: sizes are plain ints."""


class SymFloat(_Symbol):
    """For `isinstance` only: numbers are plain floats."""


class SymBool(_Symbol):
    """For `isinstance` only: conditions on sizes are plain bools."""
