"""SciPy's solvers with functions that return tensors, as programs of PyTorch's give them."""

import numpy as np
import pytest

import gradsmith as gs

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")

TARGET = np.array([1.0, -2.0])


def value_and_gradient(point):
    x = gs.tensor(point, requires_grad=True)
    value = ((x - gs.tensor(TARGET)) ** 2).sum()
    value.backward()
    return value.detach(), x.grad


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "SLSQP", "TNC", "Newton-CG", "trust-constr"])
def test_minimize_with_a_gradient_that_is_a_tensor(method):
    found = optimize.minimize(value_and_gradient, np.zeros(2), jac=True, method=method)
    assert isinstance(found.x, np.ndarray)
    np.testing.assert_allclose(found.x, TARGET, atol=1e-4)


def test_residuals_that_are_tensors():
    def residuals(point):
        return gs.tensor(point) - gs.tensor(TARGET)

    identity = gs.eye(2, dtype=gs.float64)
    for named in ({"jac": lambda point: identity}, {"method": "lm"}, {}):
        found = optimize.least_squares(residuals, np.zeros(2), **named)
        np.testing.assert_allclose(found.x, TARGET, atol=1e-6)
    np.testing.assert_allclose(optimize.leastsq(residuals, np.zeros(2))[0], TARGET, atol=1e-6)
    np.testing.assert_allclose(optimize.root(residuals, np.zeros(2)).x, TARGET, atol=1e-6)


def test_an_initial_value_problem_with_tensors():
    start = gs.tensor(TARGET)
    found = integrate.solve_ivp(lambda t, y: -gs.tensor(y), (0, 1), start, rtol=1e-8, atol=1e-10)
    assert isinstance(found.y, np.ndarray)
    np.testing.assert_allclose(found.y[:, -1], TARGET * np.exp(-1), rtol=1e-6)


def test_functions_of_numpy_give_tensors_elsewhere():
    assert isinstance(np.atleast_1d(gs.ones(())), gs.Tensor)
    assert np.atleast_1d(gs.ones((), requires_grad=True)).requires_grad


def test_a_value_that_asks_for_a_gradient_is_not_lost():
    x = gs.tensor(TARGET, requires_grad=True)
    scope = {"__name__": "scipy.optimize._of_a_test", "np": np, "x": x}
    exec("kept, taken = np.atleast_2d(x), np.atleast_2d(x.detach())", scope)
    assert scope["kept"].requires_grad and isinstance(scope["taken"], np.ndarray)
