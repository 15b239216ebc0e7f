"""Names that an entry gives to parts of its formulas: ``let: {scale: rsqrt(self + eps)}``."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator
from dataclasses import dataclass

from ..formula.callees import helpers
from ..spec.errors import Collector, Problem
from ..spec.reach import reached
from ..spec.reserved import derived_names, is_taken
from ..spec.scanner import NAMES, is_name
from ..spec.schema import RESERVED_NAMES, Signature
from ..spec.syntax import parse
from ..spec.vocabulary import CONSTANTS, DTYPES
from .reader import RawEntry, RawText


@dataclass(frozen=True)
class LetCheck:
    """The checks of one entry's names that need no types."""

    entry: RawEntry
    signature: Signature
    errors: Collector

    def verify(self) -> None:
        lets = self.entry.pairs.get("let", ())
        for key, _ in lets:
            problem, hint = self.why_not(key.text)
            if problem:
                self.errors.add(key.position, self.signature.base, f"let '{key.text}' {problem}", hint)
        for key in self.in_circles():
            problem = f"let '{key.text}' is computed from itself"
            self.errors.add(key.position, self.signature.base, problem)
        for key in self.unread():
            self.errors.add(key.position, self.signature.base, f"let '{key.text}' is read by no formula")

    def why_not(self, name: str) -> tuple[str, str]:
        """Why a part cannot be called so, and what to do."""
        if not is_name(name) or keyword.iskeyword(name):
            return "is no name", NAMES
        known = {a.name: "an argument" for a in self.signature.arguments}
        known |= dict.fromkeys(self.signature.output_names, "a result")
        if name in known:
            return f"hides {known[name]} of that name", "Choose another name."
        means_more = RESERVED_NAMES | CONSTANTS.keys() | DTYPES | {helper.c_entry for helper in helpers()}
        is_local = is_taken(name, pointwise=True, joint=True) or name in derived_names(self.signature)
        if name in means_more or name.startswith("grad_") or is_local:
            return "means something else in formulas or in what is generated of them", "Choose another name."
        return "", ""

    def in_circles(self) -> Iterator[RawText]:
        reads = self.reads()
        for key, _ in self.entry.pairs.get("let", ()):
            if key.text in reached(reads[key.text], reads):
                yield key

    def unread(self) -> Iterator[RawText]:
        reads = self.reads()
        texts = [text for _, text in self.entry.formulas]
        used = reached(frozenset().union(*map(names_in, texts)), reads)
        return (
            key for key, _ in self.entry.pairs.get("let", ()) if key.text not in used and not self.why_not(key.text)[0]
        )

    def reads(self) -> dict[str, frozenset[str]]:
        return {key.text: names_in(text) for key, text in self.entry.pairs.get("let", ())}


def needed(entry: RawEntry, text: RawText) -> list[tuple[RawText, RawText]]:
    """The names that a formula reads, itself or through others, each after those that it reads."""
    lets = {key.text: (key, value) for key, value in entry.pairs.get("let", ())}
    found: dict[str, tuple[RawText, RawText]] = {}

    def follow(names: frozenset[str], path: tuple[str, ...]) -> None:
        for name in sorted(names & lets.keys() - found.keys() - set(path)):
            follow(names_in(lets[name][1]), (*path, name))
            found[name] = lets[name]

    follow(names_in(text) if lets else frozenset(), ())
    return list(found.values())


def names_in(text: RawText) -> frozenset[str]:
    """All names of a text; none of one that does not parse, which is reported where it is resolved."""
    try:
        tree = parse(text.text)
    except Problem:
        return frozenset()
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
