"""custom_root and fixed_point against closed forms, in all modes and orders."""

import itertools
import sys

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func


def number(value):
    return gs.tensor(value, dtype=gs.float64)


ONE = number(1.0)
MODES = {"reverse": func.grad, "forward": lambda f: lambda a: func.jvp(f, (a,), (ONE,))[1]}
# Derivatives of the square root at 4, and of Lambert's function (w e^w = a) at 0: (-n)^(n-1).
SQUARE_ROOT = [2.0, 1 / 4, -1 / 32, 3 / 256, -15 / 2048]
LAMBERT = [0.0, 1.0, -2.0, 9.0, -64.0]
CHAINS = [modes for order in range(5) for modes in itertools.product(MODES, repeat=order)]


@pytest.mark.parametrize("modes", CHAINS, ids="-".join)
def test_any_order_in_any_mode(modes):
    square_root = func.custom_root(lambda x, a: x * x - a)
    lambert = func.fixed_point(lambda w, a: a * gs.exp(-w))
    f, g = (lambda a: square_root(ONE, a)), (lambda a: lambert(ONE, a))
    for mode in modes:
        f, g = MODES[mode](f), MODES[mode](g)
    assert f(number(4.0)).item() == pytest.approx(SQUARE_ROOT[len(modes)], rel=1e-12)
    assert g(number(0.0)).item() == pytest.approx(LAMBERT[len(modes)], rel=1e-12, abs=1e-12)


def test_trees_of_unknowns_and_parameters():
    """A x = b with A symmetric, x in two parts."""
    rng = np.random.default_rng(0)
    matrix, right = rng.normal(size=(3, 3)) + 4 * np.eye(3), rng.normal(size=3)

    @func.custom_root
    def system(x, params, name):
        assert name == "kept"
        joined = gs.cat([x["a"], x["b"]])
        residual = params[0] @ joined - params[1]
        return {"b": residual[2:], "a": residual[:2]}

    start = {"a": gs.zeros(2, dtype=gs.float64), "b": gs.zeros(1, dtype=gs.float64)}
    params = (gs.tensor(matrix), gs.tensor(right))
    found = system(start, params, "kept")
    solution = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(found["a"].numpy(), solution[:2])
    np.testing.assert_allclose(found["b"].numpy(), solution[2:])
    by_matrix, by_right = func.grad(lambda params: system(start, params, "kept")["b"].sum())(params)
    inverse = np.linalg.inv(matrix)
    np.testing.assert_allclose(by_right.numpy(), inverse[2])
    np.testing.assert_allclose(by_matrix.numpy(), -np.outer(inverse[2], solution))


@pytest.mark.parametrize("linear_solve", ["auto", "dense", "gmres", "cg"])
def test_linear_solvers(linear_solve):
    """A symmetric positive definite system, so that all of them may solve it."""
    size = 20
    laplace = 2.5 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
    matrix, right = gs.tensor(laplace), gs.tensor(np.linspace(0, 1, size))
    solve = func.custom_root(lambda x, b: matrix @ x + 0.1 * x**3 - b, linear_solve=linear_solve)
    start = gs.zeros(size, dtype=gs.float64)
    found = solve(start, right)
    np.testing.assert_allclose((matrix @ found + 0.1 * found**3).numpy(), right.numpy(), atol=1e-10)
    slope = func.grad(lambda b: solve(start, b).sum())(right)
    jacobian = laplace + np.diag(0.3 * found.numpy() ** 2)
    np.testing.assert_allclose(slope.numpy(), np.linalg.solve(jacobian.T, np.ones(size)), rtol=1e-7)


def test_solvers_of_the_user():
    calls = []

    def bisect(function, start):
        low, high = number(0.0), number(10.0)
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if function(middle).item() < 0 else (low, middle)
        return low

    def linear_solve(matvec, b):
        calls.append(b.shape)
        return b / matvec(gs.ones(1, dtype=gs.float64))

    cube_root = func.custom_root(lambda x, a: x**3 - a, bisect, linear_solve=linear_solve)
    assert cube_root(ONE, number(8.0)).item() == pytest.approx(2.0)
    assert func.grad(cube_root, argnums=1)(ONE, number(8.0)).item() == pytest.approx(1 / 12)
    assert calls == [(1,)]

    halved = func.fixed_point(lambda x, a: (x + a / x) / 2, lambda function, start: function(function(start * 2)))
    assert halved(ONE, number(4.0)).item() == 2.0  # Heron's steps from 2


def test_float32():
    root = func.custom_root(lambda x, a: x * x - a)(gs.tensor(1.0), gs.tensor(2.0, requires_grad=True))
    root.backward()
    assert root.dtype == gs.float32 and root.item() == pytest.approx(2**0.5, rel=1e-6)


def test_backward_reaches_the_parameters_but_not_the_start():
    start, a = gs.tensor(1.0, requires_grad=True), gs.tensor(9.0, requires_grad=True)
    func.custom_root(lambda x, a: x * x - a)(start, a).backward()
    assert a.grad.item() == pytest.approx(1 / 6) and start.grad is None


def test_where_nothing_requires_grad_there_is_no_history():
    assert not func.custom_root(lambda x, a: x * x - a)(ONE, number(4.0)).requires_grad


# ---- errors


def test_without_scipy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse.linalg", None)
    with pytest.raises(ImportError, match=r"linear_solve='gmres' needs SciPy: pip install 'gradsmith\[scipy\]'"):
        func.custom_root(gs.sin, linear_solve="gmres")(ONE)


SLOPE = gs.tensor(2.0, requires_grad=True)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: func.custom_root(3), TypeError, r"custom_root\(\): func must be callable"),
        (lambda: func.custom_root(gs.sin, linear_solve="lu"), ValueError, r"one of 'auto', 'dense', .* got 'lu'"),
        (
            lambda: func.custom_root(lambda x: x[:1])(gs.ones(2)),
            RuntimeError,
            r"f must give the shapes .* \[2\], .* \[1\]",
        ),
        (lambda: func.custom_root(lambda x: (x, x))(ONE), RuntimeError, r"structure .*: output is a tuple"),
        (lambda: func.custom_root(lambda x: x * x + 1.5)(ONE), RuntimeError, r"did not converge in 100 steps"),
        (lambda: func.fixed_point(lambda x: x + 1, maxiter=5)(ONE), RuntimeError, r"not converge in 5 steps"),
        (lambda: func.custom_root(lambda x: x * 0 + 1)(ONE), np.linalg.LinAlgError, r"[Ss]ingular"),
        (lambda: func.custom_root(lambda x: x - SLOPE)(ONE.to(gs.float32)), RuntimeError, r"none of its arguments"),
        (lambda: func.custom_root(lambda x: x)(gs.tensor(1j)), RuntimeError, r"all inputs to be real"),
        (lambda: func.custom_root(lambda x: x)(1.0), ValueError, r"args\[0\] must be a Tensor"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
