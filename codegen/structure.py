"""What a schema may not say, or must, because of what is generated from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import Collector, Problem, did_you_mean
from .reader import KEYS, RawEntry
from .schema import Signature
from .syntax import parse
from .taken_names import derived_names, is_taken, is_taken_by_module

_EXPRESSIONS = ("pointwise(", "array(", "composite(")


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
        yield from self.views()
        yield from self.names_of_keys()
        yield from self.taken_names()
        yield from self.unread()

    def written(self) -> Iterator[tuple[str, str]]:
        """An op that changes its argument has an underscore at its end, and changes `self`."""
        base = self.signature.base
        written = [a.name for a in self.signature.arguments if a.type.written]
        if written and not base.endswith("_"):
            yield f"changes '{written[0]}', so its name must end in '_'", f"Call it {base}_."
        if base.endswith("_") and not written:
            yield "is called as if it changed its argument", f"Write Tensor(a!) self, or call it {base.rstrip('_')}."
        if written and written != ["self"]:
            yield f"changes {', '.join(map(repr, written))}; an op changes its 'self' and nothing else", ""
        if written and len(self.signature.returns) > 1:
            yield "changes 'self', but returns several things", "It returns the changed tensor: -> Tensor(a!)."

    def views(self) -> Iterator[tuple[str, str]]:
        shared = [r for r in self.signature.returns if r.type.alias and not r.type.written]
        if shared and len(self.signature.returns) > 1:
            yield "returns several things, one of them a view", "Several views come as a list: -> Tensor(a)[]."

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
            misspelt = any(did_you_mean(name, [argument.name]) for name in strange)
            if argument.name not in read and not misspelt and not argument.type.written:
                yield f"argument '{argument.name}' is read by neither the forward nor a formula", ""

    def names_read(self) -> frozenset[str] | None:
        """Names in the forward and in the formulas; None when a mistake or a ufunc keeps one from telling."""
        forward = self.entry.expect_text("forward")
        if forward is None or not forward.startswith(_EXPRESSIONS) or not forward.endswith(")"):
            return None
        conditions = [text.text for text in self.entry.lists.get("output_differentiability", ())]
        texts = [forward.partition("(")[2][:-1], *(text.text for _, text in self.entry.formulas), *conditions]
        try:
            trees = [parse(text) for text in texts]
        except Problem:
            return None
        return frozenset(n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name))
