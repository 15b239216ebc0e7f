"""Tables in Markdown: a section for each family, a line for each row, ratios to each contestant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..cases import bars
from ..contestants import TITLES
from ..measure.timing import readable
from .results import Result, Results

BUSY = 0.5  # cores kept busy by others from which on a row is marked


def report(results: Results) -> str:
    """The whole report."""
    parts = ["# Speed", "", *heading(results), ""]
    for family, rows in results.families().items():
        parts += [f"## {family}", "", *table(rows), "", *over_objective(rows)]
    if results.failures:
        parts += ["## Failures", "", *(f"- {failure}" for failure in results.failures), ""]
    return "\n".join(parts)


def heading(results: Results) -> Iterator[str]:
    """Where the numbers come from, and how they are read."""
    machine = results.machine
    versions = ", ".join(f"{TITLES[name]} {found}" for name, found in machine["versions"].items() if found)
    absent = [TITLES[name] for name, found in machine["versions"].items() if not found]
    yield f"{machine['processor']}, {machine['cores']} cores, {machine['kernels']}; {machine['system']}."
    yield f"{versions}; Python {machine['python']}, BLAS {machine['blas']}."
    if machine["commit"]:
        yield f"Commit {machine['commit']}."
    if absent:
        yield f"Not installed, and so not in the tables: {', '.join(absent)}."
    yield ""
    yield "Time of gradsmith, and as a part of each other's: ratio of the medians (of the minima); below 1 gradsmith is"
    yield f"faster. † others kept more than {BUSY} cores busy on average; ! the bar is not reached."
    if results.settings.get("clock") == "cpu":
        yield "Of rows with one thread the time is that on the processor, not that of the clock on the wall."


def table(rows: Sequence[Result]) -> Iterator[str]:
    others = contestants(rows)
    yield "| " + " | ".join(["row", "gradsmith", *(TITLES.get(name, name) for name in others), "must", "aim"]) + " |"
    yield "| --- |" + " ---: |" * (len(others) + 1) + " --- | --- |"
    for row in rows:
        yield "| " + " | ".join([row.title + mark(row), *cells(row, others), row.must, row.aim]) + " |"


def contestants(rows: Sequence[Result]) -> list[str]:
    """All but gradsmith, in the order of `TITLES`, then those that are programs of its own."""
    found = {name for row in rows for name in row.samples} - {"gradsmith"}
    known = [name for name in TITLES if name in found]
    return known + sorted(found - set(known))


def cells(row: Result, others: Sequence[str]) -> list[str]:
    if "gradsmith" not in row.samples:
        return ["failed" if row.failure else "-", *("" for _ in others)]
    return [readable(row.median(), row.unit), *(quotient(row, name) for name in others)]


def quotient(row: Result, other: str) -> str:
    middle, least = row.ratio(other), row.least_ratio(other)
    if middle is None or least is None:
        return ""
    bar = bars(row.must).get(other)
    missed = "!" if bar is not None and middle > bar * 1.005 and least > bar * 1.005 else ""
    return f"{number(middle)} ({number(least)}){missed}"


def number(ratio: float) -> str:
    """A ratio with two digits that count.

    >>> number(1.234), number(0.0312), number(17.3)
    ('1.23', '0.031', '17')
    """
    return f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def mark(row: Result) -> str:
    return " †" if row.load > BUSY else ""


def over_objective(rows: Sequence[Result]) -> Iterator[str]:
    """How often the time of its objective a gradient takes, for each contestant."""
    pairs = [(row, objective) for row in rows if (objective := objective_of(row, rows)) is not None]
    if not pairs:
        return
    names = ["gradsmith", *contestants([row for pair in pairs for row in pair])]
    yield "Gradient over objective, ratio of the medians:"
    yield ""
    yield "| row | " + " | ".join(TITLES.get(name, name) for name in names) + " |"
    yield "| --- |" + " ---: |" * len(names)
    for row, objective in pairs:
        yield f"| {row.title} | " + " | ".join(over(row, objective, name) for name in names) + " |"
    yield ""


def objective_of(row: Result, rows: Sequence[Result]) -> Result | None:
    same = (other for other in rows if other.name == row.objective and other.threads == row.threads)
    return next(same, None)


def over(row: Result, objective: Result, name: str) -> str:
    if name not in row.samples or name not in objective.samples:
        return ""
    return number(row.median(name) / objective.median(name))


def line(row: Result) -> str:
    """A row as it is printed while others are still measured."""
    if row.failure:
        return f"{row.title:50s} FAILED: {row.failure}"
    others = [f"{name} {ratio}" for name in contestants([row]) if (ratio := quotient(row, name))]
    must = f"   must: {row.must}" if row.must else ""
    own = readable(row.median(), row.unit) if "gradsmith" in row.samples else "-"
    return f"{row.title + mark(row):50s} {own:>10s}   {'  '.join(others)}{must}"
