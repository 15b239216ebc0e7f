"""An entry after the first pass: its schema is parsed, its formulas are still text."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..arrays.ufunc_facts import why_nondifferentiable
from ..formula.callees import OUTSIDE, TREE, entry_name, intrinsics
from ..formula.reductions import Reduction, expect_reduction
from ..model import ForwardKind, Op, Policy, Variant
from ..spec.errors import Position
from ..spec.names import namespace_of
from ..spec.schema import Signature
from ..spec.usual_operators import usual_operators
from ..spec.vocabulary import LAZY_FAMILIES
from .reader import RawEntry, RawText


@dataclass(frozen=True)
class DerivedText(RawText):
    """A formula that was not written: every part has the position of its source."""

    def position_of(self, offset: int) -> Position:
        return self.position


@dataclass(frozen=True)
class RawFormula:
    """A formula as the entry writes it: ``self, other: f(grad)``, or ``result: f(self_t)`` for forward mode."""

    inputs: tuple[str, ...]  # results, in forward mode
    text: RawText
    is_tangent: bool = False
    is_derived: bool = False  # by derive.py, not written by the author
    others: tuple[RawText, ...] = ()  # the same in other ways, one of which may be cheaper: see decision.py

    @property
    def subject(self) -> str:
        """Its name in messages."""
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

    @property
    def ufunc(self) -> str:
        """Its name, or ""."""
        return self.text.strip() if self.kind == "ufunc" else ""


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
    package: str = ""  # of an external table

    @property
    def base(self) -> str:
        return self.signature.base

    @property
    def namespace(self) -> str:
        """The package of the function that users call; those of an external table are all in its own."""
        return "" if self.package else namespace_of(self.base)

    @property
    def position(self) -> Position:
        return self.entry.name.position

    @property
    def nondifferentiable(self) -> str:
        return self.entry.expect_text("nondifferentiable") or why_nondifferentiable(self.ufunc)

    @property
    def ufunc(self) -> str:
        return self.forward.ufunc if self.forward else ""

    @property
    def saves(self) -> frozenset[str] | None:
        """The tensors that the node keeps, where the entry says so."""
        texts = self.entry.lists.get("saves")
        return None if texts is None else frozenset(text.text for text in texts)

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
        """Reference to the op, kept by formulas that call it."""
        return f"{self.package}.{self.entry.family}" if self.package else self.entry.family

    @property
    def reduction(self) -> Reduction | None:
        """The reduction that the forward makes, as far as its text shows."""
        forward = self.forward
        return expect_reduction(forward.text) if forward is not None and forward.kind == "array" else None

    @property
    def camel_case(self) -> str:
        """``log_softmax`` -> ``LogSoftmax``; an op that changes its argument is named as without."""
        parts = self.base.strip("_").split("_")
        name = "".join(part[:1].upper() + part[1:] for part in parts)
        return name.removesuffix("Forward")  # the node of conv_forward is ConvBackward

    def node_class(self, index: int, number: int) -> str:
        """The node of a variant: ``MulScalarBackward0``. That of the tensors alone needs no mark."""
        kinds = self.expanded[index][1]
        mark = "".join(kind.capitalize() for kind in kinds) if "scalar" in kinds else ""
        return f"{self.camel_case}{mark}Backward{number}"

    def node_classes(self, number: int) -> frozenset[str]:
        return frozenset(self.node_class(index, number) for index in range(len(self.expanded)))

    @property
    def operators(self) -> tuple[tuple[str, str], ...]:
        if "operators" in self.entry.keys or self.package:
            return tuple((method.text, kind.text) for kind, method in self.entry.operators)
        return usual_operators(self.signature, self.forms)

    @property
    def aliases(self) -> tuple[RawText, ...]:
        return self.entry.lists.get("aliases", ())

    @property
    def c_entries(self) -> tuple[str, ...]:
        prefix = OUTSIDE if self.package else TREE
        return tuple(prefix + entry_name(s, *kinds) for s, kinds in self.expanded)

    @property
    def other_names(self) -> tuple[RawText, ...]:
        """The names outside of its own base under which the op is reached."""
        written = {method.text: method for _, method in self.entry.operators}
        usual = (DerivedText(method, self.position, method) for method, _ in self.operators if method not in written)
        return (*written.values(), *usual, *self.aliases)

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
            namespace=self.namespace,
            is_lazy=not self.package and self.entry.family in LAZY_FAMILIES,
            lets=tuple((key.text, " ".join(text.text.split())) for key, text in self.entry.pairs.get("let", ())),
        )
