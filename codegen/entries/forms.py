"""The forms of an op: function, method, in place, operators, other names."""

from __future__ import annotations

import keyword
from dataclasses import dataclass

from ..arrays.ufunc_facts import TESTS
from ..model import FORMS
from ..spec.errors import Collector, Position, did_you_mean, hint_from
from ..spec.names import name_within, namespace_of
from ..spec.scanner import NAMES, is_name
from ..spec.schema import Return, Signature
from ..spec.schema_types import Type
from ..spec.vocabulary import OPERATORS
from .reader import RawEntry, RawText

METHODS = frozenset({"method", "inplace", "property"})
EVERY_FORM = frozenset({"function", "method", "inplace", "out"})
# Sets of forms with a name: `variants: all`.
PRESETS = {"all": EVERY_FORM, "internal": frozenset({"function", "internal"})}
# Kind of the forward -> the forms of an entry that names none, as far as the op can have them.
USUAL_FORMS = {
    "ufunc": EVERY_FORM,
    "pointwise": EVERY_FORM,
    "array": frozenset({"function", "method", "out"}),
    "view": frozenset({"function", "method", "copy"}),
    "composite": frozenset({"function", "method"}),
    "test": frozenset({"function", "method"}),
    "in place": frozenset({"method"}),
    "gradient": PRESETS["internal"],
}


@dataclass(frozen=True)
class FormReader:
    """Reads the forms of one entry, and checks that the op can have them."""

    entry: RawEntry
    signature: Signature
    errors: Collector
    kind: str  # of the forward
    ufunc: str  # "" for other kinds
    package: str  # of an external table

    def error(self, position: Position, problem: str, hint: str = "") -> None:
        self.errors.add(position, self.signature.base, problem, hint)

    def forms(self) -> frozenset[str]:
        texts = self.entry.lists.get("variants")
        if texts is None:
            refused = {"inplace"} if "out_of_place" in self.entry.keys else set()
            if self.is_in_namespace():
                refused |= METHODS
            return frozenset(form for form in self.usual_forms() - refused if not self.why_not(form))
        if len(texts) == 1 and texts[0].text in PRESETS:
            return PRESETS[texts[0].text]
        return frozenset(text.text for text in texts if text.text in FORMS)

    def is_in_namespace(self) -> bool:
        return not self.package and bool(namespace_of(self.signature.base))

    def usual_forms(self) -> frozenset[str]:
        """The forms of an entry that names none, which follow from how it is computed."""
        return USUAL_FORMS.get(self.usual_kind(), USUAL_FORMS["composite"])

    def usual_kind(self) -> str:
        base, returned = self.signature.base, self.signature.returns
        if base.endswith("_backward") and not self.package:
            return "gradient"
        if any(r.type.written for r in returned):
            return "in place"
        if self.ufunc in TESTS:
            return "test"
        if any(text.text == "auto_element_wise" for _, text in self.entry.formulas):
            return "pointwise"
        is_view = len(returned) == 1 and bool(returned[0].type.alias)
        return "view" if is_view and self.kind == "array" else self.kind

    def verify(self) -> None:
        for text in self.entry.lists.get("variants", ()):
            self.verify_form(text)
        for kind, method in self.entry.operators:
            self.verify_operator(kind, method)
        for alias in self.entry.lists.get("aliases", ()):
            if keyword.iskeyword(alias.text):
                self.error(alias.position, f"alias '{alias.text}' is a keyword of Python")
            elif not is_name(alias.text):
                self.error(alias.position, f"alias '{alias.text}' is no name", NAMES)
        self.verify_variadic()

    def verify_form(self, text: RawText) -> None:
        if text.text in PRESETS and len(self.entry.lists["variants"]) == 1:
            return
        if text.text not in FORMS:
            hint = hint_from("Variants", text.text, [*FORMS, *PRESETS])
            self.error(text.position, f"unknown variant '{text.text}'", hint)
            return
        reason = self.why_not(text.text)
        if reason:
            self.error(text.position, f"variant '{text.text}' is not possible: {reason}")

    def why_not(self, form: str) -> str:
        """Why the op cannot have a form, or ""."""
        receiver = self.signature.expect_argument("self")
        if form in METHODS and self.is_in_namespace():
            short = name_within(self.signature.base)
            return f"an op of a namespace is a function; call it '{short}', with the alias '{self.signature.base}'"
        if form in ("function", "internal"):
            return ""
        if form == "copy":
            returned = self.signature.returns[0].type
            if len(self.signature.returns) > 1:
                return "the op returns several things"
            return "" if returned.alias and not returned.written else "the result is no view"
        if form != "out" and (receiver is None or not receiver.type.is_tensor):
            return "no tensor is called 'self'"
        if form == "method":
            return ""
        if form == "property":
            others = [a for a in self.signature.arguments if a.name != "self" and a.default is None]
            return f"'{others[0].name}' has no default" if others else ""
        if form == "out" and "variants" in self.entry.lists and "function" not in self.forms():
            return "the op is no function, and methods take no 'out'"
        if form == "inplace" and len(self.signature.returns) > 1:
            return "the op returns several things"
        if form == "inplace" and receiver is not None and _is_view_of(self.signature.returns[0].type, receiver.type):
            return ""  # the elements stay: what changes is where the tensor finds them
        return next(filter(None, map(_why_no_target, self.signature.returns)), "")

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


def _is_view_of(returned: Type, receiver: Type) -> bool:
    return returned.is_tensor and not returned.written and bool(returned.alias) and returned.alias == receiver.alias


def _why_no_target(returned: Return) -> str:
    """Why no given tensor can take a result: what in-place and out forms need."""
    if returned.type.written:
        return "the op itself changes its argument"
    if returned.type.alias:
        return "the result is a list of views" if returned.type.is_list else "the result is a view"
    if returned.type.optional:
        return "a result may be absent"
    return "" if returned.type.is_tensor else f"the op returns {returned.type}"
