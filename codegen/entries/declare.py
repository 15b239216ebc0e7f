"""First pass of the build: everything about an entry that needs no other entry.

Of its gradients see `entries.gradients`, of its forms `entries.forms`, of its policy `policy`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast, get_args

from ..arrays.ufunc_facts import takes_complex
from ..formula.callees import expand
from ..model import ForwardKind, Policy
from ..spec.errors import Collector, Position, Problem, hint_from
from ..spec.schema import Signature
from ..spec.vocabulary import SAMPLE_NAMES, UFUNCS
from .call_text import CallArgument, parse_call
from .declaration import Declaration, DerivedText, RawForward
from .forms import FormReader
from .functions import as_op
from .gradients import GradientReader
from .lets import LetCheck
from .policy import PolicyReader
from .python_text import verify_names
from .reader import RawEntry, RawText, expect_truth
from .structure import StructureCheck, verify_returns
from .usual_samples import UsualSamples, expect_generators

FORWARD_KINDS: tuple[str, ...] = get_args(ForwardKind)


def declare(
    entry: RawEntry, errors: Collector, functions: Collection[str] = (), package: str = ""
) -> Declaration | None:
    """Understand an entry as far as it can be without the others; None when its schema is wrong.

    `functions` are the names of the functions that ``array(...)`` may call.
    """
    try:
        signature = Signature.parse(entry.name.text)
        verify_returns(signature)
    except Problem as problem:
        position = entry.name.position_of(problem.offset)
        errors.add(position, entry.base, f"schema: {problem.problem}", problem.hint)
        return None
    return _Declarer(as_op(entry, signature), signature, errors, functions, package).declaration()


class _Declarer:
    """Checks one entry key by key."""

    def __init__(
        self, entry: RawEntry, signature: Signature, errors: Collector, functions: Collection[str], package: str
    ) -> None:
        self.entry = entry
        self.signature = signature
        self.errors = errors
        self.functions = functions
        self.package = package
        self.told: set[str] = set()  # names in samples that are no arguments

    def declaration(self) -> Declaration:
        forward = self.forward()
        gradients = GradientReader(self.entry, self.signature, self.errors, self.package)
        formulas, non_differentiable = gradients.formulas(forward)
        tangent_formulas = gradients.tangent_formulas()
        outputs = gradients.output_differentiability()
        missing = gradients.verify_gradients(forward, formulas, outputs)
        gradients.verify_tangents(forward, bool(formulas or missing), tangent_formulas, outputs)
        gradients.verify_saves(bool(formulas or missing))
        kind, ufunc = (forward.kind, forward.ufunc) if forward else ("", "")
        forms = FormReader(self.entry, self.signature, self.errors, kind, ufunc, self.package)
        forms.verify()
        policy = PolicyReader(self.entry, self.signature, self.errors).policy()
        self.verify_doc()
        StructureCheck(self.entry, self.signature, self.errors).verify()
        LetCheck(self.entry, self.signature, self.errors).verify()
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
            supports_complex=self.supports_complex(forward),
            samples=self.samples(forward, policy),
            policy=policy,
            package=self.package,
        )

    def error(self, position: Position, problem: str, hint: str = "") -> None:
        self.errors.add(position, self.signature.base, problem, hint)

    # -- forward

    def forward(self) -> RawForward | None:
        raw = self.entry.texts.get("forward")
        if raw is None:
            return None if "forward" in self.entry.keys else self.usual_forward()
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

    def usual_forward(self) -> RawForward | None:
        """That of an entry which names none: the function ``<name>_of`` of all arguments, or else NumPy's ufunc
        of its name or of another of its names."""
        base, position = self.signature.base, self.entry.name.position
        names = [a.name for a in self.signature.arguments]
        if f"{base}_of" in self.functions:
            text = f"{base}_of({', '.join(names)})"
            return RawForward("array", DerivedText(text, position, text), 0, text)
        for name in (base, *(alias.text for alias in self.entry.lists.get("aliases", ()))):
            if UFUNCS.get(name) == len(names):
                return RawForward("ufunc", DerivedText(name, position, name), 0, name)
        hint = f"There is neither a function '{base}_of' nor a ufunc '{base}'. {self.kinds_hint()}"
        self.error(position, "has no 'forward'", hint)
        return None

    @staticmethod
    def kinds_hint() -> str:
        return f"Kinds: {', '.join(f'{kind}(...)' for kind in FORWARD_KINDS)}."

    # -- samples and small things

    def samples(self, forward: RawForward | None, policy: Policy) -> tuple[dict[str, str], ...]:
        written = tuple(self.sample(sample) for sample in self.entry.samples)
        generators = expect_generators(written[0]) if len(written) == 1 else None
        if self.entry.samples and generators is None:
            return written
        kind = forward.kind if forward else ""
        usual = UsualSamples(
            self.signature,
            ufunc=forward.ufunc if forward else "",
            is_elementwise=kind in ("ufunc", "pointwise"),
            domain=dict(policy.domain),
            generators=generators or {},
        )
        found = usual.samples()
        if self.entry.is_function:  # what calls it proves it
            return ()
        if not found:
            self.error(self.entry.name.position, "has no 'samples'", "Nothing would test it.")
        return found

    def sample(self, raw: RawText) -> dict[str, str]:
        names = tuple(a.name for a in self.signature.arguments)
        try:
            given = parse_call(raw, names)
        except Problem as problem:
            self.error(raw.position_of(problem.offset), f"sample {problem.problem}", problem.hint)
            return {}
        for argument in given:
            self.verify_sample_of(argument, names)
        found = {argument.name: argument.value.text for argument in given}
        required = [a.name for a in self.signature.arguments if a.default is None and a.type.name != "Generator"]
        missing = [name for name in required if name not in found]
        if missing and found.keys() <= set(names) and expect_generators(found) is None:
            self.error(raw.position, f"sample has no value for '{missing[0]}'")
        return found

    def verify_sample_of(self, argument: CallArgument, names: tuple[str, ...]) -> None:
        name, value = argument.name, argument.value
        if name not in names and name not in self.told:
            self.told.add(name)
            hint = hint_from("Arguments", name, names)
            self.error(argument.position, f"sample for '{name}', which is no argument", hint)
        if name in self.signature.generators:
            hint = "Leave it out: the proofs seed one."
            self.error(argument.position, f"sample for '{name}', which is a Generator", hint)
            return
        verify_names(self.errors, self.signature.base, value, f"sample for '{name}'", SAMPLE_NAMES)

    def verify_doc(self) -> None:
        if "doc" not in self.entry.texts and not self.entry.is_function:
            self.error(self.entry.name.position, "has no 'doc'", "Say in a sentence what it computes.")

    def supports_complex(self, forward: RawForward | None) -> bool:
        text = self.entry.texts.get("complex")
        if text is None:
            return forward is None or takes_complex(forward.ufunc)
        return expect_truth(text, "complex", self.signature.base, self.errors) is not False
