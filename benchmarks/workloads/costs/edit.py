"""From editing an entry of derivatives.yaml to importing the result, and what generating the whole table takes.

The first formula of a family is edited in a copy of the tree, what changed is built, and the package imported in a
fresh process. The tree itself stays as it is. These rows are measured when they are asked for: `make bench-edit`.
"""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from ...cases import Probe, Probes
from ...measure.fresh import ROOT

FORMULA = re.compile(r"^(  self: )(.*grad.*)$", re.MULTILINE)
FAMILY = re.compile(r"^(\w+):\n", re.MULTILINE)
BUILD = (["-m", "codegen"], ["-m", "compiling"])


def table() -> str:
    return (ROOT / "derivatives.yaml").read_text(encoding="utf-8")


def edited(table: str, family: str, round_: int) -> str:
    """The table with the first formula of the family changed."""
    found = first_formula(table, family)
    if found is None:
        raise ValueError(f"no formula in {family}")
    formula = f"({found.group(2)}) * {round_ + 1} / {round_ + 1}"  # another text, and still the derivative
    return table[: found.start(2)] + formula + table[found.end() :]


def first_formula(table: str, family: str) -> re.Match[str] | None:
    start = table.index(f"\n{family}:\n") + 1
    following = FAMILY.search(table, start + len(family))
    return FORMULA.search(table, start, following.start() if following else len(table))


@cache
def copied_tree() -> Path:
    """A copy that is built, for all rows; building takes minutes where the tree itself is not built."""
    folder = tempfile.mkdtemp(prefix="gradsmith_edit_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tree = Path(folder) / "gradsmith"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv"))
    run(tree, ["-m", "compiling"])
    return tree


def run(tree: Path, command: list[str]) -> None:
    done = subprocess.run([sys.executable, *command], cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def edit_to_import(family: str, rounds: int = 2) -> float:
    tree, original, best = copied_tree(), table(), float("inf")
    for round_ in range(1, rounds + 1):
        (tree / "derivatives.yaml").write_text(edited(original, family, round_), encoding="utf-8")
        start = time.perf_counter()
        for command in (*BUILD, ["-c", "import gradsmith"]):
            run(tree, command)
        best = min(best, time.perf_counter() - start)
    (tree / "derivatives.yaml").write_text(original, encoding="utf-8")
    for command in BUILD:
        run(tree, command)
    return best


def generation() -> float:
    """Seconds to read, check and render the whole table."""
    start = time.perf_counter()
    run(ROOT, ["-m", "codegen", "--check"])
    return time.perf_counter() - start


def only_gradsmith(family: str = "") -> Probes:
    return {"gradsmith": partial(edit_to_import, family) if family else generation}


def rows() -> Iterator[Probe]:
    yield Probe("generation of the whole table", only_gradsmith, aim="2 s", rounds=5, on_request=True)
    text = table() if (ROOT / "derivatives.yaml").exists() else ""
    for family in FAMILY.findall(text):
        if first_formula(text, family) is not None:
            name = f"edit to import, {family}"
            yield Probe(name, only_gradsmith, (family,), aim="5 s", rounds=1, on_request=True)
