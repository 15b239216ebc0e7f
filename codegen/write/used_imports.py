"""The imports of a rendered module: of the names that templates ask for, those that the module uses.

A name is used when its word occurs in the code, outside strings and comments. Statements of several names alone are
looked at; ``import module`` may be there for what it does. Families import the names of the runtime from one module.
"""

from __future__ import annotations

import re
from collections.abc import Set
from textwrap import fill

WIDTH = 120
_IMPORT = re.compile(r"^from (\S+) (c?import) (\((?:[^()]*)\)|[^()\n]+)\n", re.MULTILINE)
# Texts in three quotes, in one quote, and comments: what they say is no code.
_NO_CODE = re.compile(r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|#[^\n]*', re.DOTALL)
_GAP = re.compile(r"\n{4,}")  # that imports have left
_WORD = re.compile(r"[A-Za-z_]\w*")


def with_used_imports(text: str) -> str:
    """The text of a module, its imports reduced to what it uses."""
    used = frozenset(_WORD.findall(_NO_CODE.sub('""', _IMPORT.sub("", text))))
    reduced = _IMPORT.sub(lambda match: _reduced(match, used), text)
    return _GAP.sub("\n\n\n", reduced)


def with_one_import(text: str, module: str, names: Set[str]) -> str:
    """The same imports with all of `names` coming from one module, which has them from theirs."""
    found: list[str] = []

    def taken(match: re.Match[str]) -> str:
        items = _items(match)
        if match[2] != "cimport" or not set(items) <= names:
            return match[0]
        found.extend(items)
        return "" if len(found) > len(items) else "\0"

    shortened = _IMPORT.sub(taken, text)
    return shortened.replace("\0", _statement(f"from {module} cimport ", sorted(found, key=str.lower)))


def imported_names(text: str) -> frozenset[str]:
    """The names that a module imports."""
    return frozenset(item for match in _IMPORT.finditer(text) for item in _items(match))


def _items(match: re.Match[str]) -> list[str]:
    return [item.strip() for item in match[3].strip("()").replace("\n", " ").split(",") if item.strip()]


def _reduced(match: re.Match[str], used: Set[str]) -> str:
    kept = [item for item in _items(match) if _bound_name(item) in used]
    return _statement(f"from {match[1]} {match[2]} ", kept) if kept else ""


def _bound_name(item: str) -> str:
    """``a as b`` binds b."""
    return item.split()[-1]


def _statement(start: str, items: list[str]) -> str:
    names = ", ".join(items)
    if len(start) + len(names) <= WIDTH:
        return f"{start}{names}\n"
    indent = "    "
    return f"{start}(\n{fill(f'{names},', WIDTH, initial_indent=indent, subsequent_indent=indent)}\n)\n"
