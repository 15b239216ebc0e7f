"""Cholesky's factors and their gradients by halves: values, layouts, which minor is bad, and every kind of product."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays import array
from gradsmith.runtime.arrays.functions.algebra.factors import definite

rng = np.random.default_rng(8)

DTYPES = ["float32", "float64", "complex64", "complex128"]
TOLERANCES = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-12, "complex128": 1e-12}
# Around the leaves of the recursion, and where products of each kind are used.
SIZES = [1, 2, 6, 9, 15, 16, 17, 31, 32, 33, 48, 65, 100, 161, 260]


def normal(dtype, *shape):
    imaginary = 1j * rng.normal(size=shape) if dtype.startswith("complex") else 0
    return (rng.normal(size=shape) + imaginary).astype(dtype)


def adjoint(a):
    return a.conj().mT


def positive(dtype, *shape):
    a = normal(dtype, *shape)
    return (a @ adjoint(a) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def close(found, wanted, dtype):
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCES[dtype] * np.abs(wanted).max(initial=1e-30))


def wide(a):
    return a.astype("complex128" if a.dtype.kind == "c" else "float64")


def gradient(factor, slope):
    """L^-H H L^-1, with H the Hermitian part of the lower triangle, with half its diagonal, of L^H times the slope."""
    factor, slope = wide(factor), np.tril(wide(slope))
    inner = np.tril(adjoint(factor) @ slope) * (1 - 0.5 * np.eye(factor.shape[-1]))
    inverse = np.linalg.inv(factor)
    return 0.5 * adjoint(inverse) @ (inner + adjoint(inner)) @ inverse


@pytest.fixture(params=["auto", "blas"])
def products(request):
    array.set_matmul_backend(request.param)
    yield
    array.set_matmul_backend("auto")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("products")
def test_factors_and_their_gradients(dtype, n):
    for batch in ((), (3,)):
        a, slope = positive(dtype, *batch, n, n), normal(dtype, *batch, n, n)
        x = gs.tensor(a, requires_grad=True)
        found = gs.linalg.cholesky(x)
        factor = np.linalg.cholesky(wide(a))
        close(found.detach().numpy(), factor, dtype)
        assert not np.triu(found.detach().numpy(), 1).any()
        found.backward(gs.tensor(slope))
        close(x.grad.numpy(), gradient(factor, slope), dtype)
        assert (x.grad.numpy() == adjoint(x.grad.numpy())).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 17, 70])
def test_only_lower_triangles_are_read(dtype, n):
    nan = np.triu(np.full((n, n), np.nan), 1).astype(dtype)
    a, slope = positive(dtype, n, n), normal(dtype, n, n)
    factor, orders = definite.factor_definite(np.tril(a) + nan)
    assert orders == 0
    close(factor, np.linalg.cholesky(wide(a)), dtype)
    close(definite.slopes_of_factors(np.tril(factor) + nan, np.tril(slope) + nan), gradient(factor, slope), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n, order", [(1, 1), (5, 3), (9, 1), (20, 17), (40, 40), (100, 57)])
@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan])
def test_the_first_leading_minor_that_is_not_positive(dtype, n, order, bad):
    """Its order is LAPACK's, and so PyTorch's."""
    a = np.stack([np.eye(n, dtype=dtype)] * 2)
    a[1, order - 1, order - 1] = bad
    message = rf"\(Batch element 1\): .* \(the leading minor of order {order} is not positive-definite\)"
    for call in (gs.linalg.cholesky, gs.cholesky, lambda t: gs.linalg.cholesky_ex(t, check_errors=True)):
        with pytest.raises(gs.linalg.LinAlgError, match=message):
            call(gs.tensor(a))
    factors, orders = gs.linalg.cholesky_ex(gs.tensor(a))
    assert orders.dtype == gs.int32 and orders.tolist() == [0, order]
    np.testing.assert_array_equal(factors.numpy(), a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n, order", [(3, 3), (5, 1), (12, 7)])
def test_the_factor_until_a_minor_is_not_positive(dtype, n, order):
    """What is there, multiplied, is the matrix; Moré and Sorensen's method reads the row of the minor."""
    a = positive(dtype, n, n)
    a[order - 1, order - 1] -= 3 * np.abs(a).sum()
    found = gs.linalg.cholesky_ex(gs.tensor(a).requires_grad_())
    assert found.info.item() == order
    whole, done = found.L.detach().numpy(), order - 1
    left = np.tril(whole[done:, done:]) + adjoint(np.tril(whole[done:, done:], -1))
    product = whole[:, :done] @ adjoint(whole[:, :done])
    product[done:, done:] += left
    close(product, a, dtype)
    assert not np.triu(whole, 1).any() and left[0, 0] < 0
    (slope,) = gs.autograd.grad(found.L.abs().sum(), found.L.grad_fn.next_functions[0][0].variable)
    assert slope.isnan().any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    a, slope = positive(dtype, 2, 40, 40), normal(dtype, 2, 40, 40)
    factor = np.linalg.cholesky(wide(a))
    spread = np.zeros((2, 80, 120), dtype)[:, ::2, ::3]
    spread[...] = a
    for given in (a.mT.copy().mT, spread, a.astype(a.dtype.newbyteorder())):
        found, _ = definite.factor_definite(given)
        close(found, factor, dtype)
    for given in (slope.mT.copy().mT, slope.astype(slope.dtype.newbyteorder())):
        close(definite.slopes_of_factors(factor.astype(dtype), given), gradient(factor, slope), dtype)
    upper = gs.linalg.cholesky(gs.tensor(a), upper=True).numpy()
    close(upper, adjoint(factor), dtype)


def test_no_elements_and_other_arguments():
    for shape in ((0, 3, 3), (2, 0, 0), (0, 0)):
        factors, orders = gs.linalg.cholesky_ex(gs.zeros(*shape))
        assert factors.shape == shape and orders.shape == shape[:-2] and not orders.any()
    meta = gs.linalg.cholesky_ex(gs.zeros(2, 3, 3, device="meta"))
    assert meta.L.is_meta and meta.info.shape == (2,)
    for given in (np.eye(3, dtype=np.int64), np.ones(3), np.ones((2, 3))):
        with pytest.raises(TypeError):
            definite.factor_definite(given)
    with pytest.raises(TypeError):
        definite.slopes_of_factors(np.eye(3), np.eye(4))
    with pytest.raises(TypeError):
        definite.slopes_of_factors(np.eye(3), np.eye(3, dtype=np.float32))


def test_derivatives_of_derivatives():
    for dtype, n in (("float64", 18), ("complex128", 4)):
        x = gs.tensor(positive(dtype, n, n), requires_grad=True)
        weights = gs.tensor(normal(dtype, n, n))

        def function(x, weights=weights):
            return (gs.linalg.cholesky(0.5 * (x + x.mH)) * weights).real.sum()

        assert gs.autograd.gradcheck(function, (x,))
        assert gs.autograd.gradgradcheck(function, (x,))
