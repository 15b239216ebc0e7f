"""Ops whose value SciPy computes: it is imported by their first call, and named where it is missing."""

import math
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
y = gs.special.bessel_j0(x)
print("scipy.special" in sys.modules, "scipy.stats" in sys.modules, float(y[1].detach()))
"""
MISSING = """
import sys
sys.modules["scipy"] = None
import gradsmith as gs
for call in (gs.Tensor.mvlgamma, gs.Tensor.mvlgamma_, gs.mvlgamma):
    try:
        call(gs.ones(2), 1)
    except ModuleNotFoundError as error:
        print(error)
x = gs.zeros(1, requires_grad=True)
y = gs.erf(x) + gs.erfinv(x) + gs.lgamma(x + 1) + gs.digamma(x + 1) + gs.special.ndtri(x + 0.5)
y = y + gs.special.i1(x)
y.backward()
print(y.item(), x.grad.item())
"""


def output_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_is_imported_by_the_first_call():
    before, after = output_of(CALLS)
    assert before == "False"
    imported, other, value = after.split()
    assert (imported, other) == ("True", "False") and float(value) == pytest.approx(0.938469807240813, rel=1e-14)


def test_where_it_is_missing_the_op_says_so():
    message = "mvlgamma() needs scipy.special, which is not installed: pip install 'gradsmith[scipy]'"
    *found, values = output_of(MISSING)
    assert found == [message, message, message]
    value, slope = map(float, values.split())
    euler = 0.57721566
    assert value == pytest.approx(-euler, rel=1e-6)
    slopes = (2 / math.sqrt(math.pi), math.sqrt(math.pi) / 2, -euler, math.pi**2 / 6, math.sqrt(2 * math.pi), 0.5)
    assert slope == pytest.approx(sum(slopes), rel=1e-6)


def test_integers_are_computed_in_the_default_dtype():
    found = gs.erfinv(gs.tensor([0, 1]))
    assert found.dtype == gs.float32
    np.testing.assert_array_equal(found, [0, np.inf])


THREADS = """
import ctypes
import gradsmith as gs

def threads_of_scipy():
    from scipy.linalg import _fblas
    blas = ctypes.CDLL(_fblas.__file__)
    names = ("scipy_openblas_get_num_threads", "scipy_openblas_get_num_threads64_", "openblas_get_num_threads")
    return next((getattr(blas, name)() for name in names if hasattr(blas, name)), None)

{imported}
gs.set_num_threads(1)
gs.scipy.linalg.sqrtm(gs.eye(2))
print(threads_of_scipy())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="libraries are found by their names")
@pytest.mark.parametrize("imported", ["", "import scipy.linalg"], ids=["imported later", "imported before"])
def test_it_uses_no_more_threads(imported):
    """Its BLAS is another than NumPy's. Where both have threads, they keep each other from the cores."""
    (found,) = output_of(THREADS.format(imported=imported))
    assert found in ("1", "None")  # None: built with another BLAS
