"""Arguments that hold numbers are differentiated by wherever they stand; the truth is differences of results."""

import warnings

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.compat.hips as hips
import gradsmith.compat.hips.numpy as hnp
import gradsmith.numpy as gnp

V = np.array([0.3, -1.1, 2.4, 0.9, 1.7])
A = np.random.default_rng(3).normal(size=(3, 4))
N = np.where(A > 1.2, np.nan, A)
UP = np.array([0.0, 1.0, 2.5, 4.0, 5.5])
PLACES = np.array([0, 1, 1, 3, 2])

# By the argument that varies: a function of NumPy's namespace and of a number or an array, and where it is.
ARGUMENTS = {
    **{
        f"quantile {method}": (lambda np, q, method=method: np.quantile(V, q, method=method), 0.37)
        for method in ("linear", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased")
    },
    "quantile at rest": (lambda np, q: np.quantile(V, q, method="inverted_cdf"), 0.37),
    "quantile beyond the ends": (lambda np, q: np.quantile(V, q, method="weibull"), np.array([0.01, 0.98])),
    "quantiles of rows": (lambda np, q: np.quantile(A, q, axis=1, keepdims=True), np.array([0.15, 0.6])),
    "percentile": (lambda np, q: np.percentile(A, q, axis=(0, 1)), 35.0),
    "nanquantile": (lambda np, q: np.nanquantile(N, q, axis=1), np.array([0.2, 0.45])),
    "nanpercentile": (lambda np, q: np.nanpercentile(N, q, axis=0), 30.0),
    "pad with a number": (lambda np, c: np.pad(A, ((1, 0), (0, 2)), constant_values=c), 3.0),
    "pad with two": (lambda np, c: np.pad(V, 2, constant_values=(c, 2 * c)), 3.0),
    "pad with an array": (lambda np, c: np.pad(A, 1, constant_values=c), np.array([[1.0, 2.0], [3.0, 4.0]])),
    "polyint": (lambda np, k: np.polyint(V, 2, [k, 3.0]), 1.5),
    "polyint of one": (lambda np, k: np.polyint(V, 1, k), 1.5),
    "roots without a constant": (lambda np, c: np.roots(np.stack([1.0, -3.0, c[0], c[1]])), np.array([2.0, 0.0])),
    "interp": (lambda np, p: np.interp(np.array([0.3, 7.0, -3.1]), UP, V, period=p), 6.5),
    "unwrap": (lambda np, p: np.unwrap(V * 5, period=p), 4.0),
    "kaiser": (lambda np, beta: np.kaiser(6, beta), 2.0),
    "fftfreq": (lambda np, d: np.fft.fftfreq(5, d), 0.4),
    "rfftfreq": (lambda np, d: np.fft.rfftfreq(6, d=d), 0.4),
    "histogram": (lambda np, w: np.histogram(V, 3, weights=w)[0], A[0, 0] + V),
    "histogram, density": (lambda np, w: np.histogram(V, 3, weights=w, density=True)[0], V**2),
    "histogram, edges": (lambda np, x: np.histogram(x, 3)[1], V),
    "histogram, density of samples": (lambda np, x: np.histogram(x, 3, density=True)[0], V),
    "histogram, given edges": (lambda np, e: np.histogram(V, e, density=True)[0], np.array([-2.0, 0.5, 2.0, 3.0])),
    "histogram, range": (lambda np, r: np.histogram(V, 3, (-r, 2 * r))[1], 2.0),
    "histogram2d": (lambda np, w: np.histogram2d(V, UP, 2, weights=w)[0], V),
    "histogram2d, edges": (lambda np, x: np.histogram2d(x, UP, [2, [0.0, 3.0, 6.0]])[1], V),
    "histogramdd": (lambda np, w: np.histogramdd(np.stack([V, UP], 1), 2, weights=w, density=True)[0], V**2),
    "histogram_bin_edges": (lambda np, x: np.histogram_bin_edges(x, "sturges"), V),
    "bincount": (lambda np, w: np.bincount(PLACES, w), V),
}
# NumPy asks the other arguments of these, which are arrays, and would take the one here for a number.
NOT_OF_NUMPY = {
    *[name for name in ARGUMENTS if name.startswith(("pad", "interp", "kaiser", "fftfreq", "rfftfreq", "unwrap"))],
    "polyint", "polyint of one", "histogram, range",
}  # fmt: skip


def weighted(namespace, function, x):
    result = function(namespace, x)
    shape = np.shape(result) if namespace is np and not isinstance(result, gs.Tensor) else tuple(result.shape)
    weights = np.random.default_rng(1).normal(size=shape)
    kinds = (result * weights).real if getattr(result, "dtype", np.dtype(float)).kind == "c" else result * weights
    return namespace.sum(kinds)


def differences(function, x, step=1e-6):
    found = np.zeros(np.shape(x))
    for place in np.ndindex(np.shape(x)):
        ends = []
        for sign in (1, -1):
            moved = np.array(x, float)
            moved[place] += sign * step
            ends.append(weighted(np, function, moved[()]))
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("name", ARGUMENTS)
def test_gradients(name):
    function, x = ARGUMENTS[name]
    expected = differences(function, x)
    for namespace, grad in ((gnp, gs.grad), (hnp, hips.grad), (np, gs.grad)):
        if namespace is np and name in NOT_OF_NUMPY:
            continue
        with warnings.catch_warnings():  # autograd's, of a gradient that is zero
            warnings.simplefilter("ignore")
            found = grad(lambda v, namespace=namespace: weighted(namespace, function, v))(x)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_forward_mode(name):
    function, x = ARGUMENTS[name]
    _, found = gs.func.jvp(lambda v: weighted(gnp, function, v), (x,), (np.ones(np.shape(x))[()],))
    np.testing.assert_allclose(found, differences(function, x).sum(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("place", [0.25, 0.5])
def test_a_quantile_at_an_element_moves_on_to_the_next(place):
    found = gs.grad(lambda q: gnp.quantile(V, q))(place)
    ordered, at = np.sort(V), round(place * 4)
    np.testing.assert_allclose(found, 4 * (ordered[at + 1] - ordered[at]))


def test_second_derivatives_of_roots_without_a_constant():
    def smallest(c):
        return np.sort(np.roots([1.0, -3.0, 2.0, c]))[0]

    h = 1e-4
    second = (smallest(h) - 2 * smallest(0.0) + smallest(-h)) / h**2

    def root(c):
        return gnp.roots(gnp.array([1.0, -3.0, 2.0, c]))[2]

    np.testing.assert_allclose(gs.grad(gs.grad(root))(0.0), second, rtol=1e-5)


# ---- slices of a vmap


ROWS = np.random.default_rng(5).normal(size=(3, 4))
INDICES = np.array([[0, 3], [2, 2], [1, 0]])
MAPPED = {
    "argmax": lambda np, x, i: np.argmax(x),
    "argsort": lambda np, x, i: np.argsort(x),
    "searchsorted": lambda np, x, i: np.searchsorted(np.array([-1.0, 0.0, 1.0]), x),
    "digitize": lambda np, x, i: np.digitize(x, np.array([-1.0, 0.0, 1.0])),
    "isclose": lambda np, x, i: np.isclose(x, x[0]),
    "count_nonzero": lambda np, x, i: np.count_nonzero(x > 0),
    "the greatest": lambda np, x, i: x[np.argmax(x)],
    "take": lambda np, x, i: np.take(x, i),
    "take along an axis": lambda np, x, i: np.take(np.outer(x, x), i, axis=1),
    "take, wrap": lambda np, x, i: np.take(x, i + 5, mode="wrap"),
    "take, clip": lambda np, x, i: np.take(x, i + 2, mode="clip"),
    "take_along_axis": lambda np, x, i: np.take_along_axis(x, i, 0),
    "take_along_axis, flat": lambda np, x, i: np.take_along_axis(np.outer(x, x), i, None),
    "choose": lambda np, x, i: np.choose(i, [x[:2], x[2:], x[1:3], x[:2] * 2]),
    "piecewise": lambda np, x, i: np.piecewise(x, [x < 0, x >= 0], [lambda t: t**2, lambda t: 3 * t]),
    "piecewise, otherwise": lambda np, x, i: np.piecewise(x, [x < 0], [lambda t: t**2, 1.5]),
    "average": lambda np, x, i: np.average(x, weights=x**2),
    "polyfit": lambda np, x, i: np.polyfit(x, np.sin(np.arange(4.0)), 1),
    "lstsq": lambda np, x, i: np.linalg.lstsq(np.outer(x, x) + np.eye(4)[:, :4], x, rcond=None)[0],
    "bincount": lambda np, x, i: np.bincount(np.array([0, 2, 2, 1]), x, 5),
    "histogram": lambda np, x, i: np.histogram(np.array([0.1, 0.2, 0.5, 0.9]), 2, weights=x)[0],
    "repeat": lambda np, x, i: np.repeat(x, [1, 0, 2, 1]),
    "iscomplexobj": lambda np, x, i: x + np.iscomplexobj(x) + np.isrealobj(x),
    "result_type": lambda np, x, i: np.zeros(2, np.result_type(x, np.float32)) + x[0],
    "triu_indices_from": lambda np, x, i: np.outer(x, x)[np.triu_indices_from(np.outer(x, x), 1)],
}  # fmt: skip


@pytest.mark.parametrize("name", MAPPED)
@pytest.mark.parametrize("namespace", [np, gnp], ids=["numpy", "gradsmith.numpy"])
def test_slices_of_a_vmap(name, namespace):
    expected = np.stack([MAPPED[name](np, *row) for row in zip(ROWS, INDICES)])
    with warnings.catch_warnings():  # of what is computed slice by slice
        warnings.simplefilter("ignore")
        found = gs.vmap(lambda x, i: MAPPED[name](namespace, x, i))(ROWS, INDICES)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("namespace", [np, gnp], ids=["numpy", "gradsmith.numpy"])
def test_roots_of_many_polynomials(namespace):
    found = gs.vmap(lambda x: namespace.roots(x))(ROWS)
    for row, values in zip(ROWS, found):
        np.testing.assert_allclose(np.sort_complex(values), np.sort_complex(np.roots(row)), rtol=1e-8)


def test_eigenvalues_of_many_matrices_are_complex():
    matrices = np.random.default_rng(2).normal(size=(4, 3, 3))
    found = gs.vmap(gnp.linalg.eigvals)(matrices)
    np.testing.assert_allclose(found, np.linalg.eigvals(matrices), rtol=1e-10)
