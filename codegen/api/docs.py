"""Documentation of the public functions, in numpydoc form, from what the table says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..model import Op
from ..spec.schema import Argument
from ..spec.schema_types import Type

# Meaning of the table's words to a caller.
TYPE_WORDS = {
    "Tensor": "Tensor", "Tensor|Scalar": "Tensor or number", "Tensor[]": "sequence of Tensor",
    "Scalar": "number", "int": "int", "int[]": "int or sequence of int", "float": "float", "bool": "bool",
    "str": "str", "dtype": "dtype", "device": "device or str", "Generator": "Generator", "object": "object",
    "Tensor?[]": "sequence of Tensor or None", "float[]": "sequence of float", "bool[]": "sequence of bool",
    "Scalar[]": "sequence of numbers", "str[]": "sequence of str",
}  # fmt: skip

# Parameters that mean the same wherever they occur; runtime/calls/docstrings.pyx says so in docstrings.
PARAMETER_TEXTS = {
    "dim": "Dimension to work along; negative ones count from the end.",
    "keepdim": "Keep the reduced dimensions with size one.",
    "dtype": "Dtype of the result; the input is converted to it first.",
    "device": "Where the result is to be.",
    "axis": "Another name of `dim`.",
    "keepdims": "Another name of `keepdim`.",
}


@dataclass(frozen=True)
class DocItem:
    name: str
    type: str
    text: str


@dataclass(frozen=True)
class OverloadDoc:
    name: str  # max.dim
    schema: str
    text: str
    gradients: tuple[str, ...]


@dataclass(frozen=True)
class Doc:
    """One docstring, in which each overload is described beside its schema."""

    summary: str
    overloads: tuple[OverloadDoc, ...]
    parameters: tuple[DocItem, ...]
    returns: tuple[DocItem, ...]
    raises: tuple[str, ...]  # types of exceptions, see docstrings.pyx

    @property
    def is_overloaded(self) -> bool:
        return len(self.overloads) > 1

    @property
    def lines(self) -> tuple[str, ...]:
        """The text, without what runtime/calls/docstrings.pyx adds: Note [Short sections]."""
        return (self.summary, "", *self._schemas(), *self._sections())

    def _schemas(self) -> Iterator[str]:
        for overload in self.overloads:
            yield f"``{overload.schema}``"
            if self.is_overloaded:
                yield f"    {overload.text}"

    def _sections(self) -> Iterator[str]:
        if self.parameters:
            yield from ("", "Parameters:", *_item_lines(self.parameters))
        if self.returns != USUAL_RETURNS:
            yield from ("", "Returns:", *_item_lines(self.returns))
        if self.raises != USUAL_RAISES:
            yield from ("", f"Raises: {', '.join(self.raises)}")
        if any(overload.gradients for overload in self.overloads):
            yield from ("", "Gradients:", *self._gradients())

    def _gradients(self) -> Iterator[str]:
        """Formulas as the table writes them, by overload where there are several."""
        for overload in self.overloads:
            if overload.gradients and self.is_overloaded:
                yield f"    {overload.name}"
            indent = "        " if self.is_overloaded else "    "
            yield from (f"{indent}{line}" for line in overload.gradients)


USUAL_RETURNS = (DocItem("", "Tensor", ""),)
USUAL_RAISES = ("TypeError",)


def _item_lines(items: tuple[DocItem, ...]) -> Iterator[str]:
    for item in items:
        yield f"{item.name} : {item.type}" if item.name else item.type
        if item.text != PARAMETER_TEXTS.get(item.name, ""):
            yield f"    {item.text}"


def make_doc(ops: tuple[Op, ...], parameters: list[str], *, remark: str = "", shares: bool = True) -> Doc:
    """Document the entries of one base together; `parameters` are those of the face, in order.

    `remark` is what the form of the face adds, or the whole summary of one in place; `shares`: a result may be the view
    that the entry declares.
    """
    first = ops[0]
    return Doc(
        summary=remark if remark.startswith("In-place") else f"{_sentence(first.doc)} {remark}".rstrip(),
        overloads=tuple(map(_overload, ops)),
        parameters=tuple(_parameter(ops, name) for name in parameters),
        returns=_all_returns(ops, shares),
        raises=tuple(dict.fromkeys(item for op in ops for item in _raises(op))),
    )


def _overload(op: Op) -> OverloadDoc:
    return OverloadDoc(_key(op), op.name, _sentence(op.doc), tuple(dict.fromkeys(_gradients(op))))


def _key(op: Op) -> str:
    """``max.dim``, of the schema."""
    return op.name.partition("(")[0]


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _parameter(ops: tuple[Op, ...], name: str) -> DocItem:
    if name == "out":
        return _out(ops[-1])
    if name == "inplace":
        return DocItem("inplace", "bool, default False", "Write the result into the input.")
    own = {"input": "self", "axis": "dim", "keepdims": "keepdim"}.get(name, name)
    argument = next((a for op in ops for a in op.signature.arguments if a.name in (name, own)), None)
    assert argument is not None, name
    words = _type_words(argument)
    if name in ("axis", "keepdims"):
        words = words.partition(", ")[0] + ", optional"
    return DocItem(name, words, PARAMETER_TEXTS.get(name, ""))


def _out(op: Op) -> DocItem:
    names = op.signature.output_names
    if len(names) == 1:
        return DocItem("out", "Tensor, optional", "")
    return DocItem("out", f"tuple of {len(names)} Tensor, optional", f"Receives the results: {', '.join(names)}.")


def _type_words(argument: Argument) -> str:
    type_ = argument.type
    words = TYPE_WORDS[str(replace(type_.plain.required, length=0))]
    if type_.length:
        words = (
            f"{type_.length} {words.removeprefix('int or sequence of ').removeprefix('sequence of ')}, or one for all"
        )
    if argument.default not in (None, "None"):
        return f"{words}, default {argument.default}"
    return f"{words}, optional" if type_.optional or argument.default else words


def _all_returns(ops: tuple[Op, ...], shares: bool) -> tuple[DocItem, ...]:
    """Of the first overload, and of the others what they return otherwise."""
    items = {(item.name, item.type): item for item in _returns(ops[0], shares)}
    for op in ops[1:]:
        for item in _returns(op, shares):
            items.setdefault((item.name, item.type), replace(item, text=item.text or f"Of ``{_key(op)}``."))
    return tuple(items.values())


def _returns(op: Op, shares: bool) -> list[DocItem]:
    if op.signature.returns_list:
        return [DocItem("", "tuple of Tensor", "")]
    if len(op.signature.returns) == 1:
        text = f"A view of `{_shared(op)}` where possible." if op.is_view and shares else ""
        return [DocItem("", "Tensor", text)]
    named = zip(op.signature.output_names, op.signature.returns, strict=True)
    return [DocItem(name, _returned_words(returned.type), "") for name, returned in named]


def _returned_words(type_: Type) -> str:
    if type_.is_list:
        return "tuple of Tensor"
    return "Tensor or None" if type_.optional else "Tensor"


def _shared(op: Op) -> str:
    alias = op.signature.returns[0].type.alias
    name = next(a.name for a in op.signature.arguments if a.type.alias == alias)
    return "input" if name == "self" else name


def _raises(op: Op) -> list[str]:
    raises = ["TypeError"]
    if sum(a.type.is_tensor for a in op.signature.arguments) > 1:
        raises.append("RuntimeError")
    if op.needs_scipy:
        raises.append("ModuleNotFoundError")
    return raises


def _gradients(op: Op) -> list[str]:
    """The formulas as the table writes them; variants of one entry share them."""
    lines = [f"{name} = {text}" for name, text in op.lets]
    for variant in op.variants:
        for gradient in variant.backward.gradients if variant.backward else ():
            names = ", ".join("input" if name == "self" else name for name in gradient.inputs)
            lines.append(f"{names}: {' '.join(gradient.formula.text.split())}")
    return [*lines, *(f"result: {text}" for text in tangent_texts(op))]


def tangent_texts(op: Op) -> tuple[str, ...]:
    """Forward mode in words of the table: a formula, or the rule that was derived."""
    return tuple(dict.fromkeys(v.tangents.text for v in op.variants if v.tangents))
