"""Results that have a history in some calls only: a condition under `output_differentiability` says in which."""

from __future__ import annotations

from ..entries.declaration import Declaration
from ..formula.formula import Expr, Formula, Name
from ..formula.scope import BOOL, Scope
from ..spec.errors import Problem
from ..spec.schema import Signature
from .context import Context

SUBJECT = "condition of output_differentiability"


def expect_condition(declaration: Declaration, signature: Signature, context: Context) -> Formula | None:
    """The condition of one variant; None when there is none, or after an error, which has been reported."""
    raw = declaration.output_condition
    if raw is None:
        return None
    scope = Scope(variables={a.name: Name(a.type.plain, a.name) for a in signature.arguments})
    resolved = context.expect_expr(raw, scope, declaration.base, SUBJECT)
    if resolved is None:
        return None
    try:
        _verify(resolved.expr)
    except Problem as problem:
        context.error(raw, problem.offset, declaration.base, problem.problem, problem.hint)
        return None
    return Formula(raw.text, raw.position.line, raw.position.column, resolved.expr, False)


def _verify(expr: Expr) -> None:
    read = [part.name for part in expr.walk() if isinstance(part, Name) and part.type.is_differentiable]
    if read:
        hint = "Numbers, texts and attributes such as self.dtype decide, since every call asks."
        raise Problem(f"{SUBJECT} reads the values of '{read[0]}'", hint=hint)
    if expr.type != BOOL:
        raise Problem(f"{SUBJECT} gives {expr.type.plain}, which is no bool")
