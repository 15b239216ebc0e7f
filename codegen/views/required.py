"""The conditions that a call has to meet, as generated code asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from ..formula.formula import BINDING, Attribute, Expr, Name, Slice, Subscript
from ..formula.printing import CythonPrinter, attribute_text, literal_text
from ..model import Op, Requirement, Variant
from .model import Required, tuple_text


def required_view(op: Op, variant: Variant) -> Iterator[Required]:
    lists = frozenset(a.name for a in variant.signature.arguments if a.type.is_tensor_list)
    printer = CythonPrinter(lists=lists)
    for requirement in variant.requirements:
        condition = printer.within(requirement.condition.expr, BINDING["not"] + 1)
        yield Required(condition, _message(op, variant, requirement), _indexes(requirement.condition.expr))


def _indexes(condition: Expr) -> bool:
    return any(isinstance(part, Subscript) and not isinstance(part.index, Slice) for part in condition.walk())


def _message(op: Op, variant: Variant, requirement: Requirement) -> str:
    """The requirement in words, and the values that its condition has read."""
    parts = [p for p in requirement.condition.expr.walk() if isinstance(p, Name | Attribute)]
    shown = dict.fromkeys(_found(part, variant) for part in parts if getattr(part, "attribute", "") != "is_none")
    wanted = f"{op.spoken}(): {requirement.message}".replace("%", "%%")
    if not shown:
        return literal_text(wanted.replace("%%", "%"))
    got = " and ".join(f"{name} = %r" for name, _ in shown)
    return f"{literal_text(f'{wanted}, but got {got}')} % {tuple_text(value for _, value in shown)}"


def _found(part: Expr, variant: Variant) -> tuple[str, str]:
    """How the author writes a value, and its text."""
    if not isinstance(part, Attribute):
        assert isinstance(part, Name)
        return part.name, part.name
    type_ = variant.signature.argument(part.owner).type
    text = attribute_text(part.owner, part.attribute, of_list=type_.is_tensor_list)
    name = f"len({part.owner})" if part.attribute == "count" else f"{part.owner}.{part.attribute}"
    return name, f"None if {part.owner} is None else {text}" if type_.optional else text
