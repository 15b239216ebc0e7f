"""Parts of formulas that an entry names: resolved for the formula that reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..entries.lets import names_in, needed
from ..entries.reader import RawEntry, RawText
from ..formula.formula import Expr, Name
from ..formula.scope import Scope
from .context import Context

# A name that stands for itself twice, and again, makes a formula that nobody could print.
LONGEST = 3000


@dataclass(frozen=True)
class Named:
    """The names that one formula reads, in an order in which they can be computed."""

    parts: tuple[tuple[str, Expr], ...]
    missing: tuple[tuple[str, str], ...]  # and why; "" where that was reported

    def within(self, scope: Scope) -> Scope:
        if not self.parts and not self.missing:
            return scope
        return replace(scope, variables={**scope.variables, **dict(self.parts)}, missing=dict(self.missing))


def named_parts(entry: RawEntry, text: RawText, scope: Scope, context: Context, has_gradient: bool = True) -> Named:
    """The values that names in a formula stand for; `has_gradient` is false in forward formulas."""
    found: dict[str, Expr] = {}
    missing: dict[str, str] = {}
    names = {key.text for key, _ in entry.pairs.get("let", ())}
    for key, value in needed(entry, text):
        read = names_in(value)
        if not has_gradient and any(_is_gradient(name) for name in read):
            missing[key.text] = "which reads a gradient, so that no forward formula can read it"
            continue
        others = read & names - found.keys()  # those in a circle are in neither
        if others:
            missing[key.text] = next((missing[name] for name in sorted(others & missing.keys())), "")
            continue
        own = replace(scope, variables={**scope.variables, **found})
        expr = _expect_part(key, value, own, context, entry.base)
        if expr is None:
            missing[key.text] = ""
        else:
            found[key.text] = expr
    return Named(tuple(found.items()), tuple(missing.items()))


def _expect_part(key: RawText, value: RawText, scope: Scope, context: Context, op: str) -> Expr | None:
    subject = f"let '{key.text}'"
    resolved = context.expect_expr(value, scope, op, subject)
    if resolved is None:
        return None
    is_argument = isinstance(resolved.expr, Name)  # another name of one, of which formulas ask whether it is None
    if (resolved.expr.type.optional and not is_argument) or resolved.expr.type.name == "None":
        hint = "Let the formulas choose by 'is None', and name what they choose from."
        context.error(value, 0, op, f"{subject} may be None", hint)
        return None
    if _size(resolved.expr, {}) > LONGEST:
        context.error(value, 0, op, f"{subject} stands for more than {LONGEST} steps")
        return None
    return resolved.expr


def _is_gradient(name: str) -> bool:
    return name in ("grad", "grads") or name.startswith("grad_")


def _size(expr: Expr, known: dict[int, int]) -> int:
    """Steps of the tree as it would be written out; a part that stands in it twice is one object."""
    if id(expr) not in known:
        known[id(expr)] = 1 + sum(_size(child, known) for child in expr.children())
    return known[id(expr)]
