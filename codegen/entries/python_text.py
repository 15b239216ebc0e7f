"""Python expressions of the table that are no formulas: samples, points, references.

They are kept as text, and evaluated when the ops are tested. Here they are checked to parse, and to use known names and
attributes only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..arrays.free_names import free_names
from ..arrays.python_names import verify_attributes, verify_expression
from ..spec.errors import Collector, Problem, hint_from
from ..spec.foreign_words import PYTHON_WORDS
from ..spec.sizes import verify_sizes
from ..spec.syntax import parse_python
from .reader import RawText


def verify_parse(errors: Collector, op: str, value: RawText, subject: str) -> bool:
    """Does the text parse; if not, that is reported."""
    try:
        parse_python(value.text)
    except Problem as problem:
        errors.add(value.position, op, f"{subject} {problem.problem}", problem.hint)
        return False
    return True


def verify_names(
    errors: Collector,
    op: str,
    value: RawText,
    subject: str,
    names: Iterable[str],
    generators: frozenset[str] = frozenset(),
) -> None:
    """Report a text that does not parse, or that uses other names than these and those it binds itself."""
    if not verify_parse(errors, op, value, subject):
        return
    tree = parse_python(value.text)
    try:
        verify_expression(tree, subject)
        verify_attributes(tree, subject, generators=generators)
        verify_sizes(tree, subject)
    except Problem as problem:
        errors.add(value.position_of(problem.offset), op, problem.problem, problem.hint)
    known = frozenset(names)
    for name in free_names(tree):
        if name.id not in known:
            meant = PYTHON_WORDS.get(name.id)
            hint = f"Write {meant}." if meant else hint_from("Names", name.id, known)
            position = value.position_of(name.col_offset)
            errors.add(position, op, f"{subject} uses '{name.id}', which it does not know", hint)
