"""Names that an argument, a result or an op cannot have, because the generated module has them.

They are read from the templates, so that no list of them can fall behind.
"""

from __future__ import annotations

import builtins
import re
from functools import cache
from pathlib import Path

from .parameters import FIRST_TENSOR, SECOND_NAMES
from .schema import Signature
from .vocabulary import ATTRIBUTES, LIST_ATTRIBUTES, UFUNCS, words

TEMPLATES = Path(__file__).parent / "templates"

# Their text ends up around the arguments of an op.
_AROUND_ARGUMENTS = (
    "family.pyx.j2",
    "methods.pyx.j2",
    "node.pyx.j2",
    "tangent.pyx.j2",
    "wrapper.pyx.j2",
    "face.pyx.j2",
)
# Words of Cython, and of C's types, that no template happens to use.
_CYTHON_WORDS = words(
    """
    DEF ELIF ELSE IF NULL bint char cimport const cpdef cppclass ctypedef double enum extern float fused include inline
    int long nogil packed short signed size_t sizeof ssize_t str struct union unsigned void volatile
    """
)
# Of the C entries of all ops.
_ENTRIES = ("op_", "own_")
_CONSTANTS = re.compile(r"[A-Z0-9_]+_(?:FORWARD|BACKWARD)")
# Locals of what is generated for some entries alone.
_OF_POINTWISE = frozenset({"operands", "recording", "ceiling"})
_OF_JOINT_FORMULAS = frozenset({"parts"})

# Those of `input` and `other` give way to an argument of that name.
_OTHER_NAMES = {"self": FIRST_TENSOR} | {own: SECOND_NAMES[own][0] for own in ("dim", "keepdim")}

_NOT_TEXT = re.compile(r'\{#.*?#\}|\{%.*?%\}|"""[^"]*"""|"[^"\n]*"|#[^\n]*', re.DOTALL)
_EXPRESSIONS = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_METHODS = re.compile(r"(?:cdef|cpdef)[\w ]* \w+(?=\(self)")
_NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def is_taken(name: str, *, pointwise: bool, joint: bool) -> bool:
    """Does the code of an entry need the name where an argument or a result would have it?"""
    if name in _OF_POINTWISE:
        return pointwise
    if name in _OF_JOINT_FORMULAS:
        return joint
    if name in _CYTHON_WORDS or name in _names_around() or name.startswith(_ENTRIES):
        return True
    return bool(_CONSTANTS.fullmatch(name)) or (name.isupper() and name.lower() in UFUNCS)


def derived_names(signature: Signature) -> dict[str, str]:
    """What is called after the names in a signature: ``self_t``, the tangent of ``self``; and after which.

    Callers know some arguments by another name.
    """
    tensors = [a.name for a in signature.arguments if a.type.is_differentiable]
    attributes = ATTRIBUTES.keys() | LIST_ATTRIBUTES.keys()
    endings = {"_t", "_edge", "_array", *(f"_{attribute}" for attribute in attributes)}
    found = {f"{name}{ending}": name for name in (*tensors, *signature.output_names) for ending in endings}
    called = {name: own for own, name in _OTHER_NAMES.items() if signature.expect_argument(own)}
    return {**found, **called, "self_": "self"}


def is_taken_by_module(name: str) -> bool:
    """Does generated code need the name in a module where an op would have it?"""
    return name in _CYTHON_WORDS or name in _names_of_module()


@cache
def _names_around() -> frozenset[str]:
    names = frozenset().union(*(_names_in(template) for template in _AROUND_ARGUMENTS))
    return names - {"self"}


@cache
def _names_of_module() -> frozenset[str]:
    """What the module imports, and the functions of Python that it calls."""
    return _names_in("family.pyx.j2") | (_names_around() & set(dir(builtins)))


def _names_in(template: str) -> frozenset[str]:
    """Names in the text of a template that are no attributes, and no part of one that an expression completes."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    text = _EXPRESSIONS.sub("{}", _NOT_TEXT.sub(" ", text))
    text = _METHODS.sub(" ", text)
    return frozenset(m[0] for m in _NAMES.finditer(text) if "{}" not in text[max(m.start() - 2, 0) : m.end() + 2])
