"""Expressions as Cython text: the only place where code is put together from pieces of text.

A tree has resolved every operator and call to a C entry, so that printing decides nothing but names and parentheses.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..spec.vocabulary import RUN_FACTS
from . import formula as tree
from .formula import ATOM, BINDING, COMPARISON, CONDITIONAL, UNARY, Expr

# Attributes, read without a detour through Python.
TENSOR_ATTRIBUTES = {
    "shape": "shape_of({})",
    "dtype": "dtype_of({})",
    "device": "device_of({})",
    "ndim": "ndim_of({})",
    "numel": "numel_of({})",
    "is_complex": "is_complex({})",
    "stride": "stride_of({})",
    "storage_offset": "offset_of({})",
    "is_none": "{} is None",
}
LIST_ATTRIBUTES = {
    "shape": "shapes_of({})",
    "dtype": "dtypes_of({})",
    "count": "len({})",
    "is_none": "{} is None",
}

_PREFIX = {"neg": "-", "~": "~", "not": "not "}


@dataclass(frozen=True)
class CythonPrinter:
    """Prints an expression as calls of C entries.

    >>> CythonPrinter(names={"self": "self_"}).text(formula.expr)
    'op_mul_tensor(grad, op_conj(self_))'
    """

    names: Mapping[str, str] = field(default_factory=dict)  # local names that differ from the table's
    gradients: tuple[str, ...] = ("grad",)  # locals that hold the gradient of each output
    all_gradients: str = ""  # local with the list of all, when their number is not known
    lists: frozenset[str] = frozenset()  # names that are Tensor[]
    wanted: Mapping[str, int] = field(default_factory=dict)  # inputs of a joint formula and their edges
    saves_attributes: bool = False  # `self.shape` is a local `self_shape`: the tensor is not there

    def text(self, expr: Expr) -> str:
        return self._print(expr)[0]

    def within(self, expr: Expr, binding: int) -> str:
        """The text, in parentheses when something that binds like `binding` surrounds it."""
        text, own = self._print(expr)
        return f"({text})" if own < binding else text

    def parts(self, expr: Expr) -> str:
        """The text of several values side by side, gradients or results, which are a tuple."""
        match expr:
            case tree.TupleExpr(items=items):
                return _tuple([self.text(item) for item in items])
            case tree.Conditional(test=test, body=body, orelse=orelse, resolved=""):
                chosen = f"({self.parts(body)})" if isinstance(body, tree.Conditional) else self.parts(body)
                return f"{chosen} if {self.within(test, CONDITIONAL + 1)} else {self.parts(orelse)}"
        return self.text(expr)

    def arguments(self, exprs: tuple[Expr, ...]) -> str:
        return ", ".join(map(self.text, exprs))

    def _print(self, expr: Expr) -> tuple[str, int]:
        """Text, and how tightly its outermost operator binds."""
        match expr:
            case tree.Name(name=name):
                return self.names.get(name, name), ATOM
            case tree.Variable(name=name):
                return name, ATOM
            case tree.Gradient(index=index):
                return self.gradients[index], ATOM
            case tree.Gradients():
                return self.all_gradients or f"[{', '.join(self.gradients)}]", ATOM
            case tree.IsUndefined(index=index, optional=True):
                return f"{self.gradients[index]} is None", COMPARISON
            case tree.IsUndefined(index=index):
                return f"grads[{index}] == NULL", COMPARISON
            case tree.IsWanted(input=name):  # an input that is a number here has no edge
                return f"wants(wanted, {self.wanted[name]})" if name in self.wanted else "False", ATOM
            case tree.RunFact(fact=fact):
                return RUN_FACTS[fact], ATOM
            case tree.Literal():
                return self._literal(expr)
            case tree.Attribute(owner=owner, attribute=attribute):
                if self.saves_attributes:
                    return expr.saved_name, ATOM
                name = self.names.get(owner, owner)
                return attribute_text(name, attribute, of_list=owner in self.lists), _attribute_binding(attribute)
            case tree.AttributeOf(value=value, attribute=attribute):
                text = attribute_text(self.text(value), attribute, of_list=value.type.is_tensor_list)
                return text, _attribute_binding(attribute)
            case tree.Call(c_entry=c_entry, arguments=arguments):
                return f"{c_entry}({self.arguments(arguments)})", ATOM
            case tree.Operator():
                return self._operator(expr)
            case tree.Conditional():
                return self._conditional(expr)
            case tree.Subscript(value=value, index=tree.Slice() as index):
                return f"{self.within(value, ATOM)}[{self.text(index)}]", ATOM
            case tree.Subscript(value=value, index=index):
                # Not `value[index]`: compiled without bounds checks, that would read anywhere.
                return f"item_of({self.text(value)}, {self.text(index)})", ATOM
            case tree.Slice(start=start, stop=stop, step=step):
                ends = ["" if end is None else self.text(end) for end in (start, stop)]
                return ":".join([*ends, *([self.text(step)] if step else [])]), CONDITIONAL
            case tree.Index(items=items):
                return f"np.s_[{self.arguments(items)}]", ATOM
            case tree.TupleExpr(items=items) if expr.type.is_tensor_list:  # what takes one is declared `list`
                return f"[{self.arguments(items)}]", ATOM
            case tree.TupleExpr(items=items):
                return _tuple([self.text(item) for item in items]), ATOM
            case tree.Comprehension():
                return self._comprehension(expr), ATOM
        raise TypeError(f"no Cython text for {type(expr).__name__}")

    def _literal(self, literal: tree.Literal) -> tuple[str, int]:
        value = literal.value
        if literal.type.is_tensor_list and value == ():
            return "[]", ATOM
        if literal.type.name == "dtype" and isinstance(value, str):
            return f'np.dtype("{value}")', ATOM
        return literal_text(value), UNARY if _is_negative(value) else ATOM

    def _operator(self, operator: tree.Operator) -> tuple[str, int]:
        if operator.resolved:
            return f"{operator.resolved}({self.arguments(operator.resolved_arguments)})", ATOM
        symbol, operands = operator.symbol, operator.operands
        binding = BINDING[symbol]
        match operands:
            case (tree.Operator(symbol="is", operands=(value, none)),) if symbol == "not":
                return f"{self.within(value, COMPARISON + 1)} is not {self.text(none)}", COMPARISON
        if len(operands) == 1:
            return f"{_PREFIX[symbol]}{self.within(operands[0], binding)}", binding
        if symbol == "**":  # binds to the right, and tighter than a sign on its left
            return f"{self.within(operands[0], ATOM)} ** {self.within(operands[1], UNARY)}", binding
        if operator.type.is_tensor_list:
            operands = tuple(map(_as_list, operands))
        # A chain of comparisons would mean something else without parentheses.
        left = binding + 1 if binding == COMPARISON else binding
        texts = [self._numerator(operator) or self.within(operands[0], left)]
        texts += [self.within(operand, binding + 1) for operand in operands[1:]]
        return f" {symbol} ".join(texts), binding

    def _numerator(self, operator: tree.Operator) -> str:
        """The dividend, as a float where both are integers: C would divide these as integers."""
        numerator, *others = operator.operands
        if operator.symbol != "/" or any(o.type.name not in ("int", "bool") for o in (numerator, *others)):
            return ""
        if isinstance(numerator, tree.Literal):
            return literal_text(float(numerator.value))  # type: ignore[arg-type]
        return f"<double>{self.within(numerator, UNARY + 1)}"

    def _conditional(self, expr: tree.Conditional) -> tuple[str, int]:
        if expr.resolved:
            return f"{expr.resolved}({self.arguments(expr.resolved_arguments)})", ATOM
        parts = [self.within(part, CONDITIONAL + 1) for part in (expr.body, expr.test)]
        return f"{parts[0]} if {parts[1]} else {self.text(expr.orelse)}", CONDITIONAL

    def _comprehension(self, expr: tree.Comprehension) -> str:
        """Lists of tensors are lists, all others tuples, as they are where they are written out."""
        text = f"[{self.text(expr.item)} {' '.join(map(self._loop, expr.loops))}]"
        return text if expr.type.is_tensor_list else f"tuple({text})"

    def _loop(self, loop: tree.Loop) -> str:
        tests = (f" if {self.within(test, CONDITIONAL + 1)}" for test in loop.tests)
        return f"for {self._target(loop.target)} in {self.within(loop.source, CONDITIONAL + 1)}{''.join(tests)}"

    def _target(self, target: Expr) -> str:
        """``i, (a, b)``: a tuple in parentheses unless it is the whole."""
        if not isinstance(target, tree.TupleExpr):
            return self.text(target)
        items = (f"({self._target(t)})" if isinstance(t, tree.TupleExpr) else self._target(t) for t in target.items)
        return ", ".join(items) + ("," if len(target.items) == 1 else "")


def _as_list(operand: Expr) -> Expr:
    """Several results of one op are a tuple, to which no list can be added."""
    return (
        tree.Call(operand.type, "list", "list", "builtins", (operand,)) if isinstance(operand, tree.Call) else operand
    )


def attribute_text(owner: str, attribute: str, *, of_list: bool) -> str:
    """An attribute of a tensor, or of a list of tensors, that is at hand."""
    texts = LIST_ATTRIBUTES if of_list else TENSOR_ATTRIBUTES
    return texts[attribute].format(owner)


def _attribute_binding(attribute: str) -> int:
    return COMPARISON if attribute == "is_none" else ATOM


def literal_text(value: object) -> str:
    """Python text of a constant; infinities and NaN have no literal of their own."""
    if isinstance(value, tuple):
        return _tuple([literal_text(item) for item in value])
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _is_negative(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0


def array_text(expression: str, replacements: Mapping[str, str]) -> str:
    """An ``array(...)`` expression with names replaced, its spacing kept.

    >>> array_text("np.flip(self, dims)", {"self": "array_of(self)"})
    'np.flip(array_of(self), dims)'
    """
    data = expression.encode()  # ast counts columns in bytes
    names = [n for n in ast.walk(ast.parse(expression, mode="eval")) if isinstance(n, ast.Name)]
    for name in sorted(names, key=lambda n: n.col_offset, reverse=True):
        replacement = replacements.get(name.id, name.id).encode()
        data = data[: name.col_offset] + replacement + data[name.col_offset + len(name.id) :]
    return data.decode()
