"""Texts of the table as Python's own syntax trees."""

from __future__ import annotations

import ast
import warnings
from functools import cache

from .errors import Problem
from .foreign_words import sign_hint

# Every stage goes through a tree by recursion, several calls for each level.
DEEPEST = 120


def parse(text: str) -> ast.expr:
    """The formula in `text`; offsets in it are those of the text."""
    if not text.isascii():
        offset = next(i for i, c in enumerate(text) if not c.isascii())
        raise Problem(f"has the character '{text[offset]}', which is not ASCII", offset)
    return parse_python(text.replace("\n", " "))


@cache  # the steps of a build ask for each text several times; none of them changes a tree
def parse_python(text: str) -> ast.expr:
    """Any Python expression.

    Raises
    ------
    Problem
        Also for what Python reads but cannot be worked with.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Python's syntax warnings are errors here
            tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        what = error.msg.partition(". ")[0]  # without what Python guesses
        raise Problem(f"does not parse: {what}", max((error.offset or 1) - 1, 0), sign_hint(text)) from None
    except ValueError as error:  # a null byte, up to Python 3.11
        raise Problem(f"does not parse: {error}") from None
    except (MemoryError, RecursionError):  # what Python says of thousands of levels
        raise _too_deep() from None
    if _is_deep(tree):
        raise _too_deep()
    _verify_texts(tree)
    return tree


def _is_deep(tree: ast.AST) -> bool:
    level = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def _too_deep() -> Problem:
    return Problem(f"is nested more than {DEEPEST} levels deep")


def _verify_texts(tree: ast.AST) -> None:
    """No quoted text is one that a file cannot hold."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node.value.encode()
            except UnicodeEncodeError:
                raise Problem("has a text with half of a surrogate pair", node.col_offset) from None


def called(text: str) -> str:
    """The function that an expression is a call of and nothing else, or ""."""
    node = parse_python(text)
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def is_bare_tuple(node: ast.expr) -> bool:
    """Is it a tuple without parentheses of its own?"""
    return isinstance(node, ast.Tuple) and bool(node.elts) and node.end_col_offset == node.elts[-1].end_col_offset


def describe(node: ast.AST) -> str:
    """``ListComp`` -> "list comp": good enough for syntax that is not allowed."""
    name = type(node).__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
