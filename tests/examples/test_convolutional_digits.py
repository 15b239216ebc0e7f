"""examples/convolutional_digits.py: that it learns, on fewer digits and for a shorter time than its user waits."""

import os
import subprocess
import sys

from code_blocks import ROOT

SCRIPT = ROOT / "examples" / "convolutional_digits.py"


def run(*arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=300)


def test_it_learns_from_a_few_digits():
    done = run("--epochs", "8", "--digits", "400", "--required", "0.9")
    assert done.returncode == 0, done.stdout + done.stderr
    first, *_, last = done.stdout.splitlines()
    assert first == "400 handwritten digits to learn from, 360 held out."
    assert float(last.split()[2].rstrip("%")) >= 90


def test_it_fails_when_the_accuracy_is_too_low():
    done = run("--epochs", "0", "--digits", "32")
    assert done.returncode == 1 and "at least 99% is required" in done.stdout
