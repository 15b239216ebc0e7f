"""The threads of the kernels, and callers from several threads and processes."""

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


def two_large_kernels_are_right():
    x = values("float32", 300_000)
    return bool(
        np.array_equal(kernels.apply_unary("EXP", x), np.exp(x))
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
