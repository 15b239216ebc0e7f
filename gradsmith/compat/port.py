"""The command ``python -m gradsmith port``: what a program uses of PyTorch, NumPy or autograd that is not here.

The program is read, not run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gradsmith.compat.used_names import Use, uses_in
from gradsmith.compat.verdicts import FINE, MISSING, OTHERWISE, PERHAPS, Verdict, verdict_on


class Finding(NamedTuple):
    """A use of a name, and what is to be said of it."""

    path: str
    use: Use
    verdict: Verdict

    def line(self) -> str:
        """``path:3:9: torch.hub: missing. torch.hub has no counterpart ...``"""
        place = f"{self.path}:{self.use.line}:{self.use.column}"
        return f"{place}: {self.use.name}: {self.verdict.kind}. {self.verdict.text}"

    def as_dict(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "path": self.path,
            "line": self.use.line,
            "column": self.use.column,
            "name": self.use.name,
            "kind": self.verdict.kind,
            "reason": self.verdict.text,
        }


def main(argv: Sequence[str] | None = None) -> int:
    """Report on programs.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments of the command; without it those of the process.

    Returns
    -------
    int
        The exit status: 1 when a name is missing, 2 when a file cannot be read as Python, else 0.
    """
    options = _parser().parse_args(argv)
    findings: list[Finding] = []
    unreadable = False
    for path in _files(options.programs):
        try:
            findings += findings_in(path)
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            unreadable = True
    print(_as_json(findings) if options.json else _as_text(findings, options.all))
    if unreadable:
        return 2
    return 1 if any(finding.verdict.kind == MISSING for finding in findings) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gradsmith port",
        description="Report which names of PyTorch, NumPy or autograd a program uses that gradsmith does not have, or "
        "has with another meaning. The program is read, not run.",
    )
    parser.add_argument("programs", nargs="+", help="files, or folders with files below them")
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    parser.add_argument("--all", action="store_true", help="also list what is here")
    return parser


def _files(programs: Iterable[str]) -> Iterator[Path]:
    for program in programs:
        path = Path(program)
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def findings_in(path: Path) -> list[Finding]:
    """The findings in one file.

    NumPy beside PyTorch or autograd stays NumPy. A program that has NumPy alone is one for ``import gradsmith as np``.
    """
    source = path.read_bytes().decode("utf-8-sig")
    uses = uses_in(source, ("torch", "autograd"))
    if not any(_is_of_library(use) for use in uses):
        uses = [use for use in uses_in(source, ("numpy",)) if _is_of_library(use)]
    verdicts = {name: verdict_on(name) for name in {use.name for use in uses}}
    return [Finding(str(path), use, verdicts[use.name]) for use in uses]


def _is_of_library(use: Use) -> bool:
    return not use.name.startswith((".", '"'))


def _as_text(findings: list[Finding], everything: bool) -> str:
    shown = [finding.line() for finding in findings if everything or finding.verdict.kind != FINE]
    return "\n".join([*shown, _summary(findings)])


def _counts(findings: list[Finding]) -> Counter[str]:
    """Of different names; attributes of unknown objects count where something is to be said."""
    kinds = {finding.use.name: finding.verdict.kind for finding in findings}
    return Counter(kind for name, kind in kinds.items() if kind != FINE or not name.startswith((".", '"')))


def _summary(findings: list[Finding]) -> str:
    counts = _counts(findings)
    parts = [f"{counts[MISSING]} missing", f"{counts[OTHERWISE]} with another meaning"]
    parts += [f"{counts[PERHAPS]} perhaps missing"] if counts[PERHAPS] else []
    return f"{', '.join(parts)}, {counts[FINE]} as they are"


def _as_json(findings: list[Finding]) -> str:
    counts = _counts(findings)
    return json.dumps(
        {
            "findings": [finding.as_dict() for finding in findings if finding.verdict.kind != FINE],
            "counts": {kind: counts[kind] for kind in (MISSING, OTHERWISE, PERHAPS, FINE)},
        },
        indent=2,
    )
