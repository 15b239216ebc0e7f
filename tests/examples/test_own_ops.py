"""examples/own_ops.py and the table that it loads."""

import os
import subprocess
import sys

import pytest
from code_blocks import ROOT

pytestmark = pytest.mark.compiles

SCRIPT = ROOT / "examples" / "own_ops.py"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    return {**os.environ, "PYTHONPATH": str(ROOT), "GRADSMITH_CACHE_DIR": str(folder)}


def test_the_signal_is_found(environment):
    done = subprocess.run([sys.executable, str(SCRIPT)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    first, *steps, last = done.stdout.splitlines()
    assert first.startswith("The gradient differs from finite differences by ")
    losses = [float(step.split()[-1]) for step in steps]
    assert len(losses) == 5 and losses == sorted(losses, reverse=True)
    assert last.startswith("What was seen is off by 0.1")


def test_an_even_width_is_refused_by_the_array_function(environment):
    code = (
        "import gradsmith as gs\n"
        "ops = gs.load_ops('examples/my_ops.yaml', functions='examples/my_functions.py', methods=True)\n"
        "ops.blur(gs.ones(5), 4)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "ValueError: blur(): width must be odd, not 4"
