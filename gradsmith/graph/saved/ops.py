"""The ops that a file may name.

An op is called by the function that Python programs call, or the method of its in-place form, which check what they are
given. Loops of gradients, draws of random numbers and masks have functions of their own.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from gradsmith.generated.op_table import OpRow
from gradsmith.graph.saved.document import Array
from gradsmith.graph.saved.entries import base_of, entries, families, family, hidden_functions, name_of
from gradsmith.graph.saved.strided import view_at, view_by_strides
from gradsmith.runtime.arrays.functions.view_geometry import Geometry
from gradsmith.runtime.history.view import view_of
from gradsmith.runtime.programs.kernels import Kernel, kernels_of
from gradsmith.runtime.programs.program import Slot, Step
from gradsmith.runtime.tensors.factories.in_traces import DRAWING, Drawn
from gradsmith.runtime.tensors.factories.random import mask
from gradsmith.version import OWN_VERSION

GRADIENT, DRAW, MASK, VIEW = "gradient ", "draw ", "draw mask", "view of memory"


@dataclass(frozen=True)
class Op:
    """One op, as a file names it.

    Attributes
    ----------
    call : callable
        From the tuple of its arguments to its results.
    meaning : str
        Stands for what its entry says; another one where that has changed.
    draws : bool
        Does it draw random numbers?
    """

    name: str
    call: Callable[[tuple[Any, ...]], Any]
    meaning: str
    draws: bool = False


@lru_cache(maxsize=4096)
def op_named(name: str) -> Op | None:
    """The op of that name, if there is one."""
    if name == MASK:
        return Op(name, lambda operands: mask(*operands, None), "1", draws=True)  # type: ignore[call-arg]
    if name == VIEW:
        return Op(name, lambda operands: view_at(*operands), "1")
    if name == "strided_view":
        return Op(name, lambda operands: view_by_strides(*operands), "1")
    if name.startswith(DRAW):
        return _draw(name)
    if name.startswith(GRADIENT):
        kernel = _kernels().get(name.removeprefix(GRADIENT))
        return None if kernel is None else _gradient(name, kernel)
    if name in entries():
        return _of_entry(name, *entries()[name])
    function = hidden_functions().get(name)
    return None if function is None else _hidden(name, function)


def named(step: Step, arrays: Sequence[Array]) -> tuple[str, tuple[Any, ...]] | None:
    """Name and arguments of what a step does, on the arrays of its slots; None where no file can say it."""
    if isinstance(step.function, Drawn):
        drawn = step.function
        return None if drawn.generator is not None else (f"{DRAW}{drawn.name}", (drawn.names, *step.operands))
    if step.function is mask:
        return None if step.operands[-1] is not None else (MASK, step.operands[:-1])
    if step.function is view_of:
        return VIEW, _view_in(arrays[step.operands[0].number], *step.operands)
    if step.function is not None:
        return None
    if (entry := name_of(step)) is not None:
        return entry, step.operands
    name = base_of(step)
    if step.loop is not None and step.loop[0] == "kernel" and name in _kernels():
        return f"{GRADIENT}{name}", (tuple(step.loop[2]), *step.operands)
    return (name, step.operands) if name in hidden_functions() and not step.writes else None


# ---- entries of the table


def _of_entry(name: str, row: OpRow, is_inplace: bool) -> Op:
    meaning = _digest(row.name, row.forward, str(row.entries))
    draws = any(argument.type.startswith("Generator") for argument in row.arguments)

    def call(operands: tuple[Any, ...]) -> Any:
        if len(operands) != len(row.arguments):
            raise TypeError(f"{name} takes {len(row.arguments)} arguments, not {len(operands)}")
        pairs = list(zip(row.arguments, operands))
        positional = [operand for argument, operand in pairs if not argument.keyword_only]
        keywords = {argument.name: operand for argument, operand in pairs if argument.keyword_only}
        return _function(row, is_inplace, positional)(*positional, **keywords)

    return Op(name, call, meaning, draws)


def _function(row: OpRow, is_inplace: bool, positional: list[Any]) -> Callable[..., Any]:
    """Its function or method; a method takes the first argument out of `positional`."""
    if not is_inplace and "function" in row.forms:
        return getattr(family(row.family), row.base)  # type: ignore[no-any-return]
    tensor, name = positional.pop(0), f"{row.base}_" if is_inplace else row.base
    return (lambda: getattr(tensor, name)) if row.forms == ("property",) else getattr(tensor, name)


def _hidden(name: str, function: Callable[..., Any]) -> Op:
    """Nothing here knows what its entry says, so that it means another thing in each version."""
    meaning = _digest(name, str(inspect.signature(function)), OWN_VERSION)
    return Op(name, lambda operands: function(*operands), meaning)


# ---- everything else


def _view_in(base: Array, tensor: Slot, dtype: Any, shape: Any, strides: Any, offset: int) -> tuple[Any, ...]:
    """Arguments of `view_at`; the real numbers that a complex one consists of are its last dimension."""
    if dtype.kind == "c" and base.dtype.kind != "c":
        places = (*shape, 2), (*strides, base.itemsize)
        return tensor, base.strides, Geometry(base.shape, base.strides, *places, offset, base.dtype, False, True)
    in_parts = base.dtype != dtype
    whole, steps = (*base.shape, 2) if in_parts else base.shape, (*base.strides, dtype.itemsize)[: base.ndim + in_parts]
    geometry = Geometry(whole, steps, tuple(shape), tuple(strides), offset, dtype, in_parts)
    return tensor, base.strides, geometry


@cache
def _kernels() -> dict[str, Kernel]:
    tables = [module.backward_kernels() for module in families() if hasattr(module, "backward_kernels")]
    return {name: kernel for table in tables for name, kernel in kernels_of(table).items()}


@cache
def _formulas() -> Any:
    text = files("gradsmith.generated").joinpath("kernel_formulas.json").read_text(encoding="utf-8")
    return json.loads(text)


def _gradient(name: str, kernel: Kernel) -> Op:
    formula = _formulas()[name.removeprefix(GRADIENT)]
    return Op(name, lambda operands: kernel(operands[1:], operands[0]), _digest(name, json.dumps(formula)))


def _draw(name: str) -> Op | None:
    function = DRAWING.get(name.removeprefix(DRAW))
    if function is None:
        return None

    def call(operands: tuple[Any, ...]) -> Any:
        names = operands[0]
        if not isinstance(names, tuple) or not all(isinstance(one, str) for one in names) or {"out"} & set(names):
            raise TypeError(f"{name}: the names of arguments are {names!r}")
        count = len(operands) - len(names)
        return function(*operands[1:count], **dict(zip(names, operands[count:])))

    return Op(name, call, "1", draws=True)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
