"""The files of a run, in one folder: results.json, speed.md, and a plot of each family with sizes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import markdown, page, plots, results


def write(found: results.Results, folder: Path) -> None:
    results.save(found, folder / "results.json")
    write_report(found, folder)


def write_report(found: results.Results, folder: Path) -> None:
    pictures = plots.write(found, folder)
    text = markdown.report(found) + "".join(f"\n![{path.stem}]({path.name})\n" for path in pictures)
    (folder / "speed.md").write_text(text.rstrip() + "\n", encoding="utf-8")


def rewrite(paths: Sequence[Path], for_page: bool = False) -> int:
    """Reports of files of results: beside the first of them, or in the page of the documentation."""
    found = results.joined([results.load(path) for path in paths])
    if for_page:
        page.refresh(found)
    else:
        write_report(found, paths[0].parent)
    return 0
