"""The value of a formula, computed step by step by gradsmith's own ops: what the compiled formula has to give too."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.codegen.formula import formula as tree
from gradsmith.codegen.formula.formula import Expr

from .functions import Functions, NotEvaluable

_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "is": operator.is_, "is not": operator.is_not,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_UNARY: Mapping[str, Callable[[Any], Any]] = {"neg": operator.neg, "~": operator.invert, "not": operator.not_}

_ATTRIBUTES: Mapping[str, Callable[[Any], Any]] = {
    "shape": lambda x: tuple(x.shape),
    "dtype": lambda x: x.dtype,
    "device": lambda x: x.device,
    "ndim": lambda x: x.ndim,
    "numel": lambda x: x.numel(),
    "is_complex": lambda x: x.is_complex(),
    "stride": lambda x: tuple(x.stride()),
    "storage_offset": lambda x: x.storage_offset(),
    "is_none": lambda x: x is None,
}


@dataclass
class Trace:
    """Which ways the choices of formulas took: choice, by identity -> outcomes of its test."""

    outcomes: dict[int, set[bool]] = field(default_factory=dict)

    def note(self, choice: Expr, *found: bool) -> None:
        self.outcomes.setdefault(id(choice), set()).update(found)

    def of(self, choice: Expr) -> set[bool]:
        return self.outcomes.get(id(choice), set())


@dataclass(frozen=True)
class Surroundings:
    """The names of a formula, and what the run of the engine would tell it."""

    names: Mapping[str, Any]
    gradients: Sequence[Any] = ()
    results: Sequence[Any] = ()  # of which an undefined gradient has the shape
    list_start: int = 0  # of the gradients of a list beside other results
    wanted: frozenset[str] | None = None  # None for all
    trace: Trace | None = None


@dataclass(frozen=True)
class Evaluator:
    """Evaluates the formulas of a table."""

    functions: Functions

    def value(self, expr: Expr, around: Surroundings) -> Any:
        match expr:
            case tree.Name(name=name):
                return around.names[name]
            case tree.Gradient(index=index):
                gradient = around.gradients[index]
                if gradient is None and expr.type.optional:
                    return None
                return gs.zeros_like(around.results[index]) if gradient is None else gradient
            case tree.Gradients():
                return list(around.gradients[around.list_start :])
            case tree.Literal(value=value):
                return np.dtype(value) if expr.type.name == "dtype" and isinstance(value, str) else value
            case tree.Call(function=function, c_entry=c_entry, arguments=arguments):
                return self._called(expr, c_entry or function, arguments, around)
            case tree.Operator(resolved=resolved, resolved_arguments=arguments) if resolved:
                return self._called(expr, resolved, arguments, around)
            case tree.Operator():
                return self._operated(expr, around)
            case tree.Attribute(owner=owner, attribute=attribute):
                return attribute_of(around.names[owner], attribute)
            case tree.AttributeOf(value=value, attribute=attribute):
                return attribute_of(self.value(value, around), attribute)
            case tree.Conditional():
                return self._chosen(expr, around)
            case tree.TupleExpr(items=items):
                found = [self.value(item, around) for item in items]
                return found if expr.type.is_tensor_list else tuple(found)
        return self._rare(expr, around)

    def _rare(self, expr: Expr, around: Surroundings) -> Any:
        match expr:
            case tree.Subscript(value=value, index=index):
                return self.value(value, around)[self.value(index, around)]
            case tree.Slice(start=start, stop=stop, step=step):
                return slice(*(None if end is None else self.value(end, around) for end in (start, stop, step)))
            case tree.Index(items=items):
                return tuple(self.value(item, around) for item in items)
            case tree.Variable(name=name):
                return around.names[name]
            case tree.Comprehension(item=item, loops=loops):
                found = [self.value(item, inside) for inside in self._rounds(loops, around)]
                return found if expr.type.is_tensor_list else tuple(found)
            case tree.IsUndefined(index=index):
                return self._noted(expr, around.gradients[index] is None, around)
            case tree.IsWanted(input=name):
                return self._noted(expr, around.wanted is None or name in around.wanted, around)
            case tree.RunFact(fact=fact):
                return gs.is_grad_enabled() if fact == "is_grad_enabled" else False
        raise NotEvaluable(f"a formula has a step {type(expr).__name__}")

    def _rounds(self, loops: Sequence[tree.Loop], around: Surroundings) -> Iterator[Surroundings]:
        """The surroundings of the item of a comprehension, each time that it is computed."""
        if not loops:
            yield around
            return
        for value in self.value(loops[0].source, around):
            inside = replace(around, names={**around.names, **_bound(loops[0].target, value)})
            if all(self._noted(test, bool(self.value(test, inside)), around) for test in loops[0].tests):
                yield from self._rounds(loops[1:], inside)

    @staticmethod
    def _noted(expr: Expr, found: bool, around: Surroundings) -> bool:
        if around.trace is not None:
            around.trace.note(expr, found)
        return found

    def _called(self, expr: Expr, entry: str, arguments: Sequence[Expr], around: Surroundings) -> Any:
        given = [self.value(argument, around) for argument in arguments]
        if around.trace is not None and is_where(expr) and isinstance(given[0], gs.Tensor):
            around.trace.note(expr, *np.unique(given[0].detach().numpy().astype(bool)).tolist())
        return self.functions.of(entry)(given)

    def _operated(self, expr: tree.Operator, around: Surroundings) -> Any:
        symbol, operands = expr.symbol, expr.operands
        first = self.value(operands[0], around)
        if symbol in ("and", "or"):
            decides = bool(first) is (symbol == "or")
            return first if decides else self.value(operands[1], around)
        if len(operands) == 1:
            return _UNARY[symbol](first)
        return _BINARY[symbol](first, self.value(operands[1], around))

    def _chosen(self, expr: tree.Conditional, around: Surroundings) -> Any:
        if expr.is_elementwise:
            return self._called(expr, expr.resolved, expr.resolved_arguments, around)
        test = self._noted(expr, bool(self.value(expr.test, around)), around)
        if expr.resolved:  # makes a tensor of a chosen number
            return self._called(expr, expr.resolved, expr.resolved_arguments, around)
        return self.value(expr.body if test else expr.orelse, around)


def _bound(target: Expr, value: Any) -> dict[str, Any]:
    """The variables of a loop and their values."""
    if isinstance(target, tree.TupleExpr):
        return {k: v for part, item in zip(target.items, value) for k, v in _bound(part, item).items()}
    assert isinstance(target, tree.Variable)
    return {target.name: value}


def attribute_of(value: Any, attribute: str) -> Any:
    """The same of each tensor of a list."""
    if attribute == "count":
        return len(value)
    if isinstance(value, (list, tuple)) and attribute != "is_none":
        return [_ATTRIBUTES[attribute](part) for part in value]
    return _ATTRIBUTES[attribute](value)


def is_where(expr: Expr) -> bool:
    """Does a step choose element by element."""
    match expr:
        case tree.Call(function="where"):
            return True
        case tree.Conditional():
            return expr.is_elementwise
    return False
