"""Throw-away trees of commits, built."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..measure.fresh import ROOT
from ..measure.machine import git

HERE = "."  # stands for this tree as it is, which must have been built
# What is under build/ and does not belong to the state of the compiled modules.
OTHERS = shutil.ignore_patterns("benchmarks", "cache", "outside", "proofs", "lock")


@contextmanager
def built_trees(commits: Sequence[str]) -> Iterator[list[Path]]:
    """A built tree of each commit, while the block runs."""
    with tempfile.TemporaryDirectory(prefix="gradsmith_compare_") as folder:
        made: list[Path] = []
        try:
            trees = []
            for number, commit in enumerate(commits):
                if commit == HERE:
                    trees.append(ROOT)
                    continue
                made.append(Path(folder) / f"{number}" / "gradsmith")
                build(made[-1], commit)
                trees.append(made[-1])
            yield trees
        finally:
            for tree in made:
                if tree.exists():
                    git("worktree", "remove", "--force", str(tree))


def build(tree: Path, commit: str) -> None:
    """Check a commit out and build it, reusing everything this tree has compiled from the same sources."""
    print(f"building {commit} ({git('rev-parse', '--short=12', f'{commit}^{{commit}}')})", file=sys.stderr, flush=True)
    git("worktree", "add", "--detach", str(tree), f"{commit}^{{commit}}")
    take_over(tree)
    for step in ("codegen", "compiling"):
        done = subprocess.run([sys.executable, "-m", step], cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{commit} could not be built, {step} failed:\n{done.stdout}{done.stderr}")


def take_over(tree: Path) -> None:
    if (ROOT / "build").exists():
        shutil.copytree(ROOT / "build", tree / "build", symlinks=True, ignore=OTHERS, dirs_exist_ok=True)
    for top in ("runtime", "generated", "tests"):
        for library in (ROOT / top).rglob("*.so"):
            target = tree / library.relative_to(ROOT)
            if target.parent.is_dir():
                shutil.copy2(library, target)
