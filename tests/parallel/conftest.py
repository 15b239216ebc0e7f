"""Functions for tasks lie in a module that worker processes can import, as they would in a program."""

import sys
from pathlib import Path

import pytest

import gradsmith as gs

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture(scope="session")
def processes():
    """Two processes for many tests. Those that a test ends are started again."""
    with gs.parallel.Pool("processes", workers=2) as pool:
        yield pool


@pytest.fixture(params=["serial", "threads", "processes"])
def pool(request):
    """Each backend of the package's own."""
    if request.param == "processes":
        yield request.getfixturevalue("processes")
    else:
        with gs.parallel.Pool(request.param, workers=2) as pool:
            yield pool
