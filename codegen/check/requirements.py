"""Conditions that the arguments of a call have to meet: ``require: {self.ndim == 2: a matrix is wanted}``."""

from __future__ import annotations

from collections.abc import Iterator

from ..entries.declaration import Declaration
from ..entries.reader import RawText
from ..formula.formula import Expr, Formula, Name
from ..formula.scope import BOOL, Scope
from ..model import Requirement
from ..spec.errors import Problem
from ..spec.schema import Signature
from .context import Context


def requirements(declaration: Declaration, signature: Signature, context: Context) -> Iterator[Requirement]:
    """Those of one variant, without the wrong ones, which have been reported."""
    for condition, message in declaration.entry.pairs.get("require", ()):
        formula = _expect_condition(condition, declaration, signature, context)
        if formula is not None:
            yield Requirement(formula, " ".join(message.text.split()).rstrip("."))


def _expect_condition(raw: RawText, declaration: Declaration, signature: Signature, context: Context) -> Formula | None:
    scope = Scope(variables={a.name: Name(a.type.plain, a.name) for a in signature.arguments})
    resolved = context.expect_expr(raw, scope, declaration.base, "required condition")
    if resolved is None:
        return None
    try:
        _verify(resolved.expr, [a.name for a in declaration.signature.arguments if a.type.union_scalar])
    except Problem as problem:
        context.error(raw, problem.offset, declaration.base, problem.problem, problem.hint)
        return None
    return Formula(raw.text, raw.position.line, raw.position.column, resolved.expr, False)


def _verify(expr: Expr, unions: list[str]) -> None:
    for part in expr.walk():
        name = getattr(part, "owner", getattr(part, "name", ""))
        if name in unions:
            raise Problem(f"required condition reads '{name}', which is a tensor in some calls and a number in others")
        if isinstance(part, Name) and part.type.is_differentiable:
            hint = "Every call asks: numbers, texts and attributes such as self.shape decide."
            raise Problem(f"required condition reads the values of '{name}'", hint=hint)
    if expr.type != BOOL:
        raise Problem(f"required condition gives {expr.type.plain}, which is no bool")
