"""Overloads that only the arguments tell apart, such as ``max(x)``, ``max(x, dim)`` and ``max(x, other)``.

The signatures are tried in order; the first that takes the arguments wins. When none does, the error lists them all.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gradsmith.runtime.tensor import TensorBase

REQUIRED: Any = object()  # default of a parameter that has none

# The same second names that plain functions take.
_SECOND_NAMES = {"axis": "dim", "keepdims": "keepdim"}


class Parameter(NamedTuple):
    name: str
    type: str  # in the words of the table: int[]?
    default: Any
    keyword_only: bool


class Overload:
    """One signature."""

    def __init__(self, text: str, parameters: tuple[tuple[str, str, Any, bool], ...]) -> None:
        self.text = text
        self.parameters = tuple(Parameter(*parameter) for parameter in parameters)
        self.names = {parameter.name for parameter in self.parameters}
        self.positional = sum(not parameter.keyword_only for parameter in self.parameters)

    def expect_bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """A value for each parameter, or None when the arguments do not fit."""
        if len(args) > self.positional or not kwargs.keys() <= self.names:
            return None
        bound = []
        for i, parameter in enumerate(self.parameters):
            if i < len(args):
                if parameter.name in kwargs:
                    return None
                value = args[i]
            else:
                value = kwargs.get(parameter.name, REQUIRED)
            if value is REQUIRED:
                value = parameter.default
                if value is REQUIRED:
                    return None
            elif not fits(value, parameter.type):
                return None
            bound.append(value)
        return tuple(bound)


class Overloads:
    """All signatures of one name."""

    def __init__(self, name: str, overloads: tuple[Overload, ...]) -> None:
        self.name = name
        self.overloads = overloads

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, tuple[Any, ...]]:
        """Number of the first signature that takes the arguments, and their values in its order.

        Raises
        ------
        TypeError
            When none does.
        """
        named = self._first_names(kwargs) if kwargs else kwargs
        for number, overload in enumerate(self.overloads):
            bound = overload.expect_bound(args, named)
            if bound is not None:
                return number, bound
        self._refuse(args, kwargs)

    def _first_names(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        renamed = {_SECOND_NAMES.get(name, name): value for name, value in kwargs.items()}
        if len(renamed) < len(kwargs):
            self._refuse((), kwargs)
        return renamed

    def _refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
        got = [type(value).__name__ for value in args]
        got += [f"{name}={type(value).__name__}" for name, value in kwargs.items()]
        candidates = "\n".join(f" * {overload.text}" for overload in self.overloads)
        raise TypeError(
            f"{self.name}() received an invalid combination of arguments - got ({', '.join(got)}), "
            f"but expected one of:\n{candidates}"
        )


def fits(value: Any, type_: str) -> bool:
    """Can a value be an argument of this type."""
    if type_.endswith("?"):
        return value is None or fits(value, type_[:-1])
    return _FITS[type_](value)


def _is_int(value: Any) -> bool:
    if type(value) is int:
        return True
    if isinstance(value, (bool, np.bool_)):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _is_number(value: Any) -> bool:
    if isinstance(value, TensorBase):
        return value.ndim == 0 and not value.requires_grad
    return isinstance(value, (int, float, complex, np.number, np.bool_))


def _is_operand(value: Any) -> bool:
    return isinstance(value, (TensorBase, int, float, complex, np.number, np.bool_, np.ndarray))


def _is_dtype(value: Any) -> bool:
    return isinstance(value, (np.dtype, str, type))


_FITS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda value: isinstance(value, TensorBase),
    "Tensor|Scalar": _is_operand,
    "Tensor[]": lambda value: isinstance(value, (list, tuple)) and all(isinstance(v, TensorBase) for v in value),
    "Scalar": _is_number,
    "int": _is_int,
    "int[]": lambda value: _is_int(value) or (isinstance(value, (list, tuple)) and all(map(_is_int, value))),
    "float": _is_number,
    "bool": lambda value: isinstance(value, (bool, np.bool_)),
    "str": lambda value: isinstance(value, str),
    "dtype": _is_dtype,
    "object": lambda value: True,
}
