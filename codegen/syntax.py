"""Formulas as Python's own syntax trees."""

from __future__ import annotations

import ast
import warnings

from .errors import Problem


def parse(text: str) -> ast.expr:
    """The Python expression in `text`; offsets in it are those of the text."""
    if not text.isascii():
        offset = next(i for i, c in enumerate(text) if not c.isascii())
        raise Problem(f"has the character '{text[offset]}', which is not ASCII", offset)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python merely doubts is a mistake here
            return ast.parse(text.replace("\n", " "), mode="eval").body
    except SyntaxError as error:
        raise Problem(f"does not parse: {error.msg}", max((error.offset or 1) - 1, 0)) from None


def describe(node: ast.AST) -> str:
    """``ListComp`` -> "list comp": good enough for what nobody should write."""
    name = type(node).__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
