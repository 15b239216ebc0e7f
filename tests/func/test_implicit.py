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
    with pytest.raises(ImportError, match=r"linear_solve='gmres' needs scipy.sparse.linalg, which is not installed"):
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
        (lambda: func.custom_root(lambda x: x)("1"), ValueError, r"args\[0\] must be a Tensor"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


class TestArrays:
    """Arrays, numbers and functions of NumPy, as in all other transforms."""

    def test_roots_are_arrays(self):
        root = func.custom_root(lambda x, a: np.square(x) - a)
        for found in (root(1.0, 4.0), func.fixed_point(lambda x, a: 0.5 * (x + a / x))(1.0, 4.0)):
            assert isinstance(found, np.float64) and found == pytest.approx(2.0)
        assert isinstance(root(np.ones(2), np.array([4.0, 9.0])), np.ndarray)
        assert func.grad(root, argnums=1)(1.0, 4.0) == pytest.approx(0.25)
        tree = func.custom_root(lambda x, a: {"u": x["u"] ** 2 - a, "v": x["v"] - x["u"]})
        found = tree({"u": np.ones(1), "v": np.zeros(1)}, 9.0)
        np.testing.assert_allclose([found["u"], found["v"]], 3.0)

    def test_what_has_a_history_stays_a_tensor(self):
        a = gs.tensor(4.0, dtype=gs.float64, requires_grad=True)
        root = func.custom_root(lambda x, a: x * x - a)(1.0, a)
        root.backward()
        assert a.grad.item() == pytest.approx(0.25)
        assert isinstance(func.custom_root(lambda x, a: x * x - a)(np.ones(1), number(4.0)), gs.Tensor)

    def test_solvers_of_arrays(self):
        def bisected(function, start):
            low, high = np.zeros_like(start.numpy()), 10 + np.zeros_like(start.numpy())
            for _ in range(60):
                middle = (low + high) / 2
                above = function(middle) > 0
                assert isinstance(above, np.ndarray | np.generic)
                low, high = np.where(above, low, middle), np.where(above, middle, high)
            return low

        root = func.custom_root(lambda x, a: x * x - a, bisected)
        np.testing.assert_allclose(root(np.ones(2), np.array([4.0, 9.0])), [2.0, 3.0])
        np.testing.assert_allclose(func.jacrev(root, argnums=1)(np.ones(1), np.array([4.0])), [[0.25]])


class TestBatches:
    """Within vmap, and so in jacrev and jacfwd of several unknowns: each slice is solved for itself."""

    def test_against_numpy(self):
        rng = np.random.default_rng(1)
        matrices, sides = rng.normal(size=(5, 3, 3)) + 4 * np.eye(3), rng.normal(size=(5, 3))
        solved = func.custom_root(lambda x, matrix, side: matrix @ x - side)
        start, inverses = np.zeros(3), np.linalg.inv(matrices)
        expected = np.linalg.solve(matrices, sides[..., None])[..., 0]
        np.testing.assert_allclose(func.vmap(solved, (None, 0, 0))(start, matrices, sides), expected)
        for jacobian in (func.jacrev(solved, argnums=2), func.jacfwd(solved, argnums=2)):
            np.testing.assert_allclose(jacobian(start, matrices[0], sides[0]), inverses[0], atol=1e-12)
            np.testing.assert_allclose(func.vmap(jacobian, (None, 0, 0))(start, matrices, sides), inverses, atol=1e-12)
        pairs = func.vmap(func.vmap(solved, (None, None, 0)), (None, 0, None))(start, matrices, sides)
        np.testing.assert_allclose(pairs, np.einsum("nij,mj->nmi", inverses, sides))

    def test_newton_goes_on_until_all_slices_are_there(self):
        root = func.custom_root(lambda x, a: x * x - a)
        a = np.array([1.0, 4.0, 1e6])
        np.testing.assert_allclose(func.vmap(root)(np.ones(3), a), np.sqrt(a))
        np.testing.assert_allclose(func.vmap(func.grad(root, argnums=1))(np.ones(3), a), 0.5 / np.sqrt(a))
        np.testing.assert_allclose(func.vmap(func.hessian(root, argnums=1))(np.ones(3), a), -0.25 * a**-1.5)
