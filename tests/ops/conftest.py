"""Tests of all ops, by the rows of the op table: forms of calls, dtypes, values, and modes that they run in."""

import sys
from pathlib import Path

import pytest

HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)


@pytest.fixture
def any_gradient():
    """For tests that take any gradient of any op: complex eigenvectors need not be told of their phase."""
    from gradsmith.autograd import allow_phase_dependence

    with allow_phase_dependence():
        yield
