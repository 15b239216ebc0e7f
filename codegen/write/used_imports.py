"""The imports of a rendered module: of the names that templates ask for, those that the module uses.

A name is used when its word occurs in the code, outside strings and comments. Statements of several names alone are
looked at; ``import module`` may be there for what it does.
"""

from __future__ import annotations

import re
from collections.abc import Set

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


def _reduced(match: re.Match[str], used: Set[str]) -> str:
    items = [item.strip() for item in match[3].strip("()").replace("\n", " ").split(",") if item.strip()]
    kept = [item for item in items if _bound_name(item) in used]
    return _statement(f"from {match[1]} {match[2]} ", kept) if kept else ""


def _bound_name(item: str) -> str:
    """``a as b`` binds b."""
    return item.split()[-1]


def _statement(start: str, items: list[str]) -> str:
    line = f"{start}{', '.join(items)}\n"
    if len(line) <= WIDTH + 1:
        return line
    return "".join([f"{start}(\n", *(f"    {item},\n" for item in items), ")\n"])
