"""Ops whose value SciPy computes: it is imported by their first call, and named where it is missing."""

import subprocess
import sys

import numpy as np
import pytest

import gradsmith as gs

CALLS = """
import sys
import gradsmith as gs
print("scipy" in sys.modules)
x = gs.tensor([0.0, 0.5], dtype=gs.float64, requires_grad=True)
y = x.erfinv()
print("scipy.special" in sys.modules, "scipy.stats" in sys.modules, float(gs.erf(y)[1].detach()))
"""
MISSING = """
import sys
sys.modules["scipy"] = None
import gradsmith as gs
for call in (gs.Tensor.erfinv, gs.Tensor.erfinv_, gs.erfinv):
    try:
        call(gs.zeros(2))
    except ModuleNotFoundError as error:
        print(error)
print(gs.erf(gs.zeros(1)).item())
"""


def output_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_is_imported_by_the_first_call():
    before, after = output_of(CALLS)
    assert before == "False"
    imported, other, value = after.split()
    assert (imported, other) == ("True", "False") and float(value) == pytest.approx(0.5, rel=1e-14)


def test_where_it_is_missing_the_op_says_so():
    message = "erfinv() needs scipy.special, which is not installed: pip install 'gradsmith[scipy]'"
    assert output_of(MISSING) == [message, message, message, "0.0"]


def test_integers_are_computed_in_the_default_dtype():
    found = gs.erfinv(gs.tensor([0, 1]))
    assert found.dtype == gs.float32
    np.testing.assert_array_equal(found, [0, np.inf])
