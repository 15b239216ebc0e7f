"""Rules for the derivative of an op, declared in this table or in the library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..check.context import Context
from ..check.forward import expect_forward
from ..entries.declaration import Declaration
from ..formula.formula import Expr, TupleExpr
from ..model import Op, Variant
from ..spec.errors import Consequence
from .backward import BackwardBuilder


class NoRule(Exception):
    """The op has a formula that gives several gradients at once, or none at all."""


class Rules(Protocol):
    """One variant of an op, as far as a derivative through it needs to know."""

    @property
    def base(self) -> str: ...
    @property
    def arguments(self) -> tuple[str, ...]: ...
    @property
    def output(self) -> str: ...
    @property
    def ufunc(self) -> str: ...
    @property
    def is_constant(self) -> bool:
        """The entry says that no input has a gradient."""
        ...

    def is_left_out(self, parameter: str) -> bool:
        """The derivative with respect to `parameter` follows from the forward."""
        ...

    def expect_formula(self, parameter: str) -> Expr | None:
        """The gradient of a parameter; None where the entry says that there is none."""
        ...

    def forward(self) -> Expr:
        """The tree of the forward of an op whose formulas are left out."""
        ...


@dataclass(frozen=True)
class EntryRules:
    """An entry of the table at hand, which may still be wrong: `context` reports nothing."""

    declaration: Declaration
    index: int
    context: Context

    @property
    def base(self) -> str:
        return self.declaration.base

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(argument.name for argument in self.declaration.signature.arguments)

    @property
    def output(self) -> str:
        return self.declaration.signature.output_names[0]

    @property
    def ufunc(self) -> str:
        forward = self.declaration.forward
        return forward.text.strip() if forward is not None and forward.kind == "ufunc" else ""

    @property
    def is_constant(self) -> bool:
        return bool(self.declaration.nondifferentiable)

    def is_left_out(self, parameter: str) -> bool:
        return parameter in self.declaration.without_formula or not self.declaration.formulas

    def expect_formula(self, parameter: str) -> Expr | None:
        if parameter in self.declaration.non_differentiable:
            return None
        builder = BackwardBuilder(self.declaration, self.index, 0, self.context)
        for raw in self.declaration.formulas:
            if parameter in raw.inputs:
                resolved = builder.resolve(raw)
                if resolved is None:
                    raise Consequence(f"uses {self.base}, whose formula is wrong")
                return _part(resolved.expr, raw.inputs, parameter)
        raise NoRule

    def forward(self) -> Expr:
        found = expect_forward(self.declaration, self.declaration.expanded[self.index][0], self.context)
        if found is None:
            raise Consequence(f"uses {self.base}, whose forward is wrong")
        if found.formula is None:
            raise NoRule
        return found.formula.expr


@dataclass(frozen=True)
class LibraryRules:
    """An op of the library, complete and right."""

    op: Op
    variant: Variant

    @property
    def base(self) -> str:
        return self.op.base

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(argument.name for argument in self.variant.signature.arguments)

    @property
    def output(self) -> str:
        return self.variant.signature.output_names[0]

    @property
    def ufunc(self) -> str:
        return self.variant.forward.ufunc

    @property
    def is_constant(self) -> bool:
        return bool(self.op.nondifferentiable)

    def is_left_out(self, parameter: str) -> bool:
        return self.op.is_composite

    def expect_formula(self, parameter: str) -> Expr | None:
        for gradient in self.variant.backward.gradients if self.variant.backward else ():
            if parameter in gradient.inputs:
                return _part(gradient.formula.expr, gradient.inputs, parameter)
        return None

    def forward(self) -> Expr:
        if self.variant.forward.formula is None:
            raise NoRule
        return self.variant.forward.formula.expr


def _part(expr: Expr, inputs: tuple[str, ...], parameter: str) -> Expr:
    """Of a joint formula, what it gives for one parameter."""
    if len(inputs) == 1:
        return expr
    if isinstance(expr, TupleExpr):
        return expr.items[inputs.index(parameter)]
    raise NoRule
