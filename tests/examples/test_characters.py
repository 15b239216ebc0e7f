"""examples/characters.py: what the network writes."""

import os
import subprocess
import sys

from code_blocks import ROOT


def test_an_lstm_learns_a_text_by_heart():
    script = ROOT / "examples" / "characters.py"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    losses = [float(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("round")]
    assert losses[0] > 2
    assert losses[-1] < 0.2
    assert "we hung it where it lay, dug the ground away beneath it" in done.stdout
    assert "Loss" in done.stdout.splitlines()[-1]
