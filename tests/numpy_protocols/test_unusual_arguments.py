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


def test_bins_that_go_down():
    x, bins = np.array([[0.3, 2.0, 5.0], [-1.0, 1.0, np.inf]]), [2.0, 1.0, 0.0]
    for right in (False, True):
        assert_as_numpy("digitize", x, np.array(bins), right)
    with pytest.raises(ValueError, match="monotonically"):
        np.digitize(gs.tensor(x), [0.0, 2.0, 1.0])


def test_axes_of_more_than_one_element_are_not_squeezed():
    assert_as_numpy("squeeze", A[:1], axis=0)
    assert_as_numpy("squeeze", A[:1, :, :1])
    for namespace in (np, gnp):
        with pytest.raises(ValueError, match="size not equal to one"):
            namespace.squeeze(gs.tensor(A), axis=1)


@pytest.mark.parametrize("values", [A[0] > 0, A[0] + 1j * A[1], np.arange(12).reshape(3, 4)])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extremes_of_all_dtypes(name, values):
    assert_as_numpy(name, values)
    assert_as_numpy(name, values, axis=-1)


def test_more_of_dtypes():
    assert_as_numpy("isin", A[0] > 0, [1])
    assert_as_numpy("cov", A[0], aweights=[1, 2, 3, 4])
    assert_as_numpy("average", A[0] + 1j * A[1], -1, np.array([1, 2, 3, 4]), keepdims=True)
    assert_as_numpy("argsort", A[0] + 1j * A[1])


def test_weights_without_a_sum():
    for namespace in (np, gnp):
        with pytest.raises(ZeroDivisionError):
            namespace.average(gs.tensor(A), weights=np.zeros_like(A))


def test_slopes_beside_what_is_not_finite():
    x = np.array([np.nan, 1.0, np.inf, -2.0, 3.0, 5.0])
    with np.errstate(invalid="ignore"):
        assert_as_numpy("gradient", x)
        assert_as_numpy("gradient", x, 0.5)


def test_right_sides_with_more_dimensions_are_matrices():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3))
    for namespace in (np, gnp):
        found = namespace.linalg.solve(gs.tensor(a), gs.tensor(b))
        np.testing.assert_allclose(found, np.linalg.solve(a, b))
    found = gs.grad(lambda b: (gnp.linalg.solve(a, b) ** 2).sum())(b)
    np.testing.assert_allclose(found, 2 * np.einsum("nij,nik->jk", np.linalg.inv(a), np.linalg.solve(a, b)))


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x: np.linalg.det(x),
        lambda np, x: np.linalg.solve(x[:, :3], x[0]),
        lambda np, x: np.linalg.norm(x, "fro", axis=0),
        lambda np, x: np.linalg.eigvalsh(x[:, :3], UPLO="Q"),
        lambda np, x: np.einsum("ij,jk", x, x),
        lambda np, x: np.concatenate([x, x[0]]),
        lambda np, x: np.where(x > 0, x[:, :2], x),
        lambda np, x: np.fft.fft(x, 0),
        lambda np, x: np.matmul(x, x),
        lambda np, x: np.dot(x, x),
    ],
)
def test_errors_of_numpy_without_one_of_ours(call):
    with pytest.raises(Exception) as own:
        call(np, A[0])
    with pytest.raises(own.type):
        call(np, gs.tensor(A[0]))


@pytest.mark.parametrize("namespace", [np, gnp])
@pytest.mark.parametrize("values", [A[0], A[0] > 0, (A[0] * 3).astype(int), (A[0] * 3).astype(np.uint8) % 4])
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_methods_of_logical_ufuncs_give_bools(namespace, name, values):
    own, ufunc = getattr(np, name), getattr(namespace, name)
    for call in (
        lambda f, x: f.reduce(x, axis=1), lambda f, x: f.reduce(x, axis=()), lambda f, x: f.accumulate(x, axis=1),
        lambda f, x: f.reduceat(x, [0, 2], axis=1),
    ):  # fmt: skip
        found, expected = arrays_of(call(ufunc, gs.tensor(values))), call(own, values)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_reductions_in_the_dtype_of_the_results():
    for values in (np.array([True, False]), np.array([1, 2, 3]), np.zeros(0, int)):
        found = gnp.logaddexp.reduce(gnp.array(values), initial=2.0)
        np.testing.assert_allclose(found, np.logaddexp.reduce(values, initial=2.0), rtol=1e-3)
        assert found.dtype == np.logaddexp.reduce(values).dtype
    assert gnp.maximum.reduce(gnp.array(A), axis=0, dtype=np.float32).dtype == np.float32
    np.testing.assert_allclose(gnp.logaddexp.reduce(gnp.array(0.3), axis=(), initial=2.0), np.logaddexp(0.3, 2.0))
