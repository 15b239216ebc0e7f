"""Locations of the entries in the file of a table."""

from __future__ import annotations

import re
from pathlib import Path

_ENTRY = re.compile(r"""^ *- +name: +['"]?([\w.]+)\(""")


class Places:
    """Key of an entry -> its place, ``derivatives.yaml:561``; the file alone where the line is not known."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.lines = _lines_of(path)

    def __getitem__(self, key: str) -> str:
        return f"{self.name}:{self.lines[key]}" if key in self.lines else self.name


def _lines_of(path: Path) -> dict[str, int]:
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = ((_ENTRY.match(line), number) for number, line in enumerate(text.splitlines(), 1))
    return {match[1]: number for match, number in found if match}
