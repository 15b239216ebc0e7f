"""`make explain` over the compiled package: with the proofs of the entry."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.long
def test_an_explanation_ends_with_the_proofs():
    command = [sys.executable, "-m", "codegen", "explain", "tanh"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, *_, last = done.stdout.split("---- Proofs\n\n")[1].splitlines()
    assert first.split()[0] == "tanh" and "double" in first
    assert last.strip().startswith("1 entry proven")
