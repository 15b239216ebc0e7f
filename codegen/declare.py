"""What an entry says apart from its formulas: signature, faces, samples. First pass of the build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from .callees import OUTSIDE, TREE, entry_name, expand, intrinsics
from .errors import Collector, Position, Problem, did_you_mean, hint_from
from .model import FORMS, ForwardKind, Op, Policy, Variant
from .policy import PolicyReader
from .python_text import verify_names
from .reader import KEYS, Pairs, RawEntry, RawText
from .reductions import Reduction, expect_reduction
from .schema import Argument, Signature
from .structure import StructureCheck
from .vocabulary import OPERATORS, SAMPLE_NAMES

FORWARD_KINDS: tuple[str, ...] = get_args(ForwardKind)
NON_DIFFERENTIABLE = "non_differentiable"


@dataclass(frozen=True)
class RawFormula:
    """A formula as the entry writes it: ``self, other: f(grad)``, or ``result: f(self_t)`` for forward mode."""

    inputs: tuple[str, ...]  # results, in forward mode
    text: RawText
    is_tangent: bool = False
    is_derived: bool = False  # nobody wrote it: see derive.py

    @property
    def subject(self) -> str:
        """How messages call it."""
        names = " and ".join(repr(name) for name in self.inputs)
        if self.is_derived:
            return f"derived formula for {names}, '{self.text.text}',"
        return f"{'forward ' if self.is_tangent else ''}formula for {names}"


@dataclass(frozen=True)
class RawForward:
    """``kind(text)``; `start` is where `text` begins in `raw`."""

    kind: ForwardKind
    raw: RawText
    start: int
    text: str


@dataclass(frozen=True)
class Declaration:
    """An entry whose schema parses. The rest may still be wrong: errors know."""

    entry: RawEntry
    signature: Signature
    expanded: tuple[tuple[Signature, tuple[str, ...]], ...]  # variants, kinds of their unions
    forward: RawForward | None
    formulas: tuple[RawFormula, ...]
    tangent_formulas: tuple[RawFormula, ...]  # forward mode, as far as the entry says it
    non_differentiable: frozenset[str]  # inputs that the entry says have no gradient
    without_formula: tuple[str, ...]  # inputs whose formulas are to be derived
    output_differentiability: tuple[bool, ...]
    output_condition: RawText | None  # of the only result: when it has a history
    forms: frozenset[str]
    supports_complex: bool
    samples: tuple[dict[str, str], ...] = field(hash=False)
    policy: Policy
    package: str = ""  # of a table outside the tree
    saving: str = ""  # why the node keeps what it keeps, where there was a choice

    @property
    def base(self) -> str:
        return self.signature.base

    @property
    def position(self) -> Position:
        return self.entry.name.position

    @property
    def nondifferentiable(self) -> str:
        return self.entry.expect_text("nondifferentiable") or ""

    @property
    def has_node(self) -> bool:
        return bool(self.formulas)

    @property
    def is_elementwise(self) -> bool:
        """Do all tensors broadcast to the shape of the result, and is there nothing else to it."""
        kind = self.forward.kind if self.forward else ""
        return kind in ("ufunc", "pointwise") or self.is_intrinsic

    @property
    def is_intrinsic(self) -> bool:
        """Does the emitter of loops know it by name."""
        return self.base in intrinsics() and not self.package

    @property
    def module(self) -> str:
        """What formulas that call the op keep of where it is."""
        return f"{self.package}.{self.entry.family}" if self.package else self.entry.family

    @property
    def reduction(self) -> Reduction | None:
        """What the forward reduces, as far as its text tells."""
        forward = self.forward
        return expect_reduction(forward.text) if forward is not None and forward.kind == "array" else None

    @property
    def camel_case(self) -> str:
        """``log_softmax`` -> ``LogSoftmax``; an op that changes its argument is named as without."""
        parts = self.base.strip("_").split("_")
        name = "".join(part[:1].upper() + part[1:] for part in parts)
        return name.removesuffix("Forward")  # the node of conv_forward is ConvBackward

    @property
    def operators(self) -> tuple[tuple[str, str], ...]:
        return tuple((method.text, kind.text) for kind, method in self.entry.operators)

    @property
    def aliases(self) -> tuple[RawText, ...]:
        return self.entry.lists.get("aliases", ())

    @property
    def c_entries(self) -> tuple[str, ...]:
        prefix = OUTSIDE if self.package else TREE
        return tuple(prefix + entry_name(s, *kinds) for s, kinds in self.expanded)

    def scalar_positions(self, index: int) -> tuple[str, ...]:
        """Union arguments that are numbers in this variant."""
        unions = (a.name for a in self.signature.arguments if a.type.union_scalar)
        kinds = self.expanded[index][1]
        return tuple(name for name, kind in zip(unions, kinds, strict=True) if kind == "scalar")

    def op(self, variants: tuple[Variant, ...]) -> Op:
        return Op(
            family=self.entry.family,
            line=self.position.line,
            name=str(self.signature),
            base=self.base,
            overload=self.signature.overload,
            signature=self.signature,
            variants=variants,
            forms=self.forms,
            operators=self.operators,
            variadic=self.entry.expect_text("variadic"),
            aliases=tuple(alias.text for alias in self.aliases),
            samples=self.samples,
            doc=self.entry.expect_text("doc") or "",
            supports_complex=self.supports_complex,
            nondifferentiable=self.nondifferentiable,
            non_differentiable=tuple(a.name for a in self.signature.arguments if a.name in self.non_differentiable),
            output_differentiability=self.output_differentiability,
            policy=self.policy,
        )


def declare(entry: RawEntry, errors: Collector, package: str = "") -> Declaration | None:
    """Understand an entry as far as it can be without the others; None when its schema is wrong."""
    try:
        signature = Signature.parse(entry.name.text)
    except Problem as problem:
        position = entry.name.position_of(problem.offset)
        errors.add(position, entry.base, f"schema: {problem.problem}", problem.hint)
        return None
    return _Declarer(entry, signature, errors, package).declaration()


class _Declarer:
    """Checks one entry key by key."""

    def __init__(self, entry: RawEntry, signature: Signature, errors: Collector, package: str) -> None:
        self.entry = entry
        self.signature = signature
        self.errors = errors
        self.package = package

    def declaration(self) -> Declaration:
        formulas, non_differentiable = self.formulas()
        tangent_formulas = self.tangent_formulas()
        forward = self.forward()
        outputs = self.output_differentiability()
        missing = self.verify_gradients(forward, formulas, outputs)
        self.verify_tangents(forward, bool(formulas or missing), tangent_formulas, outputs)
        self.verify_faces()
        StructureCheck(self.entry, self.signature, self.errors).verify()
        return Declaration(
            entry=self.entry,
            signature=self.signature,
            expanded=tuple(expand(self.signature)),
            forward=forward,
            formulas=formulas,
            tangent_formulas=tangent_formulas,
            non_differentiable=non_differentiable,
            without_formula=missing,
            output_differentiability=outputs,
            output_condition=self.output_condition(),
            forms=self.forms(),
            supports_complex=self.flag("complex", default=True),
            samples=self.samples(),
            policy=PolicyReader(self.entry, self.signature, self.errors).policy(),
            package=self.package,
        )

    def error(self, position: Position, problem: str, hint: str = "") -> None:
        self.errors.add(position, self.signature.base, problem, hint)

    # -- forward

    def forward(self) -> RawForward | None:
        raw = self.entry.texts.get("forward")
        if raw is None:
            if "forward" not in self.entry.keys:
                self.error(self.entry.name.position, "has no 'forward'", self.kinds_hint())
            return None
        kind, bracket, rest = raw.text.partition("(")
        if not bracket or not rest.endswith(")") or not kind.strip().isidentifier():
            problem = f"forward is '{raw.text}', which is no kind(expression)"
            self.error(raw.position, problem, self.kinds_hint())
            return None
        if kind.strip() not in FORWARD_KINDS:
            hint = hint_from("Kinds", kind.strip(), FORWARD_KINDS)
            self.error(raw.position, f"unknown kind of forward '{kind.strip()}'", hint)
            return None
        known = cast("ForwardKind", kind.strip())
        return RawForward(known, raw, len(kind) + 1, rest[:-1])

    @staticmethod
    def kinds_hint() -> str:
        return f"Kinds: {', '.join(f'{kind}(...)' for kind in FORWARD_KINDS)}."

    # -- gradients

    def formulas(self) -> tuple[tuple[RawFormula, ...], frozenset[str]]:
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
        return tuple(found), frozenset(without)

    def names_results(self, key: RawText) -> bool:
        """Is it the key of a forward formula."""
        return set(_names(key)) <= set(self.signature.output_names)

    def tangent_formulas(self) -> tuple[RawFormula, ...]:
        """What the entry says of forward mode: a formula per result, or one rule for all."""
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
        """Which results have a history. By default all tensors of an op that is differentiable."""
        default = tuple(r.type.is_differentiable for r in self.signature.returns)
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

    def output_truth(self, text: RawText) -> bool:
        if text.text not in ("true", "false") and len(self.signature.returns) > 1:
            problem = f"output_differentiability has the condition '{text.text}', but the op returns several things"
            self.error(text.position, problem, "Only one result can depend on a condition. Write true or false.")
            return True
        if text.text == "false" and any(a.type.written for a in self.signature.arguments):
            hint = "Say 'self: non_differentiable' where what is written has no gradient."
            self.error(text.position, "output_differentiability is false, but the result is the changed argument", hint)
            return True
        return self.truth(text, "output_differentiability", False)

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
        self.verify_one_list(formulas)
        written = {name.strip() for key in self.entry.keys for name in key.split(",")}
        missing = [a for a in self.signature.tensor_arguments if a.name not in written]
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

    def verify_one_list(self, formulas: tuple[RawFormula, ...]) -> None:
        """A list has an edge for each of its tensors, after all others: there is one such place."""
        lists = [f for f in formulas for name in f.inputs if self.signature.argument(name).type.is_list]
        for formula in lists[1:]:
            problem = f"{formula.subject}, a list, but {lists[0].subject.removeprefix('formula for ')} is one too"
            self.error(formula.text.position, problem, "One list of an op can have gradients.")

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

    def why_no_formulas(self, forward: RawForward | None, outputs: tuple[bool, ...]) -> str:
        if forward is not None and forward.kind == "composite":
            return "a composite op takes its gradient from its parts"
        if "nondifferentiable" in self.entry.texts:
            return "the entry says 'nondifferentiable'"
        return "" if any(outputs) else "no result is differentiable"

    def missing_formulas(self, missing: Sequence[Argument]) -> None:
        names = " and ".join(f"'{a.name}'" for a in missing)
        noun = "input" if len(missing) == 1 else "inputs"
        self.error(
            self.entry.name.position,
            f"no formula for {noun} {names}",
            f"Write one, or '{missing[0].name}: {NON_DIFFERENTIABLE}', or 'nondifferentiable: why' for the whole op.",
        )

    # -- faces

    def forms(self) -> frozenset[str]:
        texts = self.entry.lists.get("variants")
        if texts is None:
            possible = {"function", "method"} - ({"method"} if self.why_not("method") else set())
            return frozenset(possible)
        return frozenset(text.text for text in texts if text.text in FORMS)

    def verify_faces(self) -> None:
        for text in self.entry.lists.get("variants", ()):
            self.verify_form(text)
        for kind, method in self.entry.operators:
            self.verify_operator(kind, method)
        for alias in self.entry.lists.get("aliases", ()):
            if not alias.text.isidentifier():
                self.error(alias.position, f"alias '{alias.text}' is no name")
        self.verify_variadic()
        if "doc" not in self.entry.texts:
            self.error(self.entry.name.position, "has no 'doc'", "Say in a sentence what it computes.")

    def verify_form(self, text: RawText) -> None:
        if text.text not in FORMS:
            hint = hint_from("Variants", text.text, FORMS)
            self.error(text.position, f"unknown variant '{text.text}'", hint)
            return
        reason = self.why_not(text.text)
        if reason:
            self.error(text.position, f"variant '{text.text}' is not possible: {reason}")

    def why_not(self, form: str) -> str:
        """Why the op cannot have a form, or ""."""
        receiver = self.signature.expect_argument("self")
        if form in ("function", "internal"):
            return ""
        if form == "copy":
            returned = self.signature.returns[0].type
            return "" if returned.alias and not returned.written else "the result is no view"
        if form != "out" and (receiver is None or not receiver.type.is_tensor):
            return "no tensor is called 'self'"
        if form == "method":
            return ""
        if form == "property":
            others = [a for a in self.signature.arguments if a.name != "self" and a.default is None]
            return f"'{others[0].name}' has no default" if others else ""
        return self.why_no_target()

    def why_no_target(self) -> str:
        """Why no given tensor can take the result: what in-place and out forms need."""
        if len(self.signature.returns) > 1:
            return "the op returns several things"
        returned = self.signature.returns[0].type
        if returned.written:
            return "the op itself changes its argument"
        if returned.alias:
            return "the result is a view"
        return "" if returned.is_tensor else f"the op returns {returned}"

    def verify_operator(self, kind: RawText, method: RawText) -> None:
        if self.package:
            hint = "Give the op a method, or call it as a function."
            self.error(kind.position, f"'{method.text}' belongs to gradsmith's own table", hint)
        elif kind.text not in OPERATORS:
            hint = hint_from("Kinds", kind.text, OPERATORS)
            self.error(kind.position, f"unknown kind of operator '{kind.text}'", hint)
        elif method.text not in OPERATORS[kind.text]:
            hint = did_you_mean(method.text, OPERATORS[kind.text])
            self.error(method.position, f"'{method.text}' is no {kind.text} operator", hint)
        elif kind.text == "inplace" and "inplace" not in self.forms() and not self.signature.returns[0].type.written:
            hint = "Add 'inplace' to its variants."
            self.error(method.position, f"'{method.text}' needs the in-place variant", hint)

    def verify_variadic(self) -> None:
        text = self.entry.texts.get("variadic")
        if text is None:
            return
        argument = self.signature.expect_argument(text.text)
        if argument is None:
            names = [a.name for a in self.signature.arguments]
            hint = hint_from("Arguments", text.text, names)
            self.error(text.position, f"variadic '{text.text}' is no argument", hint)
        elif not argument.type.is_list:
            problem = f"variadic '{text.text}' is {argument.type}, which is no list"
            self.error(text.position, problem)

    # -- samples and small things

    def samples(self) -> tuple[dict[str, str], ...]:
        if not self.entry.samples:
            self.error(self.entry.name.position, "has no 'samples'", "Nothing would test it.")
        return tuple(self.sample(sample) for sample in self.entry.samples)

    def sample(self, sample: Pairs) -> dict[str, str]:
        names = [a.name for a in self.signature.arguments]
        for key, value in sample:
            if key.text not in names:
                hint = hint_from("Arguments", key.text, names)
                self.error(key.position, f"sample for '{key.text}', which is no argument", hint)
            verify_names(self.errors, self.signature.base, value, f"sample for '{key.text}'", SAMPLE_NAMES)
        found = {key.text: value.text for key, value in sample}
        required = [a.name for a in self.signature.arguments if a.default is None]
        missing = [name for name in required if name not in found]
        if missing and found.keys() <= set(names) and sample:
            self.error(sample[0][0].position, f"sample has no value for '{missing[0]}'")
        return found

    def flag(self, key: str, default: bool) -> bool:
        text = self.entry.texts.get(key)
        return default if text is None else self.truth(text, key, default)

    def truth(self, text: RawText, key: str, default: bool) -> bool:
        if text.text not in ("true", "false"):
            self.error(text.position, f"{key} is '{text.text}', which is neither true nor false")
        return {"true": True, "false": False}.get(text.text, default)


def _names(key: RawText) -> tuple[str, ...]:
    """``self, other`` names two."""
    return tuple(name.strip() for name in key.text.split(","))


def faces(declaration: Declaration) -> Iterator[RawText]:
    """The names outside of its own base under which an op is reached."""
    yield from (method for _, method in declaration.entry.operators)
    yield from declaration.aliases
