"""The threads of the kernels, and callers from several threads and processes."""

import ctypes
import os
import subprocess
import sys

import array_testing as kernels
import numpy as np
import pytest
from forking import answer_of_child, needs_fork
from operands import values
from run_threads import run_threads

from gradsmith.runtime.arrays import array


def test_set_num_threads():
    before = array.get_num_threads()
    assert before >= 1
    array.set_num_threads(3)
    assert array.get_num_threads() == 3
    array.set_num_threads(before)
    with pytest.raises(RuntimeError, match="expects a positive integer"):
        array.set_num_threads(0)
    with pytest.raises(ValueError, match="set_num_threads.*: overflow: 1099511627776 threads are more than"):
        array.set_num_threads(1 << 40)


def threads_of_blas():
    """As BLAS itself says, for the library that NumPy's wheels bring."""
    umath = ctypes.CDLL(np._core._multiarray_umath.__file__)
    for name in ("scipy_openblas_get_num_threads64_", "scipy_openblas_get_num_threads", "openblas_get_num_threads"):
        if hasattr(umath, name):
            return getattr(umath, name)()
    return None


@pytest.mark.skipif(sys.platform != "linux" or threads_of_blas() is None, reason="NumPy's BLAS is not OpenBLAS")
def test_blas_uses_no_more_threads():
    before = array.get_num_threads()
    try:
        array.set_num_threads(1)
        assert threads_of_blas() == 1
        array.set_num_threads(2)
        assert threads_of_blas() == min(2, len(os.sched_getaffinity(0)))
    finally:
        array.set_num_threads(before)


@pytest.mark.skipif(sys.platform != "linux" or threads_of_blas() is None, reason="NumPy's BLAS is not OpenBLAS")
def test_the_environment_limits_blas_too():
    program = (
        "import ctypes, numpy as np, gradsmith as gs; u = ctypes.CDLL(np._core._multiarray_umath.__file__)\n"
        "names = [n for n in ('scipy_openblas_get_num_threads64_', 'scipy_openblas_get_num_threads', "
        "'openblas_get_num_threads') if hasattr(u, n)]\nprint(gs.get_num_threads(), getattr(u, names[0])())"
    )
    environment = {**os.environ, "GRADSMITH_NUM_THREADS": "1"}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["1", "1"]


def two_large_kernels_are_right():
    x = values("float32", 300_000)
    return bool(
        np.array_equal(kernels.apply_unary("SQRT", np.abs(x)), np.sqrt(np.abs(x)))
        and np.array_equal(kernels.apply_scalar("ADD", x, 1.0), x + np.float32(1))
    )


@pytest.fixture
def pool():
    before = array.get_num_threads()
    array.set_num_threads(2)
    yield
    array.set_num_threads(before)


def test_callers_from_many_threads(pool):
    answers = []

    def work():
        answers.extend(two_large_kernels_are_right() for _ in range(30))

    run_threads([work] * 4)
    assert answers == [True] * 120


@needs_fork
def test_pool_after_fork(pool):
    assert two_large_kernels_are_right()  # starts the threads
    assert answer_of_child(two_large_kernels_are_right) == "True"
    assert two_large_kernels_are_right()
