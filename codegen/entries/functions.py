"""Entries that begin with ``function:``: what formulas may call, and nobody else.

One whose forward is ``composite(...)`` is an expression, of any types, which takes the place of its calls. One whose
forward is ``array(...)`` is an op without faces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..formula.functions import Function
from ..spec.errors import Collector, Problem, hint_from
from ..spec.schema import Signature
from ..spec.syntax import parse
from .declaration import DerivedText
from .reader import RawEntry, RawText

# The keys of one that is an expression.
KEYS = ("function", "forward", "doc")
_COMPOSITE, _ARRAY = "composite(", "array("


@dataclass
class DeclaredFunctions:
    """The expressions among the entries of a table."""

    entries: dict[str, RawEntry] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)


def declared_functions(entries: tuple[RawEntry, ...], errors: Collector) -> DeclaredFunctions:
    """All functions that are expressions; those that cannot be understood are reported."""
    found = DeclaredFunctions()
    for entry in entries:
        if is_expression(entry):
            _declare(entry, found, errors)
    return found


def is_expression(entry: RawEntry) -> bool:
    return entry.is_function and not (entry.expect_text("forward") or "").startswith(_ARRAY)


def _declare(entry: RawEntry, found: DeclaredFunctions, errors: Collector) -> None:
    problems = list(_problems(entry, found))
    for text, offset, problem, hint in problems:
        errors.add(text.position_of(offset), entry.base, problem, hint)
    found.entries.setdefault(entry.base, entry)
    if problems:
        found.broken.add(entry.base)
        return
    body = entry.texts["forward"].text
    signature = Signature.parse(entry.name.text)
    found.functions[entry.base] = Function(signature, parse(body[len(_COMPOSITE) : -1]))


def _problems(entry: RawEntry, found: DeclaredFunctions) -> Iterator[tuple[RawText, int, str, str]]:
    """Text, offset, problem and hint of each."""
    forward = entry.texts.get("forward")
    if forward is None or not forward.text.startswith(_COMPOSITE) or not forward.text.endswith(")"):
        yield entry.name, 0, "a function has no such forward", "Write composite(expression) or array(expression)."
        return
    for key in sorted(entry.keys - set(KEYS)):
        hint = hint_from("Keys", key, KEYS)
        yield entry.name, 0, f"a function that is an expression has no '{key}'", hint
    if entry.base in found.entries:
        first = found.entries[entry.base].name.position.line
        yield entry.name, 0, f"function '{entry.base}' was already declared at line {first}", ""
    try:
        signature = Signature.parse(entry.name.text)
    except Problem as problem:
        yield entry.name, problem.offset, f"schema: {problem.problem}", problem.hint
        return
    if signature.overload or len(signature.returns) != 1 or signature.returns[0].name:
        yield entry.name, 0, "a function has neither overloads nor several results", ""
    try:
        parse(forward.text[len(_COMPOSITE) : -1])
    except Problem as problem:
        yield forward, problem.offset + len(_COMPOSITE), f"forward {problem.problem}", problem.hint


# ---- functions that are ops


def as_op(entry: RawEntry, signature: Signature) -> RawEntry:
    """The entry of an op that formulas alone call, with an error for each gradient that it does not say."""
    if not entry.is_function or "nondifferentiable" in entry.keys:
        return replace(entry, lists=_without_faces(entry)) if entry.is_function else entry
    written = {name.strip() for key in entry.keys for name in key.split(",")}
    silent = [a.name for a in signature.tensor_arguments if a.name not in written]
    made = tuple((_text(entry, name), _text(entry, _unknown(signature, name))) for name in silent)
    keys = entry.keys | set(silent)
    return replace(entry, lists=_without_faces(entry), formulas=(*entry.formulas, *made), keys=keys)


def _without_faces(entry: RawEntry) -> dict[str, tuple[RawText, ...]]:
    return {**entry.lists, "variants": (_text(entry, "internal"),)}


def _unknown(signature: Signature, name: str) -> str:
    return f"not_implemented('{signature.base}: {name}')"


def _text(entry: RawEntry, text: str) -> RawText:
    return DerivedText(text, entry.name.position, text)
