"""examples/transformer.py: it learns."""

import os
import subprocess
import sys

from code_blocks import ROOT

SCRIPT = ROOT / "examples" / "transformer.py"


def test_it_learns_to_turn_sequences_around():
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, str(SCRIPT)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if "loss" in line and "step " in line]
    assert losses[-1] < 0.05
    assert losses[-1] < losses[0]
