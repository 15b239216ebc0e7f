"""The code blocks of a Markdown page, and the running of those that are Python sessions.

A block that begins with ``>>>`` is a session: what the page says it prints is compared with what it prints. All
sessions of a page are one: names made in one block are there in the next. ``...`` in an output matches anything.
"""

from __future__ import annotations

import contextlib
import doctest
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = "```"
OPTIONS = doctest.ELLIPSIS | doctest.FAIL_FAST


@dataclass(frozen=True)
class Block:
    """A fenced block: the word after the fence, the text between the fences, and the line where that begins."""

    language: str
    text: str
    line: int

    @property
    def is_session(self) -> bool:
        return self.language == "python" and self.text.startswith(">>>")


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks, in the order of the page."""
    found, opened, lines = [], None, page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.startswith(FENCE):
            continue
        if opened is None:
            opened = number
            continue
        text = "".join(f"{inner}\n" for inner in lines[opened : number - 1])
        found.append(Block(lines[opened - 1].removeprefix(FENCE).strip(), text, opened + 1))
        opened = None
    if opened is not None:
        raise ValueError(f"{page.name}:{opened}: this block is never closed")
    return found


def failure_of(page: Path) -> str:
    """Run the sessions of a page from the root of the project; the first thing that went wrong, or nothing."""
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    names: dict[str, object] = {"__name__": "__main__"}
    with _inside(ROOT):
        for block in blocks_of(page):
            if block.is_session and not report:
                runner.run(_session(block, page, names), out=report.append, clear_globs=False)
    return "".join(report)


def _session(block: Block, page: Path, names: dict[str, object]) -> doctest.DocTest:
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    test.globs = names  # doctest copies them, and the next block needs what this one made
    return test


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """``contextlib.chdir``, which Python 3.10 does not have."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
