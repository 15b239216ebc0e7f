"""The results of a run, and their file."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Result:
    """One row as it was measured: seconds or bytes of each contestant, one number a round."""

    family: str
    name: str
    threads: int = 1
    unit: str = "s"
    must: str = ""
    aim: str = ""
    series: str = ""
    size: int = 0
    objective: str = ""
    samples: dict[str, list[float]] = field(default_factory=dict)
    judge: str = ""  # whose results the others' were compared with
    load: float = 0.0  # cores that others kept busy
    missing: list[str] = field(default_factory=list)  # contestants of the row that are not installed
    failure: str = ""

    @property
    def title(self) -> str:
        return f"{self.name}, {self.threads} threads" if self.threads > 1 else self.name

    def minimum(self, name: str = "gradsmith") -> float:
        return min(self.samples[name])

    def median(self, name: str = "gradsmith") -> float:
        return statistics.median(self.samples[name])

    def ratio(self, other: str, of: str = "gradsmith") -> float | None:
        """Medians: `of` as a part of the other's; None where either did not take part."""
        return _quotient(self.median(of), self.median(other)) if {of, other} <= self.samples.keys() else None

    def least_ratio(self, other: str, of: str = "gradsmith") -> float | None:
        """The same of the minima."""
        return _quotient(self.minimum(of), self.minimum(other)) if {of, other} <= self.samples.keys() else None


def _quotient(a: float, b: float) -> float | None:
    return a / b if b > 0 else None


@dataclass
class Results:
    """A run: its machine, its settings, its rows."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    rows: list[Result]

    def families(self) -> dict[str, list[Result]]:
        found: dict[str, list[Result]] = {}
        for row in self.rows:
            found.setdefault(row.family, []).append(row)
        return found

    @property
    def failures(self) -> list[str]:
        return [row.failure for row in self.rows if row.failure]


def save(results: Results, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    read = json.loads(path.read_text(encoding="utf-8"))
    return Results(read["machine"], read["settings"], [Result(**row) for row in read["rows"]])


def joined(parts: Sequence[Results]) -> Results:
    """The rows of several runs, such as those of one and of two threads, family by family."""
    families: dict[str, list[Result]] = {}
    for part in parts:
        for family, rows in part.families().items():
            families.setdefault(family, []).extend(rows)
    rows = [row for name in sorted(families) for row in families[name]]
    return Results(parts[0].machine, parts[0].settings, rows)
