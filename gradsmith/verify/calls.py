"""The ways to call an op of the table."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import gradsmith as gs
from gradsmith.codegen.spec.names import namespace_of

from .seeds import seeded

if TYPE_CHECKING:
    from types import ModuleType

    from gradsmith.generated.op_table import OpRow

    from .samples import Values


def call(row: OpRow, values: Values, module: ModuleType = gs) -> Any:
    """Call the op by its first form; an op that changes its input is called on a clone."""
    if row.base.endswith("_"):
        clones = {name: values[name].clone() for name in changed_by(row)}
        return call_in_place(row, {**values, **clones}, module)
    if row.forms[0] == "function":
        return call_function(row, values, module=module)
    return call_method(row, values) if row.forms[0] == "method" else call_property(row, values)


def changed_by(row: OpRow) -> list[str]:
    """The arguments that the op itself changes."""
    return [argument.name for argument in row.arguments if "!" in argument.type]


def call_in_place(row: OpRow, values: Values, module: ModuleType = gs) -> Any:
    """Call an op that changes its input, or the in-place form of another."""
    if row.base.endswith("_") and "method" not in row.forms:
        return call_function(row, values, module=module)
    return call_method(row, values, name=row.base if row.base.endswith("_") else f"{row.base}_")


def call_function(row: OpRow, values: Values, name: str | None = None, module: ModuleType = gs, **more: Any) -> Any:
    positional, keywords = split_arguments(row, values)
    return function_of(row, name, module)(*positional, **keywords, **more)


def function_of(row: OpRow, name: str | None = None, module: ModuleType = gs) -> Any:
    """The package exports it, or only the module of its family knows it."""
    if "internal" in row.forms or (module is gs and namespace_of(name or row.base)):
        package = gs.generated if module is gs else module
        module = importlib.import_module(f"{package.__name__}.{row.family}")
    return getattr(module, name or row.base)


def call_method(row: OpRow, values: Values, name: str | None = None, **more: Any) -> Any:
    positional, keywords = split_arguments(row, {key: value for key, value in values.items() if key != "self"})
    return getattr(values["self"], name or row.base)(*positional, **keywords, **more)


def call_property(row: OpRow, values: Values) -> Any:
    return getattr(values["self"], row.base)


def split_arguments(row: OpRow, values: Values) -> tuple[list[Any], Values]:
    """Positional as far as no argument is left out, by keyword from there on."""
    values = seeded(values)
    positional: list[Any] = []
    keywords: Values = {}
    left_out = False
    for argument in row.arguments:
        if argument.name not in values:
            left_out = left_out or argument.name != "self"
        elif left_out or argument.keyword_only:
            keywords[argument.name] = values[argument.name]
        else:
            positional.append(values[argument.name])
    return positional, keywords


def as_out(tensors: list[Any]) -> Any:
    """Value for ``out=``: a tensor for a single result, a tuple for several."""
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


class Results(list[Any]):
    """The tensors that a call gives: those of a list one by one, and none for a result that is absent."""

    def __init__(self, parts: Iterable[Any], outputs: Iterable[int]) -> None:
        super().__init__(parts)
        self.outputs = tuple(outputs)  # which of the op's results each of them is, or belongs to

    def made(self, function: Callable[[Any], Any]) -> Results:
        """The same with another value for each."""
        return Results(map(function, self), self.outputs)


def outputs_of(result: Any, types: Sequence[str] = ()) -> Results:
    """A call's results; `types` are given where they are not all tensors that are always there."""
    if not isinstance(result, (tuple, list)):
        return Results([result], [0])
    if not types:
        return Results(result, range(len(result)))
    found = [
        (part, number)
        for number, (whole, type_) in enumerate(zip(result, types, strict=True))
        for part in (() if whole is None else whole if "[]" in type_ else (whole,))
    ]
    return Results([part for part, _ in found], [number for _, number in found])
