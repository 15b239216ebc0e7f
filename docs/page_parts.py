"""Parts that several made pages have."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
MADE_BY = "<!-- Made by `make docs`. Do not edit. -->\n"


def code_list(items: Iterable[str]) -> str:
    return ", ".join(f"`{item}`" for item in items)


def code_block(lines: Iterable[str], language: str = "text") -> str:
    return "\n".join([f"```{language}", *(line.strip() for line in lines), "```"])
