"""The gradients of an entry: which inputs and results have one, and their formulas as text."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays.ufunc_facts import why_nondifferentiable
from ..spec.errors import Collector, Position, Problem, did_you_mean, hint_from
from ..spec.schema import Argument, Return, Signature
from ..spec.syntax import parse
from ..spec.vocabulary import words
from .declaration import RawFormula, RawForward
from .reader import KEYS, RawEntry, RawText, expect_truth

NON_DIFFERENTIABLE = "non_differentiable"
INDICES = "indices"  # a result of that name has no history
FACTS = words("shape dtype device ndim")
CHOOSING_NAMES = words("index mask condition")


@dataclass(frozen=True)
class GradientReader:
    """Reads the formulas of one entry, and checks them as far as they can be without the others."""

    entry: RawEntry
    signature: Signature
    errors: Collector
    package: str  # of an external table

    def error(self, position: Position, problem: str, hint: str = "") -> None:
        self.errors.add(position, self.signature.base, problem, hint)

    def formulas(self, forward: RawForward | None) -> tuple[tuple[RawFormula, ...], frozenset[str]]:
        """Formulas, and the inputs that are said to have none."""
        found: list[RawFormula] = []
        without: set[str] = set()
        owners: dict[str, int] = {}
        for key, text in self.entry.formulas:
            if self.names_results(key):
                continue
            inputs = self.inputs(key, owners)
            if text.text == NON_DIFFERENTIABLE:
                without.update(inputs)
            elif inputs:
                found.append(RawFormula(inputs, text))
        return tuple(found), frozenset(without | self.constant(forward) - owners.keys())

    def constant(self, forward: RawForward | None) -> set[str]:
        """The tensors on which no result depends smoothly, as far as the entry need not say so.

        Those that choose elements are integers or truth values, as their names say; of others a composite op reads
        nothing but the shape or the dtype.
        """
        if self.package or "nondifferentiable" in self.entry.keys:
            return set()
        names = {a.name for a in self.signature.tensor_arguments}
        return (names & CHOOSING_NAMES) | (names & _read_for_facts(forward))

    def names_results(self, key: RawText) -> bool:
        """Is it the key of a forward formula."""
        return set(_names(key)) <= set(self.signature.output_names)

    def tangent_formulas(self) -> tuple[RawFormula, ...]:
        """Forward mode of the entry: a formula per result, or one rule for all."""
        found: list[RawFormula] = []
        owners: dict[str, int] = {}
        for key, text in self.entry.formulas:
            if self.names_results(key):
                self.verify_first(key, owners)
                found.append(RawFormula(_names(key), text, is_tangent=True))
        return tuple(found)

    def verify_first(self, key: RawText, owners: dict[str, int]) -> None:
        for name in _names(key):
            if name in owners:
                self.error(key.position, f"second forward formula for '{name}', the first is at line {owners[name]}")
            owners.setdefault(name, key.position.line)

    def inputs(self, key: RawText, owners: dict[str, int]) -> tuple[str, ...]:
        """The inputs that a key names, in its order."""
        names = _names(key)
        if any(self.why_no_input(key, name) for name in names):
            return ()
        lists = [n for n in names if len(names) > 1 and self.signature.argument(n).type.is_list]
        if lists:
            problem = f"formula for {key.text} together, but '{lists[0]}' is a list"
            self.error(key.position, problem, "A list has a formula of its own, which gives a list.")
            return ()
        for name in names:
            if name in owners:
                problem = f"second formula for '{name}', the first is at line {owners[name]}"
                self.error(key.position, problem)
            owners.setdefault(name, key.position.line)
        return names

    def why_no_input(self, key: RawText, name: str) -> bool:
        """Report a name that cannot have a gradient."""
        argument = self.signature.expect_argument(name)
        if argument is None:
            self.unknown_input(key, name)
        elif not argument.type.is_differentiable:
            problem = f"formula for '{name}', which is {argument.type}: only tensors have gradients"
            self.error(key.position, problem)
        else:
            return False
        return True

    def unknown_input(self, key: RawText, name: str) -> None:
        """Neither a key nor an argument: the nearer of the two decides what it was meant to be."""
        arguments = [a.name for a in self.signature.arguments]
        if did_you_mean(name, KEYS) and not did_you_mean(name, arguments):
            self.error(key.position, f"unknown key '{name}'", did_you_mean(name, KEYS))
            return
        hint = hint_from("Arguments", name, arguments)
        self.error(key.position, f"formula for '{name}', which is no argument", hint)

    def output_differentiability(self) -> tuple[bool, ...]:
        """For each result, is it differentiable. By default all tensors of a differentiable op are."""
        default = tuple(r.type.is_differentiable and not self.is_index(r) for r in self.signature.returns)
        texts = self.entry.lists.get("output_differentiability")
        if texts is None:
            return default
        if len(texts) != len(default):
            problem = f"output_differentiability has {len(texts)} values for {len(default)} returns"
            self.error(texts[0].position if texts else self.entry.position, problem)
            return default
        if self.output_condition():
            return default
        return tuple(self.output_truth(text) for text in texts)

    def is_index(self, returned: Return) -> bool:
        return returned.name == INDICES and not self.package

    def output_truth(self, text: RawText) -> bool:
        if text.text.lower() not in ("true", "false") and len(self.signature.returns) > 1:
            problem = f"output_differentiability has the condition '{text.text}', but the op returns several things"
            self.error(text.position, problem, "Only one result can depend on a condition. Write true or false.")
            return True
        if text.text == "false" and any(a.type.written for a in self.signature.arguments):
            hint = "Say 'self: non_differentiable' where what is written has no gradient."
            self.error(text.position, "output_differentiability is false, but the result is the changed argument", hint)
            return True
        return bool(expect_truth(text, "output_differentiability", self.signature.base, self.errors))

    def output_condition(self) -> RawText | None:
        texts = self.entry.lists.get("output_differentiability", ())
        is_condition = len(texts) == len(self.signature.returns) == 1 and texts[0].text not in ("true", "false")
        return texts[0] if is_condition else None

    def verify_gradients(
        self,
        forward: RawForward | None,
        formulas: tuple[RawFormula, ...],
        outputs: tuple[bool, ...],
    ) -> tuple[str, ...]:
        """The op has formulas, or the entry says why not. (An input without one refuses to require grad.)

        Returns the inputs whose formula is derived: those that a pointwise op has none for.
        """
        reason = self.why_no_formulas(forward, outputs)
        for formula in formulas if reason else ():
            self.error(formula.text.position, f"{formula.subject}, but {reason}")
        written = {name.strip() for key in self.entry.keys for name in key.split(",")}
        missing = [a for a in self.signature.tensor_arguments if a.name not in written | self.constant(forward)]
        # A formula for a name that does not exist was meant for one that does.
        known = {*KEYS, *self.signature.output_names}
        misnamed = any(self.signature.expect_argument(n) is None for n in written - known)
        if not missing or reason or misnamed or forward is None:
            return ()
        if forward.kind == "pointwise":
            return tuple(a.name for a in missing)
        if not formulas:
            self.missing_formulas(missing)
        return ()

    def verify_tangents(
        self,
        forward: RawForward | None,
        has_gradient: bool,
        tangents: tuple[RawFormula, ...],
        outputs: tuple[bool, ...],
    ) -> None:
        """Forward mode is said of an op that has a gradient, and of results that have one."""
        reason = self.why_no_formulas(forward, outputs) or ("" if has_gradient else "no input has a gradient")
        differentiable = {n for n, flag in zip(self.signature.output_names, outputs, strict=False) if flag}
        for tangent in tangents:
            wrong = [name for name in tangent.inputs if name not in differentiable]
            if reason:
                self.error(tangent.text.position, f"{tangent.subject}, but {reason}")
            elif wrong:
                self.error(tangent.text.position, f"{tangent.subject}, but '{wrong[0]}' is not differentiable")

    def verify_saves(self, has_gradient: bool) -> None:
        """Check that `saves` names existing values of an op with a node; `build` checks that they suffice."""
        texts = self.entry.lists.get("saves", ())
        names = [a.name for a in self.signature.tensor_arguments] + list(self.signature.output_names)
        for text in texts:
            if text.text not in names:
                hint = hint_from("Tensors", text.text, names)
                self.error(text.position, f"saves '{text.text}', which is no tensor of the op", hint)
        if texts and not has_gradient:
            self.error(texts[0].position, "saves, but no input has a gradient", "Nothing is kept then.")

    def why_no_formulas(self, forward: RawForward | None, outputs: tuple[bool, ...]) -> str:
        if forward is not None and forward.kind == "composite":
            return "a composite op takes its gradient from its parts"
        if "nondifferentiable" in self.entry.texts:
            return "the entry says 'nondifferentiable'"
        if forward is not None and why_nondifferentiable(forward.ufunc):
            return why_nondifferentiable(forward.ufunc)
        return "" if any(outputs) else "no result is differentiable"

    def missing_formulas(self, missing: Sequence[Argument]) -> None:
        names = " and ".join(f"'{a.name}'" for a in missing)
        noun = "input" if len(missing) == 1 else "inputs"
        self.error(
            self.entry.name.position,
            f"no formula for {noun} {names}",
            f"Write one, or '{missing[0].name}: {NON_DIFFERENTIABLE}', or 'nondifferentiable: why' for the whole op.",
        )


def _read_for_facts(forward: RawForward | None) -> set[str]:
    """Names that the text of a composite op has before ``.shape`` and the like, and nowhere else."""
    if forward is None or forward.kind != "composite":
        return set()
    try:
        tree = parse(forward.text)
    except Problem:
        return set()  # reported where the forward is resolved
    read = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    facts = Counter(
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in FACTS
    )
    return {name for name, count in facts.items() if count == read[name]}


def _names(key: RawText) -> tuple[str, ...]:
    """``self, other`` names two."""
    return tuple(name.strip() for name in key.text.split(","))
