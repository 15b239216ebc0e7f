"""examples/sparse_solvers.py: what it solves."""

import os
import subprocess
import sys

from code_blocks import ROOT


def test_the_solvers_of_scipy_take_sparse_derivatives():
    script = ROOT / "examples" / "sparse_solvers.py"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    words = [line.split()[:2] for line in done.stdout.splitlines()]
    assert words == [["Broyden's", "system"], ["A", "chain"], ["A", "front"]]
