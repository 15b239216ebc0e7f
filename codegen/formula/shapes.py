"""Shapes inside formulas, as far as they can be told before the op is called.

A shape is known as the set of tensors whose shapes broadcast to it (`Like`), or not at all (None). Nothing in the set
is a tensor without dimensions. That is little, but enough to find what must fail: the gradient of a sum that nobody
expanded, a gradient that forgot `grad`, a reduction along `dim` whose formula does not ask which dimension it was.
"""

from __future__ import annotations

from dataclasses import dataclass

from .callees import Callees
from .formula import Attribute, Call, Conditional, Expr, Gradient, Gradients, Name, Operator
from .reductions import Reduction

Like = frozenset[str]
NO_DIMENSIONS: Like = frozenset()
RESULT = "the result"


@dataclass(frozen=True)
class ShapeCheck:
    """Known shapes of one op."""

    is_elementwise: bool
    reduction: Reduction | None
    outputs: tuple[str, ...]
    callees: Callees

    def why_no_gradient(self, formula: Expr, name: str) -> str:
        """Why a formula cannot be the gradient of an input, or ""."""
        if _is_nothing(formula):
            return ""
        if not _reads_gradient(formula):
            return "does not read the gradient of a result, though it is linear in it"
        shape = self.shape(formula)
        if self.is_elementwise and shape == NO_DIMENSIONS:
            return f"gives a gradient without dimensions, but that of '{name}' has those of the result"
        if self.reduction is None:
            return ""
        if not self.reduction.dim and shape is not None and shape <= {RESULT}:
            return f"gives a gradient without dimensions, as the result has; expand it to {name}.shape"
        if self.reduction.dim and not _reads(formula, self.reduction.dim):
            dim = self.reduction.dim
            return f"does not read '{dim}', which says where the result's dimensions are in those of '{name}'"
        return ""

    def shape(self, expr: Expr) -> Like | None:
        if expr.type.is_number:
            return NO_DIMENSIONS
        match expr:
            case Gradient():
                return frozenset({RESULT})
            case Name(name=name) if expr.type.is_tensor:
                return frozenset({RESULT if name in self.outputs else name})
            case Operator(resolved=entry, resolved_arguments=arguments):
                return self.shape_of_call(entry, arguments)
            case Call(c_entry=entry, arguments=arguments):
                return self.shape_of_call(entry, arguments)
            case Conditional(body=body, orelse=orelse):
                shapes = (self.shape(body), self.shape(orelse))
                return shapes[0] if shapes[0] == shapes[1] else None
        return None

    def shape_of_call(self, entry: str, arguments: tuple[Expr, ...]) -> Like | None:
        callee = self.callees.expect_entry(entry)
        if callee is None:
            return None
        if callee.is_elementwise:
            return self.joined(arguments)
        return NO_DIMENSIONS if callee.reduction is not None and not callee.reduction.dim else None

    def joined(self, parts: tuple[Expr, ...]) -> Like | None:
        """The shape that tensors and numbers broadcast to."""
        found: Like = NO_DIMENSIONS
        for shape in map(self.shape, parts):
            if shape is None:
                return None
            found |= shape
        return found


def _reads_gradient(formula: Expr) -> bool:
    return any(isinstance(part, Gradient | Gradients) for part in formula.walk())


def _reads(formula: Expr, name: str) -> bool:
    return any(isinstance(part, Name | Attribute) and getattr(part, "name", "") == name for part in formula.walk())


def _is_nothing(formula: Expr) -> bool:
    """No gradient, or one that is always zero or an error."""
    match formula:
        case Conditional(body=body, orelse=orelse):
            return _is_nothing(body) and _is_nothing(orelse)
        case Call(function=function):
            return function in ("zeros_like", "not_implemented")
    return formula.type.name == "None"
