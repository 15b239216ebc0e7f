"""least_squares, curve_fit, root and root_scalar: known answers, trees, sparse Jacobians, errors."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.optimize import curve_fit, least_squares, root, root_scalar

optimize = pytest.importorskip("scipy.optimize")

TIMES = gs.linspace(0, 2, 30, dtype=gs.float64)


def decay(p):
    return p["a"] * (-p["k"] * TIMES).exp()


SEEN = decay({"a": 2.0, "k": 1.5})


def broyden(x):
    zero = gs.zeros(1, dtype=x.dtype)
    v = gs.cat([zero, x, zero])
    return (3 - 2 * x) * x - v[:-2] - 2 * v[2:] + 1


# ---- least_squares


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
@pytest.mark.parametrize("jac", ["auto", "forward", "reverse"])
def test_a_tree_is_fitted(method, jac):
    start = {"a": np.float32(1), "k": gs.tensor([1.0])}
    found = least_squares(lambda p: decay(p) - SEEN, start, method=method, jac=jac)
    assert isinstance(found.x["a"], np.float32) and found.x["k"].dtype == gs.float32
    assert found.x["a"] == pytest.approx(2, abs=1e-5) and found.x["k"].item() == pytest.approx(1.5, abs=1e-5)
    assert found.jac.shape == (30, 2) and found.flat_x.shape == (2,)


@pytest.mark.parametrize("pattern", [False, True])
def test_sparse_jacobians(pattern):
    start = np.full(500, -1.0)
    jac = func.jacobian_pattern(broyden)(gs.tensor(start)) if pattern else "sparse"
    found = least_squares(broyden, start, jac=jac, xtol=1e-12, ftol=1e-12, gtol=1e-12)
    assert abs(found.fun).max() < 1e-8
    assert found.jac.nnz < 2000


def test_residuals_as_a_tree():
    found = least_squares(lambda x: {"near": x - 1, "far": (0.0 * x, [x[:1] - 1])}, [4.0, 5.0])
    np.testing.assert_allclose(found.x, 1, atol=1e-7)
    assert found.fun.shape == (5,)


def test_bounds_and_scales_as_trees():
    start, high = {"a": 1.0, "k": 1.0}, {"a": 1.8, "k": None}
    found = least_squares(lambda p: decay(p) - SEEN, start, bounds=(0.0, high), x_scale={"a": 1.0, "k": 2.0})
    assert found.x["a"] == pytest.approx(1.8)
    again = least_squares(lambda p: decay(p) - SEEN, start, bounds=optimize.Bounds(0.0, [1.8, np.inf]), x_scale="jac")
    np.testing.assert_allclose(found.flat_x, again.flat_x, rtol=1e-4)


def test_options_go_to_scipy():
    found = least_squares(lambda x, c: x - c, [0.0], args=(3.0,), loss="soft_l1", max_nfev=1)
    assert found.nfev == 1 and found.status == 0


def test_a_robust_loss():
    data = gs.tensor([1.0, 1.1, 0.9, 1.0, 50.0], dtype=gs.float64)
    found = least_squares(lambda x: x - data, [0.0], loss="cauchy", f_scale=0.1)
    assert found.x[0] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"fun": 3}, TypeError, "fun must be callable"),
        ({"fun": lambda x: [1.0, 2.0]}, TypeError, "gives a float, of which no gradient is known"),
        ({"fun": lambda x: x / 0}, ValueError, "fun is inf at x0, in element 0"),
        ({"fun": lambda x: x * 1j}, TypeError, "must give real numbers, got dtype complex128"),
        ({"fun": lambda x: None}, TypeError, "must give real numbers, got dtype object"),
        ({"fun": lambda x: []}, ValueError, "fun gives no numbers"),
        ({"fun": lambda x: (x - 1).abs().sqrt()}, ValueError, r"not finite: that of element 0 by x0\[0\]"),
        ({"jac": "central"}, ValueError, "jac must be 'auto'"),
        ({"bounds": 3}, ValueError, r"bounds must be a pair \(lower, upper\), got 3"),
        ({"bounds": (2, 1)}, ValueError, r"the lower bound of x0\[0\] is 2.0, above"),
        ({"bounds": (0, {"a": 1})}, ValueError, "the upper bound for x0 must be a number or broadcast"),
        ({"callback": 3}, TypeError, "callback must be callable"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_least_squares_that_cannot_be(arguments, error, message):
    with pytest.raises(error, match=message):
        least_squares(**({"fun": lambda x: x - 2, "x0": [1.0, 1.5]} | arguments))


# ---- curve_fit


def model(x, a, b, c):
    return a * (-b * x).exp() + c


def data():
    x = np.linspace(0, 4, 60)
    noise = 0.02 * np.random.default_rng(0).standard_normal(60)
    return x, 2.5 * np.exp(-1.3 * x) + 0.5 + noise


@pytest.mark.parametrize("options", [{}, {"bounds": (0, [3.0, 2.0, 1.0])}, {"p0": [2.0, 1.0, 0.0]}, {"method": "trf"}])
def test_as_scipy_fits(options):
    x, y = data()
    popt, pcov = curve_fit(model, x, y, **options)
    expected, covariance = optimize.curve_fit(lambda x, a, b, c: a * np.exp(-b * x) + c, x, y)
    np.testing.assert_allclose(popt, expected, rtol=1e-4)
    np.testing.assert_allclose(pcov, covariance, rtol=1e-3)


def test_a_model_of_numpy():
    x, y = data()
    popt, _ = curve_fit(lambda x, a, b, c: a * np.exp(-b * x) + c, x, y)
    np.testing.assert_allclose(popt, curve_fit(model, x, y)[0], rtol=1e-6)


def test_weights():
    x, y = data()
    sigma = gs.tensor(np.where(x < 1, 0.1, 0.02))
    found = curve_fit(model, gs.tensor(x), gs.tensor(y), sigma=sigma, absolute_sigma=True)
    expected = optimize.curve_fit(
        lambda x, a, b, c: a * np.exp(-b * x) + c, x, y, sigma=sigma.numpy(), absolute_sigma=True
    )
    for mine, theirs in zip(found, expected):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-9)


def test_parameters_by_name():
    x, y = data()
    popt, pcov = curve_fit(model, x, y, {"b": 1.0, "c": 0.0, "a": 1.0}, bounds=({"b": 0.0, "c": None, "a": 0}, np.inf))
    assert list(popt) == ["b", "c", "a"] and popt["a"] == pytest.approx(2.5, abs=0.05)
    assert pcov.shape == (3, 3)


def test_parameters_that_are_arrays():
    def line(x, weights, offset):
        return x @ weights + offset

    rows = np.random.default_rng(1).random((40, 2))
    popt, _ = curve_fit(line, rows, rows @ [1.0, -2.0] + 3, (np.zeros(2), 0.0))
    np.testing.assert_allclose(popt[0], [1, -2], atol=1e-6)
    assert popt[1] == pytest.approx(3)


def test_all_of_the_output():
    x, y = data()
    found = curve_fit(model, x, y, full_output=True)
    assert len(found) == 5 and "fvec" in found[2] and found[4] in (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"f": 3}, TypeError, "f must be callable"),
        ({"f": lambda x, *p: x}, ValueError, "number of parameters of f cannot be seen: give p0"),
        ({"f": lambda x: x}, ValueError, "cannot be seen"),
        ({"ydata": [1.0, 2.0]}, ValueError, "f gives 60 numbers, but ydata has 2"),
        ({"ydata": ["a"] * 60}, TypeError, "ydata must be real"),
        ({"p0": ["a", 1.0, 2.0]}, TypeError, r"p0\[0\] must be a Tensor"),
        ({"f": lambda x, a: a / 0 * x}, ValueError, "f is nan at p0"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_curves_that_cannot_be_fitted(arguments, error, message):
    x, y = data()
    with pytest.raises(error, match=message):
        curve_fit(**({"f": model, "xdata": x, "ydata": y} | arguments))


# ---- root


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov", "df-sane"])
def test_systems_of_equations(method):
    def equations(p):
        return {"circle": p["x"] ** 2 + p["y"] ** 2 - 4, "line": p["x"] - p["y"]}

    found = root(equations, {"x": 1.0, "y": gs.tensor(1.2)}, method=method)
    assert found.x["x"] == pytest.approx(2**0.5, abs=1e-4)
    assert isinstance(found.x["y"], gs.Tensor) and found.flat_x.shape == (2,)


def test_the_jacobian_saves_evaluations():
    found = root(broyden, np.full(20, -1.0))
    by_hand = optimize.root(lambda x: broyden(gs.tensor(x)).numpy(), np.full(20, -1.0))
    assert found.success and found.nfev < by_hand.nfev
    np.testing.assert_allclose(found.x, by_hand.x, atol=1e-6)


def test_a_callback_of_root():
    seen = []
    root(lambda x: x**3 - 1, np.array([2.0, 3.0]), method="broyden1", callback=lambda x, f: seen.append((x, f)))
    assert seen and seen[-1][0].shape == (2,)


def test_what_a_function_raises_comes_out_of_fortran():
    def equations(x):
        if x[0].item() != 1.0:
            raise KeyError("mine")
        return x**2 - 3

    with pytest.raises(KeyError, match="mine"):
        root(equations, [1.0, 1.0])


@pytest.mark.parametrize(
    ("fun", "error", "message"),
    [
        (lambda x: x[:1], ValueError, "fun gives 1 numbers, but x0 has 2 elements"),
        (lambda x: gs.cat([x, x]), ValueError, "fun gives 4 numbers"),
        (lambda x: x.log(), ValueError, "fun is -inf at x0"),
        (None, TypeError, "fun must be callable, got NoneType"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_equations_that_cannot_be_solved(fun, error, message):
    with pytest.raises(error, match=message):
        root(fun, [0.0, 1.0])


# ---- root_scalar


@pytest.mark.parametrize(
    "options",
    [{"x0": 1.0}, {"x0": gs.tensor(1.0), "method": "halley"}, {"bracket": (0, 1)}, {"x0": 1.0, "x1": 0.5}],
)
def test_one_equation(options):
    found = root_scalar(lambda x: x.cos() - x, **options)
    assert type(found.root) is float and found.root == pytest.approx(0.7390851332151607)


def test_derivatives_of_one_equation():
    newton = root_scalar(lambda x, a: x**3 - a, args=(8.0,), x0=3.0)
    halley = root_scalar(lambda x, a: x**3 - a, args=(8.0,), x0=3.0, method="halley")
    assert newton.root == pytest.approx(2) and halley.root == pytest.approx(2)
    assert halley.iterations < newton.iterations


def test_one_equation_that_cannot_be_solved():
    with pytest.raises(ValueError, match=r"x0 must be one number, got 2; root\(\) takes several"):
        root_scalar(lambda x: x, x0=[1.0, 2.0])
    with pytest.raises(TypeError, match="gives a float, of which no gradient is known"):
        root_scalar(lambda x: 1.0, x0=1.0)
