"""The files of a run, in one folder: results.json, speed.md, and a plot of each family with sizes."""

from __future__ import annotations

from pathlib import Path

from . import markdown, plots, results


def write(found: results.Results, folder: Path) -> None:
    results.save(found, folder / "results.json")
    write_report(found, folder)


def write_report(found: results.Results, folder: Path) -> None:
    pictures = plots.write(found, folder)
    text = markdown.report(found) + "".join(f"\n![{path.stem}]({path.name})\n" for path in pictures)
    (folder / "speed.md").write_text(text.rstrip() + "\n", encoding="utf-8")


def rewrite(path: Path) -> int:
    write_report(results.load(path), path.parent)
    return 0
