"""Powers and exponentials of matrices: dtypes, extreme numbers, empty batches, and what is refused."""

import math

import numpy as np
import pytest

import gradsmith as gs

WHOLE = gs.tensor([[2, 1], [1, 1]])


@pytest.mark.parametrize(
    ("n", "expected"), [(0, [[1, 0], [0, 1]]), (1, [[2, 1], [1, 1]]), (2, [[5, 3], [3, 2]]), (3, [[13, 8], [8, 5]])]
)
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "float32", "complex64"])
def test_powers_keep_the_dtype(n, expected, dtype):
    found = gs.linalg.matrix_power(WHOLE.to(getattr(gs, dtype)), n)
    assert found.numpy().dtype == dtype
    np.testing.assert_array_equal(found.numpy(), expected)


def test_negative_powers():
    np.testing.assert_allclose(WHOLE.double().matrix_power(-2).numpy(), [[2, -3], [-3, 5]])
    assert gs.matrix_power(gs.ones(0, 2, 2), -2).shape == (0, 2, 2)
    with pytest.raises(gs.linalg.LinAlgError, match=r"\(Batch element 1\).*singular"):
        gs.matrix_power(gs.tensor(np.stack([np.eye(2), np.ones((2, 2))])), -1)
    with pytest.raises(RuntimeError, match="linalg.inv: Expected a floating point or complex tensor"):
        gs.matrix_power(WHOLE, -1)


def test_exponentials_of_extreme_matrices():
    """Every matrix of a batch has a scale of its own."""
    batch = np.array(
        [[[0, 0], [0, 0]], [[-1000, 0], [0, 1]], [[np.nan, 0], [0, 1]], [[0, 1e8], [0, 0]], [[1000, 0], [0, 1]]]
    )
    found = gs.matrix_exp(gs.tensor(batch)).numpy()
    np.testing.assert_array_equal(found[0], np.eye(2))
    np.testing.assert_allclose(found[1], [[0, 0], [0, math.e]])
    assert np.isnan(found[2]).all()
    np.testing.assert_allclose(found[3], [[1, 1e8], [0, 1]])
    np.testing.assert_allclose(found[4], [[np.inf, 0], [0, math.e]])


def test_gradients_of_exponentials_are_linear():
    """Whatever the gradient's size."""
    x = gs.tensor([[0.5, 2.0], [-1.0, 0.25]], dtype=gs.float64, requires_grad=True)
    small, great = (
        gs.autograd.grad(gs.matrix_exp(x), x, gs.full((2, 2), size, dtype=gs.float64))[0] for size in (1.0, 2.0**80)
    )
    np.testing.assert_allclose(great.numpy() / 2.0**80, small.numpy(), rtol=1e-14)


@pytest.mark.parametrize("shape", [(0, 2, 2), (2, 0, 0), (0, 0)])
def test_empty_matrices(shape):
    assert gs.matrix_exp(gs.ones(*shape)).shape == gs.matrix_power(gs.ones(*shape), 3).shape == shape


def test_half_precision():
    """PyTorch's squarings overflow here."""
    found = gs.matrix_exp(WHOLE.half())
    assert found.dtype == gs.float16
    np.testing.assert_allclose(found.numpy(), [[10.328, 5.474], [5.474, 4.854]], rtol=2e-3)


@pytest.mark.parametrize("function", [gs.matrix_exp, lambda x: gs.matrix_power(x, 2)])
@pytest.mark.parametrize(
    ("value", "message"),
    [(gs.ones(2, 3), "2 by 3 matrices"), (gs.ones(2), "at least 2 dim"), (gs.tensor(1.0), "at least 2 dim")],
)
def test_what_is_refused(function, value, message):
    with pytest.raises(RuntimeError, match=message):
        function(value)


def test_dtypes_that_are_refused():
    with pytest.raises(RuntimeError, match="floating point or complex tensor as input, but got int64"):
        gs.matrix_exp(WHOLE)
    with pytest.raises(NotImplementedError, match="bool"):
        gs.matrix_power(WHOLE.bool(), 2)


def test_vandermonde_matrices():
    """PyTorch's answers."""
    np.testing.assert_array_equal(gs.linalg.vander(gs.tensor([1, 2, 3])).numpy(), [[1, 1, 1], [1, 2, 4], [1, 3, 9]])
    assert gs.linalg.vander(gs.ones(0), N=3).shape == (0, 3)
    assert gs.vander(gs.ones(2), 0).shape == (2, 0) and gs.vander(gs.tensor([2.0, np.nan]), 1).tolist() == [[1], [1]]
    many = gs.linalg.vander(gs.tensor([-1.5, 0.0, 0.5], dtype=np.float64), N=40).numpy()
    np.testing.assert_allclose(many, np.array([[-1.5], [0.0], [0.5]]) ** np.arange(40), rtol=1e-14)
    x = gs.tensor([0.0, 2.0], requires_grad=True)
    gs.linalg.vander(x, N=3).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1, 5])
    for call in (lambda: gs.linalg.vander(gs.ones(3), N=1), lambda: gs.linalg.vander(gs.ones(2, 0))):
        with pytest.raises(RuntimeError, match="N must be greater than 1"):
            call()


def test_decompositions_at_the_top():
    """`svd` gives the vectors as columns, or zeros, as PyTorch does."""
    x = gs.tensor(np.random.default_rng(0).normal(size=(2, 3, 4)))
    u, s, v = x.svd()
    np.testing.assert_allclose((u * s[:, None] @ v.mT).numpy(), x.numpy())
    assert [part.shape for part in gs.svd(x, some=False)] == [(2, 3, 3), (2, 3), (2, 4, 4)]
    zero_u, values, zero_v = gs.svd(x, compute_uv=False)
    assert zero_u.shape == (2, 3, 3) and zero_v.shape == (2, 4, 4) and not zero_u.any() and not zero_v.any()
    np.testing.assert_allclose(values.numpy(), s.numpy())
    assert [part.shape for part in gs.qr(x.mT, some=False)] == [(2, 4, 4), (2, 4, 3)]
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        gs.svd(gs.ones(2), compute_uv=False)


def test_the_first_power_is_a_copy():
    x = gs.eye(2)
    x.matrix_power(1).fill_(3)
    assert x.tolist() == [[1, 0], [0, 1]]
