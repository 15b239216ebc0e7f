"""A row of the table: a call of NumPy's as a call of the op that computes the same.

The text of a row is that call, with NumPy's names for what it is given::

    sum(a, dim=axis, keepdim=keepdims)  reduced

What comes by position is an operand. A name that has `None` for its value, or none at all, is left out. The words
behind the call, after two spaces, say what is done before and after it:

    inexact      integers are computed in double precision
    promote      the operands are converted to one dtype
    flat         without an axis, the op is computed along the flattened operand
    merged       the op takes one dimension: several axes are made one
    listed       the operand is a sequence of tensors, or a tensor along whose first dimension they are
    between      of the methods to go between two elements, the op knows the five oldest
    reduced      no axes at all, `axis=()`, are none for NumPy and all of them for the op, which is not called then

`out` is common to all rows. Where any other parameter of NumPy's is given, such as `dtype` or `where`, or the op
raises, the function of the same name of `gradsmith.numpy` computes the result or raises NumPy's error; if there is
none, what the op does not take is refused by name.

A row that is a name alone is a function of `composed`, which takes what NumPy's function takes.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import gradsmith.numpy as gnp
from gradsmith.numpy.table import place_of
from gradsmith.numpy_protocols import composed
from gradsmith.numpy_protocols.composed.operands import as_inexact, as_tensor, op_named, promoted, stored
from gradsmith.numpy_protocols.errors import Refused, by_namespace
from gradsmith.numpy_protocols.signatures import signature_of
from gradsmith.numpy_protocols.table import TABLE
from gradsmith.runtime.tensors.factories.python_data import is_tensor

# Of these any value that NumPy takes gives the same numbers.
_WITHOUT_EFFECT = frozenset(
    ("subok", "casting", "overwrite_input", "optimize", "kind", "device", "assume_unique", "writeable")
)
_OF_ALL_ROWS = frozenset(("out",))
_FIVE = ("linear", "lower", "higher", "midpoint", "nearest")
_NO_VALUE = getattr(np, "_NoValue", None)
_NOTHING = (None, _NO_VALUE)


class Parameters:
    """What a function of NumPy's takes. Binding by `inspect` takes ten times as long, and is left to the errors."""

    def __init__(self, func: Any) -> None:
        self.signature = signature_of(func)
        parameters = self.signature.parameters.values()
        self.positional = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
        self.named = frozenset(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
        self.defaults = {p.name: p.default for p in parameters}
        self.required = frozenset(name for name in self.positional if self.defaults[name] is inspect.Parameter.empty)
        self.takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        self.takes_any_name = any(p.kind is p.VAR_KEYWORD for p in parameters)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Values by the names of NumPy's parameters, without those that are the defaults."""
        found = dict(zip(self.positional, args))
        unknown = not self.takes_any_name and not kwargs.keys() <= self.named
        if len(args) > len(self.positional) or unknown or found.keys() & kwargs.keys():
            self.signature.bind(*args, **kwargs)  # which raises
        found.update(kwargs)
        if not found.keys() >= self.required:
            self.signature.bind(*args, **kwargs)
        return {name: value for name, value in found.items() if value is not self.defaults.get(name, found)}

    def shared_with(self, function: Callable[..., Any]) -> tuple[str, ...]:
        """The first parameters by position that `function` has too, with the same meaning when they are left out."""
        found: list[str] = []
        for name, own in zip(self.positional, inspect.signature(function).parameters.values()):
            if own.name != name or own.default is not self.defaults[name] or own.kind is own.VAR_POSITIONAL:
                break
            found.append(name)
        return tuple(found)

    def value_left_out(self, name: str) -> Any:
        """The default, if it says anything."""
        default = self.defaults[name]
        return None if any(default is nothing for nothing in (*_NOTHING, inspect.Parameter.empty)) else default


def make_row(name: str, func: Any, text: str) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    """The call of a row: it takes the arguments of NumPy's function."""
    call, *words = text.split("  ")
    tree = ast.parse(call.strip(), mode="eval").body
    if isinstance(tree, ast.Name):
        return ComposedRow(name, Parameters(func), getattr(composed, tree.id)).call
    return Row(
        name, Parameters(func), tree, dict(word.partition("=")[::2] for part in words for word in part.split())
    ).call


class ComposedRow:
    """A function that is called with what NumPy's is called with, except `out`."""

    def __init__(self, name: str, parameters: Parameters, function: Callable[..., Any]) -> None:
        self.name, self.parameters, self.function = name, parameters, function
        shared = () if parameters.takes_any else parameters.shared_with(function)
        self.most_shared, self.shared = len(shared), frozenset(shared)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, or `out` with it."""
        try:
            return self.called(args, kwargs)
        except Exception as error:
            return by_namespace(self.name, _function_at(self.name), args, kwargs, error)

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the function of `composed` gives."""
        if len(args) <= self.most_shared and (not kwargs or kwargs.keys() <= self.shared):
            return self.function(*args, **kwargs)
        if self.parameters.takes_any:
            given = dict(kwargs)
        else:
            args, given = (), self.parameters.bound(args, kwargs)
        out = given.pop("out", None)
        result = self.function(*args, **{name: value for name, value in given.items() if name not in _WITHOUT_EFFECT})
        return result if out is None else stored(self.name, result, out)


class Row:
    """A function that is one op."""

    def __init__(self, name: str, parameters: Parameters, tree: ast.expr, words: dict[str, str]) -> None:
        self.name, self.parameters, self.words = name, parameters, words
        self.result = tree.attr if isinstance(tree, ast.Attribute) else ""
        node: Any = tree.value if isinstance(tree, ast.Attribute) else tree
        self.op = op_named(ast.unparse(node.func))
        self.operands = [value.id for value in node.args]
        self.constants = {w.arg: ast.literal_eval(w.value) for w in node.keywords if not isinstance(w.value, ast.Name)}
        self.named = {w.arg: w.value.id for w in node.keywords if isinstance(w.value, ast.Name)}
        self.usual = {arg: parameters.value_left_out(source) for arg, source in self.named.items()}
        self.known = frozenset((*self.operands, *self.named.values()))
        self.is_reduced = "reduced" in words
        self.is_plain = not words.keys() - {"reduced"}
        self.left_out = {**self.constants, **_without_none(self.usual)}
        self.argument_of = {source: argument for argument, source in self.named.items()}
        self.most_direct = self.count_direct()
        self.takes_one = bool(self.most_direct) and len(self.operands) == 1

    def count_direct(self) -> int:
        """How many arguments by position the op can have as they are; 0 where something is done before or after it."""
        count, positional = len(self.operands), self.parameters.positional
        if not self.is_plain or self.result or self.operands != list(positional[:count]):
            return 0
        for name in positional[count:]:
            if name not in self.argument_of:
                break
            count += 1
        return count

    # ---- a call

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result, or `out` with it."""
        try:
            if not kwargs and self.takes_one and len(args) == 1 and is_tensor(args[0]):
                return self.op(args[0], **self.left_out)
            if len(self.operands) <= len(args) <= self.most_direct and kwargs.keys() <= self.argument_of.keys():
                return self.direct(args, kwargs)
            return self.bound(args, kwargs)
        except Exception as error:
            return by_namespace(self.name, _function_at(self.name), args, kwargs, error)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of which NumPy's parameters say what is what."""
        given = self.parameters.bound(args, kwargs)
        if given.keys() <= self.known:
            return self.computed(given)
        others = {name: given.pop(name) for name in tuple(given) if name in _OF_ALL_ROWS or name in _WITHOUT_EFFECT}
        if not given.keys() <= self.known:
            raise Refused(f"np.{self.name}() of tensors takes no {', '.join(sorted(given.keys() - self.known))}")
        out = others.get("out")
        result = self.computed(given)
        return result if out is None else stored(self.name, result, out)

    def direct(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The usual call, operands and what the op has a name for. NumPy itself has bound the arguments by now."""
        count = len(self.operands)
        named = self.left_out.copy()
        for name, value in (*zip(self.parameters.positional[count:], args[count:]), *kwargs.items()):
            if value is None or value is _NO_VALUE:
                named.pop(self.argument_of[name], None)
            elif self.is_reduced and type(value) is tuple and not value:
                raise Refused(f"np.{self.name}() of tensors takes an axis")
            else:
                named[self.argument_of[name]] = value
        return self.op(*map(self.operand, args[:count]), **named)

    def computed(self, given: dict[str, Any]) -> Any:
        """What the op gives."""
        operands = [self.operand(given[name]) for name in self.operands]
        if self.is_reduced and type(given.get("axis")) is tuple and not given["axis"]:
            raise Refused(f"np.{self.name}() of tensors takes an axis")
        if not self.is_plain:
            operands = self.prepared(operands, given)
        named = dict(self.constants)
        for argument, source in self.named.items():
            value = given.get(source, self.usual[argument])
            if value is not None:
                named[argument] = value
        result = self.op(*operands, **named)
        return getattr(result, self.result) if self.result else result

    # ---- before the op

    def operand(self, value: Any) -> Any:
        if is_tensor(value) and "listed" not in self.words:
            return value
        if "listed" not in self.words:
            return as_tensor(value)
        return [as_tensor(part) for part in (op_named("unbind")(value, 0) if is_tensor(value) else value)]

    def prepared(self, operands: list[Any], given: dict[str, Any]) -> list[Any]:
        """The operands as the words of the row have them."""
        if "between" in self.words and given.get("method", "linear") not in _FIVE:
            raise Refused(f"np.{self.name}() of tensors takes method= {', '.join(_FIVE)}")
        if "inexact" in self.words:
            operands = _each(operands, as_inexact)
        if "promote" in self.words:
            operands = promoted(operands)
        if "flat" in self.words and given.get("axis", self.parameters.defaults["axis"]) is None:
            operands[0] = operands[0].reshape(-1)
            given["axis"] = 0
        if "merged" in self.words and isinstance(given.get("axis"), tuple):
            operands[0] = self.merged(operands[0], given)
        return operands

    def merged(self, tensor: Any, given: dict[str, Any]) -> Any:
        """Several axes as the last one, for an op that takes one dimension."""
        axes = np.lib.array_utils.normalize_axis_tuple(given["axis"], tensor.ndim)
        if given.pop("keepdims", False):
            raise Refused(f"np.{self.name}() of tensors takes keepdims with one axis, or with none")
        given["axis"] = -1
        kept = [dim for dim in range(tensor.ndim) if dim not in axes]
        return tensor.permute((*kept, *axes)).flatten(len(kept))


def _without_none(named: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}


def _each(operands: list[Any], function: Callable[[Any], Any]) -> list[Any]:
    return [list(map(function, one)) if isinstance(one, list) else function(one) for one in operands]


# ---- all rows


def _function_at(path: str) -> Any:
    """NumPy's function, or None where this version has none of that name."""
    found: Any = np
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


_TEXTS = {func: (name, text) for name, text in TABLE.items() if (func := _function_at(name)) is not None}


@functools.cache
def expect_row(func: Any) -> Callable[[tuple[Any, ...], dict[str, Any]], Any] | None:
    """The row of a function of NumPy's, read when it is first called; None if there is none."""
    return make_row(_TEXTS[func][0], func, _TEXTS[func][1]) if func in _TEXTS else None


def expect_function(func: Any) -> Callable[..., Any] | None:
    """The function that `gradsmith.numpy` composes of ops under the name of NumPy's; None if there is none."""
    name = getattr(func, "__name__", "")
    if getattr(np, name, None) is not func or not place_of(name):
        return None
    return getattr(gnp, name)  # type: ignore[no-any-return]


def names() -> list[str]:
    """The functions that have a row."""
    return list(TABLE)
