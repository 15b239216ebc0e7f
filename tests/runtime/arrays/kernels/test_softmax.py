"""Softmax, its logarithm, its backward, and logsumexp."""

import array_testing as kernels
import numpy as np
import pytest
from operands import assert_close, values


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("dtype, rtol", [("float16", 1e-2), ("float32", 3e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("shape", [(5,), (32, 10), (3, 3000), (3, 5, 7), (4, 100, 300), (1025, 33), (0, 3), (3, 0)])
def test_softmax_family(dtype, rtol, shape, threads):
    x = values(dtype, shape)
    grad = values(dtype, shape, 2)
    for axis in range(-x.ndim, x.ndim):
        if x.size == 0:
            assert kernels.apply_softmax(x, axis).shape == shape
            continue
        wide, wide_grad = x.astype("float64"), grad.astype("float64")
        y = kernels.apply_softmax(x, axis)
        assert y.dtype == dtype
        assert_close(y, softmax(wide, axis), rtol)
        log_y = kernels.apply_log_softmax(np.asfortranarray(x), axis)
        assert_close(log_y, np.log(softmax(wide, axis)), rtol * 3)
        exact, exact_log = y.astype("float64"), log_y.astype("float64")
        expected = exact * (wide_grad - (wide_grad * exact).sum(axis, keepdims=True))
        assert_close(kernels.apply_softmax_backward(grad, y, axis), expected, rtol * 3)
        expected = wide_grad - np.exp(exact_log) * wide_grad.sum(axis, keepdims=True)
        assert_close(kernels.apply_log_softmax_backward(grad, log_y, axis), expected, rtol * 40)


@pytest.mark.parametrize("dtype, rtol", [("float32", 4e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("rows", [1, 2, 7, 33])
def test_rows_of_every_length(dtype, rtol, rows):
    """Short rows are worked on together with the beginning of the next, and long ones in blocks that overlap."""
    for n in [*range(1, 70), 1023, 1024, 1025, 1040, 2100]:
        x, grad = values(dtype, (rows, n)), values(dtype, (rows, n), 2)
        expected, wide_grad = softmax(x.astype("float64"), 1), grad.astype("float64")
        assert_close(kernels.apply_softmax(x, 1), expected, rtol)
        assert_close(kernels.apply_log_softmax(x, 1), np.log(expected), rtol)
        assert_close(kernels.apply_logsumexp(x, 1), np.log(np.exp(x.astype("float64")).sum(1)), rtol)
        through = expected * (wide_grad - (wide_grad * expected).sum(1, keepdims=True))
        assert_close(kernels.apply_softmax_backward(grad, expected.astype(dtype), 1), through, rtol * 10)
        through = wide_grad - expected * wide_grad.sum(1, keepdims=True)
        assert_close(kernels.apply_log_softmax_backward(grad, np.log(expected).astype(dtype), 1), through, rtol * 40)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 3, 8, 9, 16, 20, 31, 32, 33, 50])
def test_rows_do_not_see_each_other(dtype, n):
    """A row beside NaN, infinities and large numbers has the bits that it has alone."""
    x = values(dtype, (9, n))
    x[1::2] = np.array([np.nan, np.inf, -np.inf, 1e30], dtype)[:, None]
    for op in (kernels.apply_softmax, kernels.apply_log_softmax, kernels.apply_logsumexp):
        together = op(x, 1)
        for row in range(0, 9, 2):
            np.testing.assert_array_equal(together[row], op(x[row : row + 1].copy(), 1)[0])


@pytest.mark.parametrize("axes", [None, 0, 1, 2, (0, 1), (1, 2), (0, 2), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(axes, keepdims):
    x = values("float64", (3, 40, 5))
    expected = np.log(np.exp(x).sum(axes, keepdims=keepdims))
    assert_close(kernels.apply_logsumexp(x, axes, keepdims), expected, 1e-14)
    assert_close(kernels.apply_logsumexp(np.asfortranarray(x), axes, keepdims), expected, 1e-14)


def test_logsumexp_at_the_edges():
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 1], [np.nan, 1], [1e4, 1e4]])
    expected = [-inf, inf, np.nan, 1e4 + np.log(2)]
    np.testing.assert_allclose(kernels.apply_logsumexp(x, 1), expected)
    np.testing.assert_allclose(kernels.apply_logsumexp(np.ascontiguousarray(x.T), 0), expected)
    np.testing.assert_array_equal(kernels.apply_logsumexp(np.ones((2, 0)), 1), [-inf, -inf])
    assert kernels.apply_logsumexp(np.arange(3)).dtype == "float32"


def test_softmax_refuses_integers():
    with pytest.raises(RuntimeError, match="\"softmax\" not implemented for 'int64'"):
        kernels.apply_softmax(np.arange(3), 0)
    with pytest.raises(IndexError, match="Dimension out of range"):
        kernels.apply_softmax(np.ones(3), 1)
