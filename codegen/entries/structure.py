"""Structural rules for schemas that follow from the generated code."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..spec.errors import Collector, Problem, did_you_mean
from ..spec.reserved import derived_names, is_taken, is_taken_by_module
from ..spec.schema import Signature
from ..spec.syntax import parse
from ..spec.vocabulary import WITHOUT_EFFECT
from .reader import KEYS, RawEntry

_EXPRESSIONS = ("pointwise(", "array(", "composite(")


def verify_returns(signature: Signature) -> None:
    """An op returns a tensor, several of them, or a list of as many as there are.

    Raises
    ------
    Problem
        Without it nothing else can be said of the entry.
    """
    returns = [r.type for r in signature.returns]
    wrong = [
        t for t in returns if t.name != "Tensor" or t.union_scalar or t.optional_items or (t.optional and t.is_list)
    ]
    if wrong:
        raise Problem(f"an op cannot return {wrong[0]}", hint="It returns Tensor, Tensor[] or several things.")
    if all(t.optional for t in returns):
        raise Problem("returns nothing that is always there", hint="Of several results some may be Tensor?.")
    if any(t.optional and t.alias for t in returns):
        raise Problem("returns a view that may be absent", hint="Only values may be: Tensor?.")
    if len(returns) > 1:
        _verify_list_among(signature)
    for name in signature.output_names if len(returns) > 1 else ():
        if name.startswith("_"):
            raise Problem(f"result '{name}' begins with an underscore", hint="No field of a named tuple does.")
    for name, count in Counter(signature.output_names).items():
        if count > 1:
            hint = "Those without a name are called result0, result1 and so on."
            raise Problem(f"two results are called '{name}'", hint=hint)


def _verify_list_among(signature: Signature) -> None:
    """One of several results may be a list, whose gradients come after those of the others."""
    lists = [returned for returned in signature.returns if returned.type.is_list]
    if len(lists) > 1:
        raise Problem("returns several lists", hint="One result can be a list, others are tensors.")
    if lists and any(r.type.alias for r in signature.returns):
        raise Problem("returns views, and several things, one of them a list", hint="A view comes beside tensors.")
    if lists and not all(returned.name for returned in signature.returns):
        hint = "Formulas need names: -> (Tensor[] pieces, Tensor rest)."
        raise Problem("returns a list beside other results, without names", hint=hint)


@dataclass(frozen=True)
class StructureCheck:
    """The checks of one entry whose schema parses."""

    entry: RawEntry
    signature: Signature
    errors: Collector

    def verify(self) -> None:
        for problem, hint in self.problems():
            self.errors.add(self.entry.name.position, self.signature.base, problem, hint)

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from self.written()
        yield from self.shared()
        yield from self.names_of_keys()
        yield from self.taken_names()
        yield from self.unread()

    def written(self) -> Iterator[tuple[str, str]]:
        """An op that changes its argument has an underscore at its end, and changes and returns `self`."""
        base = self.signature.base
        written = [a.name for a in self.signature.arguments if a.type.written]
        if written and not base.endswith("_"):
            yield f"changes '{written[0]}', so its name must end in '_'", f"Call it {base}_."
        if base.endswith("_") and not written:
            yield "is called as if it changed its argument", f"Write Tensor(a!) self, or call it {base.rstrip('_')}."
        if written and "self" not in written:
            yield f"changes {', '.join(map(repr, written))}, but no 'self'", "The first that it changes is its 'self'."
        if len(written) > 1:
            yield from self.several_written(written)
        elif written and len(self.signature.returns) > 1:
            yield "changes 'self', but returns several things", "It returns the changed tensor: -> Tensor(a!)."
        elif written and not self.signature.returns[0].type.written:
            yield f"changes 'self', but returns {self.signature.returns[0].type}", "Write -> Tensor(a!)."

    def several_written(self, written: list[str]) -> Iterator[tuple[str, str]]:
        """The forward gives the values of each, so that the results are the changed arguments."""
        letters = [a.type.alias for a in self.signature.arguments if a.type.written]
        if [r.type.alias for r in self.signature.returns if r.type.written] != letters or len(
            self.signature.returns
        ) != len(letters):
            wanted = ", ".join(f"Tensor({letter}!)" for letter in letters)
            shown = ", ".join(map(repr, written))
            yield f"changes {shown}, but returns something else", f"Write -> ({wanted})."
        if (self.entry.expect_text("forward") or "").startswith("composite("):
            yield "changes several arguments by a composite", "Write array(...), with a formula for each."

    def shared(self) -> Iterator[tuple[str, str]]:
        """Memory is that of one tensor, which is there."""
        owners: dict[str, str] = {}
        for argument in self.signature.arguments:
            letter, declared = argument.type.alias, argument.type
            if letter and (declared.is_list or declared.optional or declared.union_scalar):
                yield f"'{argument.name}' is {declared}, but only a Tensor({letter}) shares its memory", ""
            if letter and owners.setdefault(letter, argument.name) != argument.name:
                yield f"'{owners[letter]}' and '{argument.name}' are both ({letter})", "Give each a letter of its own."
        shared = [r for r in self.signature.returns if r.type.alias and not r.type.written]
        if len(shared) > 1:
            yield "returns several views", "They come as a list: -> Tensor(a)[]."

    def names_of_keys(self) -> Iterator[tuple[str, str]]:
        """A formula for such an input could not be told from the key."""
        for argument in self.signature.tensor_arguments:
            if argument.name in KEYS:
                yield f"argument '{argument.name}' has the name of a key", "A formula for it could not be written."

    def taken_names(self) -> Iterator[tuple[str, str]]:
        """Names that mean something else in the generated module."""
        pointwise = (self.entry.expect_text("forward") or "").startswith("pointwise(")
        joint = any("," in key.text for key, _ in self.entry.formulas)
        derived = derived_names(self.signature)
        named = [a.name for a in self.signature.arguments] + [r.name for r in self.signature.returns if r.name]
        for name in named:
            if is_taken(name, pointwise=pointwise, joint=joint):
                yield f"'{name}' is taken: generated code means something else by it", "Choose another name."
            elif name in derived:
                yield (
                    f"'{name}' is taken: generated code calls something of '{derived[name]}' so",
                    "Choose another name.",
                )
        aliases = [alias.text for alias in self.entry.lists.get("aliases", ())]
        for name in (self.signature.base, *aliases):
            if is_taken_by_module(name):
                yield f"'{name}' is taken: the generated module needs a function of that name", "Choose another name."

    def unread(self) -> Iterator[tuple[str, str]]:
        read = self.names_read()
        if read is None:
            return
        strange = read - {a.name for a in self.signature.arguments} - {"np", "scipy"}
        for argument in self.signature.arguments:
            if argument.name in WITHOUT_EFFECT:
                continue
            misspelt = any(did_you_mean(name, [argument.name]) for name in strange)
            if argument.name not in read and not misspelt and not argument.type.written:
                yield f"argument '{argument.name}' is read by neither the forward nor a formula", ""

    def names_read(self) -> frozenset[str] | None:
        """Names in the forward, formulas and requirements; None when an error or a ufunc keeps one from telling."""
        forward = self.entry.expect_text("forward")
        if forward is None or not forward.startswith(_EXPRESSIONS) or not forward.endswith(")"):
            return None
        conditions = [text.text for text in self.entry.lists.get("output_differentiability", ())]
        named = (text.text for _, text in self.entry.pairs.get("let", ()))
        formulas = (text.text for _, text in self.entry.formulas)
        required = (condition.text for condition, _ in self.entry.pairs.get("require", ()))
        texts = [forward.partition("(")[2][:-1], *formulas, *named, *required, *conditions]
        try:
            trees = [parse(text) for text in texts]
        except Problem:
            return None
        return frozenset(n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name))
