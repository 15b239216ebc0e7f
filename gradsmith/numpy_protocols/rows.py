"""A row of the table: a call of NumPy's as a call of the op that computes the same.

The text of a row is that call, with NumPy's names for what it is given::

    sum(a, dim=axis, keepdim=keepdims)      where=0 initial=add

What comes by position is an operand. A name that has `None` for its value, or none at all, is left out. The words behind
the call say what is done before and after it:

    inexact      integers are computed in double precision
    promote      the operands are converted to one dtype
    flat         without an axis, the op is computed along the flattened operand
    merged       the op takes one dimension: several axes are made one
    listed       the operand is a sequence of tensors, or a tensor along whose first dimension they are
    where=x      elements that are masked out are x
    initial=op   and what is given as `initial` is combined with the result by op

`out` and `dtype` are common to all rows. Every other parameter of NumPy's is refused, by name, if it is given.
"""

from __future__ import annotations

import ast
import functools
import inspect
from typing import Any

import numpy as np

from gradsmith.numpy_protocols import composed
from gradsmith.numpy_protocols.operands import as_inexact, as_tensor, op_named, promoted, stored
from gradsmith.numpy_protocols.table import TABLE
from gradsmith.runtime.tensors.factories.python_data import is_tensor

# Of these any value that NumPy takes gives the same numbers.
_WITHOUT_EFFECT = frozenset(("subok", "casting", "overwrite_input", "optimize", "kind", "device", "assume_unique"))
_ABSENT = (None, getattr(np, "_NoValue", None))


class Row:
    """One function of NumPy's."""

    def __init__(self, name: str, func: Any, text: str) -> None:
        call, *words = text.replace("\t", " ").split("  ")
        self.name = name
        self.signature = inspect.signature(func)
        self.parameters = self.signature.parameters
        self.words = dict(word.partition("=")[::2] for part in words for word in part.split())
        tree = ast.parse(call.strip(), mode="eval").body
        self.result = tree.attr if isinstance(tree, ast.Attribute) else ""
        node: Any = tree.value if isinstance(tree, ast.Attribute) else tree
        self.is_composed = isinstance(node, ast.Name)
        path = ast.unparse(node if self.is_composed else node.func)
        self.op = getattr(composed, path) if self.is_composed else op_named(path)
        self.operands = [] if self.is_composed else [ast.unparse(value) for value in node.args]
        self.named = {} if self.is_composed else {word.arg: word.value for word in node.keywords}
        self.rest = next((p.name for p in self.parameters.values() if p.kind is p.VAR_KEYWORD), "")
        self.takes_any = any(p.kind is p.VAR_POSITIONAL for p in self.parameters.values())

    # ---- a call

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, or `out` with it."""
        if self.takes_any:
            out = kwargs.pop("out", None)
            result = self.op(*args, **_with_effect(kwargs))
        else:
            given = _with_effect(self.bound(args, kwargs))
            out = given.pop("out", None)
            result = self.op(**given) if self.is_composed else self.computed(given)
        return result if out is None else stored(self.name, result, out)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Values by the names of NumPy's parameters, without those that say nothing."""
        found = self.signature.bind(*args, **kwargs).arguments
        found.update(found.pop(self.rest, {}))
        return {name: value for name, value in found.items() if value is not self.default_of(name)}

    def default_of(self, name: str) -> Any:
        return self.parameters[name].default if name in self.parameters else inspect.Parameter.empty

    def computed(self, given: dict[str, Any]) -> Any:
        """What the op gives."""
        initial = given.pop("initial", None)
        operands = self.prepared(given)
        named = {name: self.value_of(text, given) for name, text in self.named.items()}
        used = {node.id for text in self.named.values() for node in [text] if isinstance(node, ast.Name)}
        left = [name for name in given if name not in used and name not in self.operands]
        if left:
            raise TypeError(f"np.{self.name}() of tensors takes no {', '.join(left)}")
        result = self.op(*operands, **{name: value for name, value in named.items() if value is not None})
        return self.with_initial(getattr(result, self.result) if self.result else result, initial)

    def value_of(self, node: ast.expr, given: dict[str, Any]) -> Any:
        """Of an argument of the op: NumPy's by that name, or a constant."""
        if not isinstance(node, ast.Name):
            return ast.literal_eval(node)
        if node.id in given:
            return given[node.id]
        default = self.parameters[node.id].default
        return None if any(default is none for none in (*_ABSENT, inspect.Parameter.empty)) else default

    # ---- before the op

    def prepared(self, given: dict[str, Any]) -> list[Any]:
        """The operands, as the words of the row have them."""
        dtype, where = given.pop("dtype", None), given.pop("where", None)
        operands = [self.operand(given[name]) for name in self.operands if name in given]
        if dtype is not None:
            operands = [_each(operand, lambda tensor: tensor.to(np.dtype(dtype))) for operand in operands]
        if "inexact" in self.words:
            operands = [_each(operand, as_inexact) for operand in operands]
        if "promote" in self.words:
            operands = promoted(operands)
        if where is not None and where is not True:
            operands[0] = self.masked(operands[0], where)
        if "flat" in self.words and given.get("axis", self.parameters["axis"].default) is None:
            operands[0] = _each(operands[0], lambda tensor: tensor.reshape(-1))
            given["axis"] = 0
        if "merged" in self.words and isinstance(given.get("axis"), tuple):
            operands[0] = merged(operands[0], given)
        return operands

    def operand(self, value: Any) -> Any:
        if "listed" not in self.words:
            return as_tensor(value)
        return [as_tensor(part) for part in (op_named("unbind")(value, 0) if is_tensor(value) else value)]

    def masked(self, tensor: Any, where: Any) -> Any:
        if "where" not in self.words:
            raise TypeError(f"np.{self.name}() of tensors takes no where=")
        return op_named("where")(as_tensor(where), tensor, float(self.words["where"]))

    def with_initial(self, result: Any, initial: Any) -> Any:
        if initial is None:
            return result
        if "initial" not in self.words:
            raise TypeError(f"np.{self.name}() of tensors takes no initial=")
        return op_named(self.words["initial"])(result, initial)


def merged(tensor: Any, given: dict[str, Any]) -> Any:
    """Several axes as the last one, for an op that takes one dimension."""
    axes = np.lib.array_utils.normalize_axis_tuple(given["axis"], tensor.ndim)
    if given.pop("keepdims", False):
        raise TypeError("keepdims with several axes")
    given["axis"] = -1
    kept = [dim for dim in range(tensor.ndim) if dim not in axes]
    return tensor.permute((*kept, *axes)).flatten(len(kept))


def _each(operand: Any, function: Any) -> Any:
    return list(map(function, operand)) if isinstance(operand, list) else function(operand)


def _with_effect(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}


# ---- all rows

_texts: dict[Any, tuple[str, str]] = {}


def _function_at(path: str) -> Any:
    """NumPy's function, or None where this version has none of that name."""
    found: Any = np
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


_texts.update({func: (name, text) for name, text in TABLE.items() if (func := _function_at(name)) is not None})


@functools.cache
def expect_row(func: Any) -> Row | None:
    """The row of a function of NumPy's, read when it is first called; None if there is none."""
    if func not in _texts:
        return None
    name, text = _texts[func]
    return Row(name, func, text)


def names() -> list[str]:
    """The functions that have a row."""
    return list(TABLE)
