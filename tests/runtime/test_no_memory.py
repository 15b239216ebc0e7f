"""Runs no_memory.py in a process of its own, where the same requests are refused each time, and a crash is reported."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("no_memory.py")

pytest.importorskip("_testcapi", reason="CPython's own means to let requests for memory fail")


@pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="in free-threaded Python 3.13 a list display that gets no memory gives up the references of its caller too",
)
def test_memory_that_runs_out():
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(CASES)]
    done = subprocess.run(command, cwd=CASES.parents[2], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
