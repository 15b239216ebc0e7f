"""Products of matrices."""

import numpy as np
import pytest
from arrays import assert_near, generator

from gradsmith.runtime.arrays.functions.algebra import linalg

SHAPES = [
    ((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((0, 3), (3, 4)), ((2, 0), (0, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int64])
def test_matmul(one, other, dtype):
    a, b = (generator.normal(size=size).astype(dtype) for size in (one, other))
    assert_near(linalg.matmul_of(a, b), np.asarray(np.matmul(a, b)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.zeros((2, 3))), r"\(2x3 and 2x3\)"),
        (lambda: linalg.matmul_of(np.zeros((5, 2, 3)), np.zeros((4, 3, 2))), r"\[5, 2, 3\] and \[4, 3, 2\]"),
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.zeros(2)), "3 columns meet 2 rows"),
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.array(1.0)), "2D and 0D"),
        (lambda: linalg.matmul_of(np.zeros((2, 3)), np.zeros((3, 1), np.float32)), "float64 and float32"),
        (lambda: linalg.mm_of(np.zeros((2, 3)), np.zeros(3)), r"expected a 2-D and a 2-D"),
        (lambda: linalg.bmm_of(np.zeros((5, 2, 3)), np.zeros((4, 3, 2))), r"should be \[5, 3, ...\]"),
        (lambda: linalg.mv_of(np.zeros((2, 3)), np.zeros(2)), "vector of size 2"),
        (lambda: linalg.dot_of(np.zeros(2), np.zeros(3)), "2 and 3"),
        (lambda: linalg.outer_of(np.zeros((2, 2)), np.zeros(3)), "two 1-D"),
        (lambda: linalg.linear_of(np.zeros((5, 3)), np.zeros((2, 4)), None), "3 features against 4"),
        (lambda: linalg.linear_of(np.zeros((5, 3)), np.zeros((2, 3)), np.zeros(4)), r"bias of size \[4\]"),
    ],
)
def test_products_refuse(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_linear():
    x, weight, bias = generator.normal(size=(4, 5, 3)), generator.normal(size=(2, 3)), generator.normal(size=2)
    assert_near(linalg.linear_of(x, weight, bias), x @ weight.T + bias)
    assert_near(linalg.linear_of(x, weight, None), x @ weight.T)
    assert_near(linalg.linear_of(x[0, 0], weight, bias), weight @ x[0, 0] + bias)
    assert_near(linalg.linear_of(x, weight[0], np.array(0.5)), x @ weight[0] + 0.5)
