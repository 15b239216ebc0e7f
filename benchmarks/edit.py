"""Seconds from editing one entry of derivatives.yaml to importing the result, and to generate the whole table.

    python benchmarks/edit.py [family ...]

Edits the first formula of each family, or of those named, in a copy of the tree, builds what changed and imports the
package in a fresh process. The copy keeps the tree it was made from untouched.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMULA = re.compile(r"^(  self: )(.*grad.*)$", re.MULTILINE)
FAMILY = re.compile(r"^(\w+):\n", re.MULTILINE)


def edited(table: str, family: str, round_: int) -> str:
    """The table with the first formula of the family changed."""
    start = table.index(f"\n{family}:\n") + 1
    following = FAMILY.search(table, start + len(family))
    found = FORMULA.search(table, start, following.start() if following else len(table))
    if found is None:
        raise SystemExit(f"no formula in {family}")
    formula = f"({found.group(2)}) * {round_ + 1} / {round_ + 1}"  # another text, and still the derivative
    return table[: found.start(2)] + formula + table[found.end() :]


def seconds(tree: Path, family: str, rounds: int = 2) -> float:
    original = (tree / "derivatives.yaml").read_text()
    best = float("inf")
    for round_ in range(1, rounds + 1):
        (tree / "derivatives.yaml").write_text(edited(original, family, round_))
        start = time.perf_counter()
        for command in (["-m", "codegen"], ["-m", "compiling"], ["-c", "import gradsmith"]):
            run(tree, command)
        best = min(best, time.perf_counter() - start)
    (tree / "derivatives.yaml").write_text(original)
    for command in (["-m", "codegen"], ["-m", "compiling"]):
        run(tree, command)
    return best


def run(tree: Path, command: list[str]) -> None:
    done = subprocess.run([sys.executable, *command], cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def generation(tree: Path, rounds: int = 5) -> float:
    """Seconds to read, check and render the whole table."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        run(tree, ["-m", "codegen", "--check"])
        best = min(best, time.perf_counter() - start)
    return best


def progress(step: str) -> None:
    """Progress, for whoever waits; the output has the results alone."""
    print(f"... {step}", file=sys.stderr, flush=True)


def main(families: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "gradsmith"
        progress("copying the tree")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv"))
        progress("building the copy, which takes minutes where the tree itself is not built")
        run(tree, ["-m", "compiling"])
        progress("generating the table, five times")
        print(f"{'generation':15s} {generation(tree):.1f} s   must: 2 s", flush=True)
        for family in families or FAMILY.findall((tree / "derivatives.yaml").read_text()):
            progress(f"editing and building {family}, twice")
            print(f"{family:15s} {seconds(tree, family):.1f} s   must: 5 s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
