"""Forms of arguments that few programs use: no axes at all, masks that do not fit, dtypes of integers."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.numpy as gnp

A = np.random.default_rng(5).normal(size=(2, 3, 4))
MASK = A > 0
REDUCTIONS = (
    "sum", "prod", "max", "min", "mean", "var", "std", "ptp", "all", "any", "count_nonzero", "median", "nansum",
    "nanprod", "nanmax", "nanmin", "nanmean", "nanvar",
)  # fmt: skip
MASKED = ("sum", "prod", "mean", "var", "std", "all", "any", "nansum", "nanprod", "nanmean", "nanvar")


def arrays_of(result):
    return np.asarray(result.detach().numpy() if isinstance(result, gs.Tensor) else result)


def assert_as_numpy(name, *args, **kwargs):
    """The same of NumPy's function and of that of gradsmith.numpy, for tensors, as NumPy's of arrays."""
    expected = np.asarray(getattr(np, name)(*args, **kwargs))
    tensors = [gs.tensor(value) if isinstance(value, np.ndarray) else value for value in args]
    for namespace in (np, gnp):
        found = arrays_of(getattr(namespace, name)(*tensors, **kwargs))
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_without_axes_nothing_is_reduced(name):
    assert_as_numpy(name, A, axis=())
    assert_as_numpy(name, A, axis=(), keepdims=True)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_keepdims_of_all_axes(name):
    assert_as_numpy(name, A, keepdims=True)
    assert_as_numpy(name, A, keepdims=1)


@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "nanprod", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["i2", "i4", "?", "f4", "c16"])
def test_dtypes_of_results(name, dtype):
    assert_as_numpy(name, np.arange(6.0).reshape(2, 3), 1, dtype)
    assert_as_numpy(name, np.arange(6).reshape(2, 3), 1, dtype)


@pytest.mark.parametrize("dtype", ["i8", "i2"])
def test_a_mean_in_integers_is_cut_off(dtype):
    assert_as_numpy("mean", A * 100, axis=1, dtype=dtype)
    assert_as_numpy("mean", np.arange(7), dtype=dtype)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("kind", ["f8", "i8"])
def test_initial_values_have_the_dtype_of_the_result(name, kind):
    values = (A * 10).astype(kind)
    assert_as_numpy(name, values, axis=1, initial=2.5)
    assert_as_numpy(name, values, axis=1, initial=-3, where=MASK)


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_complex_numbers(name):
    assert_as_numpy(name, A[0] + 1j * A[1], axis=1)


@pytest.mark.parametrize("namespace", [np, gnp])
@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize(
    ("shape", "mask", "kind"),
    [
        ((4,), np.ones(4, int), TypeError),
        ((1,), np.ones(4, bool), ValueError),
        ((4,), np.ones((3, 1), bool), ValueError),
        ((4,), np.ones(3, bool), ValueError),
    ],
)
def test_masks_that_do_not_fit(namespace, name, shape, mask, kind):
    with pytest.raises(kind):
        getattr(np, name)(np.ones(shape), where=mask)
    with pytest.raises(kind):
        getattr(namespace, name)(gs.ones(shape), where=mask)


@pytest.mark.parametrize("namespace", [np, gnp])
@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda np, x: np.sum(x, axis=(0, 0)), ValueError),
        (lambda np, x: np.sum(x, axis=7), IndexError),
        (lambda np, x: np.max(x[:0]), ValueError),
        (lambda np, x: np.max(x, where=np.zeros_like(x) > 0), ValueError),
        (lambda np, x: np.prod(x, axis=(1, 1)), ValueError),
    ],
)
def test_errors_are_of_the_kinds_of_numpy(namespace, call, kind):
    with pytest.raises(kind):
        call(np, A)
    with pytest.raises(kind):
        call(namespace, gs.tensor(A))


def test_gradients_of_unusual_forms():
    weights = np.random.default_rng(6).normal(size=A.shape)
    found = gs.grad(lambda x: np.sum(weights * np.var(x, axis=(), keepdims=True)))(A)
    np.testing.assert_array_equal(found, np.zeros(A.shape))
    found = gs.grad(lambda x: np.sum(weights * np.sum(x, axis=())))(A)
    np.testing.assert_array_equal(found, weights)
    found = gs.grad(lambda x: np.sum(weights[0, 0] * np.prod(x, axis=(0, 1), where=MASK, initial=2.0)))(A)
    products = 2 * np.prod(A, axis=(0, 1), where=MASK)
    np.testing.assert_allclose(found, np.where(MASK, weights[0, 0] * products / A, 0))
