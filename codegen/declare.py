"""What an entry says, as far as it can be told without the others. First pass of the build.

Of its gradients see `declare_gradients`, of its forms `declare_forms`, of its policy `policy`.
"""

from __future__ import annotations

from typing import cast, get_args

from .callees import expand
from .declaration import Declaration, RawForward
from .declare_forms import FormReader
from .declare_gradients import GradientReader
from .errors import Collector, Position, Problem, hint_from
from .model import ForwardKind
from .policy import PolicyReader
from .python_text import verify_names, verify_parse
from .reader import Pairs, RawEntry, RawText, expect_truth
from .schema import Signature
from .structure import StructureCheck, verify_returns
from .vocabulary import SAMPLE_NAMES

FORWARD_KINDS: tuple[str, ...] = get_args(ForwardKind)


def declare(entry: RawEntry, errors: Collector, package: str = "") -> Declaration | None:
    """Understand an entry as far as it can be without the others; None when its schema is wrong."""
    try:
        signature = Signature.parse(entry.name.text)
        verify_returns(signature)
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
        self.told: set[str] = set()  # names in samples that are no arguments

    def declaration(self) -> Declaration:
        forward = self.forward()
        gradients = GradientReader(self.entry, self.signature, self.errors)
        formulas, non_differentiable = gradients.formulas()
        tangent_formulas = gradients.tangent_formulas()
        outputs = gradients.output_differentiability()
        missing = gradients.verify_gradients(forward, formulas, outputs)
        gradients.verify_tangents(forward, bool(formulas or missing), tangent_formulas, outputs)
        gradients.verify_saves(bool(formulas or missing))
        forms = FormReader(self.entry, self.signature, self.errors, self.package)
        forms.verify()
        self.verify_doc()
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
            output_condition=gradients.output_condition(),
            forms=forms.forms(),
            supports_complex=self.supports_complex(),
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

    # -- samples and small things

    def samples(self) -> tuple[dict[str, str], ...]:
        if not self.entry.samples:
            self.error(self.entry.name.position, "has no 'samples'", "Nothing would test it.")
        return tuple(self.sample(sample) for sample in self.entry.samples)

    def sample(self, sample: Pairs) -> dict[str, str]:
        names = [a.name for a in self.signature.arguments]
        # A parenthesis that is open makes the rest of the sample other keys and values.
        if not all(self.parses(key, value) for key, value in sample):
            return {}
        for key, value in sample:
            if key.text not in names and key.text not in self.told:
                self.told.add(key.text)
                hint = hint_from("Arguments", key.text, names)
                self.error(key.position, f"sample for '{key.text}', which is no argument", hint)
            verify_names(self.errors, self.signature.base, value, f"sample for '{key.text}'", SAMPLE_NAMES)
        found = {key.text: value.text for key, value in sample}
        required = [a.name for a in self.signature.arguments if a.default is None]
        missing = [name for name in required if name not in found]
        if missing and found.keys() <= set(names):
            position = sample[0][0].position if sample else self.entry.name.position
            self.error(position, f"sample has no value for '{missing[0]}'")
        return found

    def parses(self, key: RawText, value: RawText) -> bool:
        return verify_parse(self.errors, self.signature.base, value, f"sample for '{key.text}'")

    def verify_doc(self) -> None:
        if "doc" not in self.entry.texts:
            self.error(self.entry.name.position, "has no 'doc'", "Say in a sentence what it computes.")

    def supports_complex(self) -> bool:
        text = self.entry.texts.get("complex")
        return text is None or expect_truth(text, "complex", self.signature.base, self.errors) is not False
