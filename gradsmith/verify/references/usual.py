"""The reference of an entry that writes none, which follows from its name, its other names or its formula."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.codegen.arrays.python_names import NUMPY_NAMES
from gradsmith.codegen.spec.vocabulary import ARRAY_BUILTINS
from gradsmith.generated.op_table import OPS

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

SCIPY_SPECIAL = frozenset({"erf", "erfc", "logsumexp"})  # whose functions serve as references by their own names

# Functions of Python that a forward may call, and that are not the names of ops, which references know by them.
_PYTHON = ARRAY_BUILTINS - {row.base for row in OPS}

# PyTorch's arguments as keywords of NumPy's functions; others keep their places.
_NUMPY_ARGUMENTS = {
    "dim": "axis=dim",
    "keepdim": "keepdims=keepdim",
    "correction": "ddof=correction",
    "dtype": "dtype=dtype",
}


def usual_reference(row: OpRow, functions: Collection[str]) -> str:
    """``np.tanh(self)``, or "" when nothing of the entry says what to compare with.

    In this order: a function with the op's name; the ufunc whose inner loop the op uses; the formula, evaluated by
    NumPy. The last two are taken from the forward itself: they check the compiled code, but not the forward.
    """
    kind, _, text = row.forward.partition("(")
    text = text.removesuffix(")")
    by_name = reference_by_name(row, functions)
    if by_name:
        return by_name
    if kind == "ufunc":
        return f"np.{text}({', '.join(a.name for a in row.arguments)})"
    if not (kind in ("pointwise", "composite") or called_names(text) <= _PYTHON):
        return ""
    # A value that is written into a tensor fills it.
    return f"np.broadcast_to({text}, self.shape)" if row.base.endswith("_") and len(row.returns) == 1 else text


def reference_by_name(row: OpRow, functions: Collection[str]) -> str:
    """One of `functions`, which are definitions, or a function of NumPy or SciPy of one of the op's names, or ""."""
    own = function_name(row)
    if own in functions:
        return f"{own}({', '.join(a.name for a in row.arguments)})"
    return next(filter(None, (_of_a_library(row, name) for name in (row.base, *row.aliases))), "")


def function_name(row: OpRow) -> str:
    """``split.sizes`` -> ``split_sizes``."""
    return f"{row.base}_{row.overload}" if row.overload else row.base


def _of_a_library(row: OpRow, name: str) -> str:
    """``np.sum(self, axis=axes(dim), keepdims=keepdim, dtype=dtype)``."""
    arguments = [_NUMPY_ARGUMENTS.get(a.name, a.name) for a in row.arguments]
    listed = {a.name for a in row.arguments if "[]" in a.type}
    arguments = ["axis=axes(dim)" if text == "axis=dim" and "dim" in listed else text for text in arguments]
    if name in NUMPY_NAMES and hasattr(np, name):
        is_other = row.overload and sum("=" not in text for text in arguments) > 1  # NumPy has one function for all
        return "" if is_other else f"np.{name}({', '.join(arguments)})"
    return f"scipy.special.{name}({', '.join(arguments)})" if name in SCIPY_SPECIAL else ""


def called_names(text: str) -> frozenset[str]:
    """The functions that a reference calls by bare names; none where there is no reference."""
    if not text:
        return frozenset()
    calls = (node.func for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Call))
    return frozenset(function.id for function in calls if isinstance(function, ast.Name))


class ReferenceOf:
    """An op as a function of arrays: that of the overload which takes the arguments, by its reference.

    No op takes an iterator, so that ``sum(x[k] for k in range(3))`` means Python's function.
    """

    def __init__(self, rows: Collection[OpRow], evaluate: Callable[[OpRow, Mapping[str, Any]], Any]) -> None:
        self.rows = rows
        self.evaluate = evaluate

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if arguments and isinstance(arguments[0], Iterator):
            return getattr(builtins, next(iter(self.rows)).base)(*arguments, **named)
        for row in self.rows:
            try:
                bound = _signature_of(row).bind(*arguments, **named)
            except TypeError:
                continue
            return self.evaluate(row, bound.arguments)
        raise TypeError(f"no overload of {next(iter(self.rows)).base} takes these arguments")


def _signature_of(row: OpRow) -> inspect.Signature:
    """The call that the schema describes; arguments after a star are passed by name."""
    star = re.search(r"\*, (.*)\) ->", row.name)
    by_name = len(star[1].split(", ")) if star else 0
    places = len(row.arguments) - by_name
    kinds = [inspect.Parameter.POSITIONAL_OR_KEYWORD] * places + [inspect.Parameter.KEYWORD_ONLY] * by_name
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(a.name, kind, default=empty if a.default is None else ast.literal_eval(a.default))
            for a, kind in zip(row.arguments, kinds)
        ]
    )
