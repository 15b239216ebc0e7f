"""gradsmith.optimize.minimize: known minima by every method, trees, bounds, constraints, callbacks."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func, nn
from gradsmith.optimize import minimize, minimize_scalar

optimize = pytest.importorskip("scipy.optimize")

WITH_GRADIENT = ("CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP")
WITH_HESSIAN = ("Newton-CG", "trust-constr", "dogleg", "trust-ncg", "trust-exact", "trust-krylov")
WITHOUT = ("Nelder-Mead", "Powell", "COBYLA")


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def bowl(p):
    """Least at a = 1, b = [2, 3]."""
    return (p["a"] - 1) ** 2 + ((p["b"] - gs.tensor([2.0, 3.0])) ** 2).sum() + (p["a"] - 1) ** 4


# ---- methods


@pytest.mark.parametrize("method", [None, *WITH_GRADIENT, *WITH_HESSIAN])
def test_every_method_finds_the_minimum(method):
    found = minimize(rosenbrock, np.array([0.8, 1.2, 0.7]), method=method, tol=1e-9)
    np.testing.assert_allclose(found.x, 1, atol=2e-4)
    assert found.success or found.fun < 1e-12


@pytest.mark.parametrize("method", WITHOUT)
def test_methods_without_gradients_take_any_number(method):
    found = minimize(lambda x: float(((x - 2) ** 2).sum()), [0.0, 1.0], method=method, tol=1e-8)
    np.testing.assert_allclose(found.x, 2, atol=1e-3)


def test_as_many_evaluations_as_with_gradients_by_hand():
    start = np.array([-1.2, 1.0, 0.5])
    by_hand = optimize.minimize(optimize.rosen, start, jac=optimize.rosen_der, method="BFGS")
    found = minimize(rosenbrock, start, method="BFGS")
    assert (found.nfev, found.nit) == (by_hand.nfev, by_hand.nit)
    np.testing.assert_allclose(found.x, by_hand.x, rtol=1e-7)


@pytest.mark.parametrize("hess", ["product", "dense", "sparse"])
@pytest.mark.parametrize("method", ["Newton-CG", "trust-constr"])
def test_forms_of_second_derivatives(method, hess):
    found = minimize(rosenbrock, np.full(5, 0.9), method=method, hess=hess, tol=1e-10)
    np.testing.assert_allclose(found.x, 1, atol=1e-4)


def test_a_pattern_and_an_approximation_as_second_derivatives():
    start = np.full(4, 0.9)
    pattern = func.hessian_pattern(rosenbrock)(gs.tensor(start))
    for hess in (pattern, optimize.BFGS()):
        found = minimize(rosenbrock, start, method="trust-constr", hess=hess, tol=1e-10)
        np.testing.assert_allclose(found.x, 1, atol=1e-3)


def test_derivatives_that_scipy_gets_are_right():
    seen = {}

    def solver(fun, x0, args, jac, hessp, **options):
        value, vector = x0.copy(), np.array([1.0, -2.0, 0.5])
        seen.update(f=fun(value), g=jac(value), h=hessp(value, vector))
        return optimize.OptimizeResult(x=x0, fun=0.0)

    start = np.array([-1.2, 1.0, 0.5])
    minimize(rosenbrock, start, method=solver, hess="product")
    np.testing.assert_allclose(seen["f"], optimize.rosen(start))
    np.testing.assert_allclose(seen["g"], optimize.rosen_der(start))
    np.testing.assert_allclose(seen["h"], optimize.rosen_hess_prod(start, np.array([1.0, -2.0, 0.5])))


def test_solvers_get_arrays_of_their_own():
    """The gradient of a sum is one number expanded, which compiled solvers would misread."""
    seen = []

    def solver(fun, x0, args, jac, **options):
        fun(x0)
        seen.append(jac(x0))
        return optimize.OptimizeResult(x=x0, fun=0.0)

    minimize(lambda x: x.sum(), [1.0, 2.0], method=solver)
    assert seen[0].flags.c_contiguous and seen[0].flags.writeable and seen[0].flags.owndata
    assert seen[0].strides == (8,)


# ---- trees, types and dtypes


def test_a_tree_comes_back_as_it_was():
    start = {"a": 0.0, "b": gs.zeros(2)}
    found = minimize(bowl, start)
    assert list(found.x) == ["a", "b"]
    assert type(found.x["a"]) is float and found.x["a"] == pytest.approx(1, abs=1e-4)
    assert found.x["b"].dtype == gs.float32 and not found.x["b"].requires_grad
    np.testing.assert_allclose(found.x["b"].numpy(), [2, 3], atol=1e-4)
    assert found.flat_x.dtype == np.float64 and found.hess_inv.shape == (3, 3)
    assert list(found.jac) == ["a", "b"] and found.jac["b"].shape == (2,)
    assert start["b"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("x0", "expected"),
    [
        ([3, 4], np.ndarray),
        ([[3.0], [4.0]], np.ndarray),
        (np.array([3, 4]), np.ndarray),
        (np.array([3, 4], np.float32), np.ndarray),
        (gs.tensor([3.0, 4.0]), gs.Tensor),
        (gs.tensor([3, 4]), gs.Tensor),
    ],
)
def test_kinds_of_vectors(x0, expected):
    found = minimize(lambda x: ((x - 1) ** 2).sum(), x0)
    assert type(found.x) is expected
    assert tuple(found.x.shape) == np.shape(x0)
    kept = getattr(x0, "dtype", np.dtype(float))
    assert found.x.dtype == (kept if kept.kind == "f" else np.float64)
    np.testing.assert_allclose(np.asarray(found.x), 1, atol=1e-5)


@pytest.mark.parametrize("x0", [2.0, 2, np.float32(2), gs.tensor(2.0), np.array(2.0)])
def test_one_number(x0):
    found = minimize(lambda x: (x - 1) ** 2, x0)
    assert float(found.x) == pytest.approx(1, abs=1e-5)
    assert type(found.x) is (float if isinstance(x0, int) else type(x0))


def test_lists_of_arrays_are_trees():
    found = minimize(lambda p: (p[0] ** 2).sum() + ((p[1] - 1) ** 2).sum(), [np.ones(2), gs.ones(3)])
    assert isinstance(found.x, list) and isinstance(found.x[1], gs.Tensor)


def test_inside_all_is_float64():
    seen = []
    minimize(lambda x: (seen.append(x.dtype), (x**2).sum())[1], gs.ones(2, dtype=gs.float16))
    assert set(seen) == {np.dtype(np.float64)}


def test_parameters_of_a_module():
    gs.manual_seed(0)
    net, x = nn.Linear(2, 1), gs.randn(20, 2, dtype=gs.float64)
    y = x @ gs.tensor([[2.0], [-1.0]], dtype=gs.float64) + 0.5

    def loss(parameters):
        return ((func.functional_call(net, parameters, (x,)) - y) ** 2).mean()

    found = minimize(loss, dict(net.named_parameters()), tol=1e-10)
    net.load_state_dict(found.x)
    np.testing.assert_allclose(net.weight.detach().numpy(), [[2, -1]], atol=1e-4)
    np.testing.assert_allclose(net.bias.detach().numpy(), [0.5], atol=1e-4)


def test_further_arguments():
    found = minimize(lambda x, a, b: ((x - a) ** 2).sum() + b, [0.0, 0.0], args=(3.0, 1.0))
    np.testing.assert_allclose(found.x, 3, atol=1e-5)
    assert found.fun == pytest.approx(1)
    np.testing.assert_allclose(minimize(lambda x, a: ((x - a) ** 2).sum(), [0.0], args=2.0).x, 2, atol=1e-5)


def test_functions_of_numpy():
    weights = np.array([1.0, 2.0, 3.0])
    found = minimize(
        lambda p: np.sum(weights * np.cosh(p["x"] - 2)) + np.square(p["y"] - 1), {"x": np.zeros(3), "y": 0.0}
    )
    np.testing.assert_allclose(found.x["x"], 2, atol=1e-4)
    assert found.x["y"] == pytest.approx(1, abs=1e-4)
    bounded = {"type": "ineq", "fun": lambda x: 2 - np.linalg.norm(x)}
    found = minimize(lambda x: np.dot([1.0, 1.0], x), [0.1, 0.2], constraints=bounded)
    np.testing.assert_allclose(found.x, -np.sqrt(2), atol=1e-3)


def test_under_no_grad():
    with gs.no_grad():
        np.testing.assert_allclose(minimize(rosenbrock, [0.8, 0.9]).x, 1, atol=1e-4)


# ---- bounds


def test_pairs_of_elements():
    found = minimize(lambda x: ((x - 5) ** 2).sum(), [0.0, 0.0, 0.0], bounds=[(0, 1), (None, 2), (None, None)])
    np.testing.assert_allclose(found.x, [1, 2, 5], atol=1e-5)


def test_pairs_of_leaves():
    found = minimize(bowl, {"a": 0.0, "b": gs.zeros(2)}, bounds={"a": None, "b": (None, np.array([1.0, 10.0]))})
    assert found.x["a"] == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(found.x["b"].numpy(), [1, 3], atol=1e-4)


def test_bounds_of_scipy():
    low_and_high = optimize.Bounds([-np.inf, -np.inf], [0.5, np.inf])
    np.testing.assert_allclose(minimize(lambda x: ((x - 1) ** 2).sum(), [0, 0], bounds=low_and_high).x, [0.5, 1])
    tree = optimize.Bounds({"a": -1.0, "b": gs.zeros(2)}, {"a": 0.5, "b": None})
    found = minimize(bowl, {"a": 0.0, "b": gs.ones(2)}, bounds=tree)
    assert found.x["a"] == pytest.approx(0.5)
    np.testing.assert_allclose(minimize(lambda x: ((x - 1) ** 2).sum(), [0, 0], bounds=optimize.Bounds(2, 3)).x, 2)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(0, 1)], "for each of the 2 elements of x0, got 1"),
        ([(0, 1), (2, 1)], r"the lower bound of x0\[1\] is 2.0, above the upper one, 1.0"),
        ([(0, 1), 3], r"must be pairs \(low, high\) or None, got 3"),
        ([(0, 1), (1, 2, 3)], "must be pairs"),
    ],
)
def test_bounds_that_do_not_fit(bounds, message):
    with pytest.raises(ValueError, match=message):
        minimize(rosenbrock, [0.0, 0.0], bounds=bounds)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"a": (0, 1)}, r"bounds must have the structure of x0: .*\['a'\] where \['a'\], \['b'\]"),
        ({"a": (0, 1), "b": (np.zeros(3), 1)}, r"bounds for x0\['b'\] must be a number or broadcast to shape \[2\]"),
    ],
)
def test_trees_of_bounds_that_do_not_fit(bounds, message):
    with pytest.raises(ValueError, match=message):
        minimize(bowl, {"a": 0.0, "b": gs.zeros(2)}, bounds=bounds)


# ---- constraints


def test_dicts_as_constraints():
    """The nearest point to the origin on x + y = 1 with x <= 0.25."""
    constraints = [
        {"type": "eq", "fun": lambda p: p["x"] + p["y"] - 1},
        {"type": "ineq", "fun": lambda p, most: most - p["x"], "args": (0.25,)},
    ]
    found = minimize(lambda p: p["x"] ** 2 + p["y"] ** 2, {"x": 1.0, "y": 1.0}, constraints=constraints)
    assert (found.x["x"], found.x["y"]) == (pytest.approx(0.25), pytest.approx(0.75))
    one = minimize(lambda p: p["x"] ** 2 + p["y"] ** 2, {"x": 1.0, "y": 2.0}, constraints=constraints[0])
    assert (one.x["x"], one.x["y"]) == (pytest.approx(0.5), pytest.approx(0.5))


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
def test_constraints_of_scipy(method):
    """The least x + y on a circle of radius 2, and below a line."""
    circle = optimize.NonlinearConstraint(lambda x: (x**2).sum(), -np.inf, 2.0)
    found = minimize(lambda x: x.sum(), np.array([0.5, 0.1]), method=method, constraints=circle, tol=1e-9)
    np.testing.assert_allclose(found.x, [-1, -1], atol=1e-4)
    line = optimize.LinearConstraint(np.array([[1.0, 0.0]]), -0.5, np.inf)
    found = minimize(lambda x: x.sum(), np.array([0.5, 0.1]), method=method, constraints=[circle, line], tol=1e-9)
    np.testing.assert_allclose(found.x, [-0.5, -np.sqrt(1.75)], atol=1e-3)


@pytest.mark.parametrize(
    ("constraint", "error", "message"),
    [
        (3, TypeError, "must be dicts, NonlinearConstraint or LinearConstraint, got int"),
        ({"fun": rosenbrock}, ValueError, "must have 'type' and 'fun'"),
        ({"type": "eq", "fun": 3}, TypeError, "a constraint must be callable, got int"),
        ({"type": "eq", "fun": lambda x: x[0] / 0}, ValueError, "a constraint is inf at x0"),
    ],
)
def test_what_is_no_constraint(constraint, error, message):
    with pytest.raises(error, match=message):
        minimize(rosenbrock, [0.5, 0.5], constraints=constraint)


# ---- callbacks


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "Newton-CG"])
def test_a_callback_gets_the_parameters(method):
    seen = []
    minimize(bowl, {"a": 0.0, "b": gs.zeros(2)}, method=method, callback=seen.append)
    assert seen and all(set(p) == {"a", "b"} and p["b"].dtype == gs.float32 for p in seen)
    assert seen[-1]["a"] == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize("method", ["BFGS", "TNC", "trust-constr"])
def test_a_callback_gets_a_result(method):
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)

    minimize(rosenbrock, [-1.2, 1.0], method=method, callback=callback)
    assert [one.nit for one in seen] == list(range(1, len(seen) + 1))
    for one in seen:
        assert one.fun == pytest.approx(optimize.rosen(one.x))


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "trust-constr", "CG"])
def test_a_callback_can_stop(method):
    def callback(x):
        raise StopIteration

    assert minimize(rosenbrock, [-1.2, 1.0], method=method, callback=callback).nit <= 2


def test_what_a_callback_raises_comes_out():
    with pytest.raises(KeyError, match="mine"):
        minimize(rosenbrock, [-1.2, 1.0], method="TNC", callback=lambda x: {}["mine"])
    with pytest.raises(TypeError, match="callback must be callable, got int"):
        minimize(rosenbrock, [-1.2, 1.0], callback=3)


# ---- errors


@pytest.mark.parametrize(
    ("fun", "error", "message"),
    [
        (3, TypeError, "fun must be callable, got int"),
        (lambda x: x, ValueError, r"fun must give one number, got shape \[2\]: reduce it"),
        (lambda x: 3.0, TypeError, "gives a float, of which no gradient is known"),
        (lambda x: x.detach().numpy().sum(), TypeError, "gives a float64, of which no gradient is known"),
        (lambda x: None, TypeError, "gives a NoneType"),
        (lambda x: x.sum() / 0, ValueError, "fun is inf at x0: start where it is finite"),
        (lambda x: (x - 1).sum().log(), ValueError, "fun is nan at x0"),
        (lambda x: (x - x).abs().sum().sqrt() + x[1].sqrt() * 0, ValueError, r"gradient by x0\[0\] is not finite"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_objectives_that_cannot_be_minimized(fun, error, message):
    with pytest.raises(error, match=message):
        minimize(fun, [0.25, 0.5])


def test_without_gradients_too_there_must_be_a_number():
    with pytest.raises(ValueError, match=r"must give one number, got shape \[2\]"):
        minimize(lambda x: x, [1.0, 2.0], method="Powell")
    with pytest.raises(TypeError, match="must give a number, got str"):
        minimize(lambda x: "3", [1.0, 2.0], method="Powell")
    with pytest.raises(TypeError, match="must give a real number, got dtype complex128"):
        minimize(lambda x: np.array(1j), [1.0, 2.0], method="Powell")


@pytest.mark.parametrize(
    ("x0", "error", "message"),
    [
        ({"a": "text"}, TypeError, r"x0\['a'\] must be a Tensor, an array or a number, got str"),
        ([1.0, None], TypeError, r"x0\[1\] must be .* got NoneType"),
        (True, TypeError, "x0 must be .* got bool"),
        (np.array([1j]), TypeError, "x0 must be real, got dtype complex128"),
        (gs.ones(2, dtype=gs.complex64), TypeError, "x0 must be real"),
        (np.array(["a"]), TypeError, "x0 must be real"),
        ({"w": [np.array([1.0, np.nan])]}, ValueError, r"x0\['w'\]\[0\] is not finite"),
        (gs.ones(2, device="meta"), TypeError, "meta device"),
        ([], ValueError, "no elements"),
        ({}, ValueError, "no elements"),
        (np.zeros(0), ValueError, "no elements"),
    ],
)
def test_what_cannot_be_started_from(x0, error, message):
    with pytest.raises(error, match=message):
        minimize(lambda x: x.sum(), x0)


def test_unknown_forms():
    with pytest.raises(ValueError, match="hess must be 'product'"):
        minimize(rosenbrock, [1.0, 2.0], hess="exact")
    with pytest.raises(ValueError, match="Unknown solver"):
        minimize(rosenbrock, [1.0, 2.0], method="nothing")


# ---- one number


def test_minimize_scalar():
    found = minimize_scalar(lambda x, a: (x - a) ** 2, args=(2.0,))
    assert type(found.x) is float and found.x == pytest.approx(2)
    assert minimize_scalar(lambda x: (x - 2) ** 2, bounds=(3, 5)).x == pytest.approx(3, abs=1e-4)
    with pytest.raises(ValueError, match="must give one number"):
        minimize_scalar(lambda x: x * gs.ones(2))
