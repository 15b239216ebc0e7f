"""Samples and points: texts that read like the arguments of a call, ``real(3, 4), other=2.5``.

The values are kept as text and evaluated later; here they are split and assigned to arguments by name.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NamedTuple

from ..spec.errors import Position, Problem
from ..spec.syntax import parse_python
from .reader import RawText

_CALL = "f("


@dataclass(frozen=True)
class CallArgument:
    """One argument as written: its name, which a positional one has from the op, and the text of its value."""

    name: str
    position: Position  # of the name where it is written, else of the value
    value: RawText


def parse_call(raw: RawText, names: tuple[str, ...]) -> tuple[CallArgument, ...]:
    """The arguments of a call; `names` are those of its positional parameters, in order.

    Raises
    ------
    Problem
        Its offset leads into the text.
    """
    text = f"{_CALL}{raw.text})"
    try:
        call = parse_python(text)
    except Problem as problem:
        raise Problem(problem.problem, _offset(problem.offset, raw), problem.hint) from None
    if not isinstance(call, ast.Call) or call.end_col_offset != len(text.encode()):
        raise Problem("is not written like the arguments of a call")
    found = [*_positional(call, names), *_named(call)]
    _verify_each_once(found)
    return tuple(_argument(argument, raw) for argument in found)


class _Found(NamedTuple):
    name: str
    start: int  # in bytes, as Python's trees count
    value: ast.expr


def _positional(call: ast.Call, names: tuple[str, ...]) -> list[_Found]:
    for node in call.args:
        if isinstance(node, ast.Starred):
            raise Problem("has a starred argument", node.col_offset - len(_CALL))
    if len(call.args) > len(names):
        offset = call.args[len(names)].col_offset - len(_CALL)
        raise Problem(f"has {len(call.args)} arguments without a name, but the op takes {len(names)}", offset)
    return [_Found(name, value.col_offset, value) for name, value in zip(names, call.args)]


def _named(call: ast.Call) -> list[_Found]:
    for keyword in call.keywords:
        if keyword.arg is None:
            raise Problem("has a starred argument", keyword.value.col_offset - len(_CALL))
    return [_Found(keyword.arg or "", keyword.col_offset, keyword.value) for keyword in call.keywords]


def _verify_each_once(found: list[_Found]) -> None:
    seen: set[str] = set()
    for argument in found:
        if argument.name in seen:
            raise Problem(f"gives '{argument.name}' twice", argument.start - len(_CALL))
        seen.add(argument.name)


def _argument(found: _Found, raw: RawText) -> CallArgument:
    content = f"{_CALL}{raw.text}".encode()
    start, stop = found.value.col_offset, found.value.end_col_offset
    text = content[start:stop].decode()

    def position_of(byte: int) -> Position:
        return raw.position_of(len(content[:byte].decode()) - len(_CALL))

    return CallArgument(found.name, position_of(found.start), RawText(text, position_of(start), text))


def _offset(offset: int, raw: RawText) -> int:
    return min(max(offset - len(_CALL), 0), len(raw.text))
