"""Differential equations, roots and minima: values against closed forms, derivatives against differences."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.scipy import optimize
from gradsmith.scipy.integrate import fixed_quad, odeint, solve_ivp


def tensor(values):
    return gs.tensor(np.asarray(values, float), requires_grad=True)


def oscillator(y, t, parameters):
    return gs.stack([y[1], -parameters[0] * y[0] - parameters[1] * y[1] + gs.sin(t)])


EXACT = {"rtol": 1e-11, "atol": 1e-11}


def test_closed_forms():
    t = np.linspace(0, 2, 5)
    found = odeint(lambda y, t, rate: -rate * y, [1.0, 2.0], t, (0.7,))
    np.testing.assert_allclose(found.numpy(), np.exp(-0.7 * t)[:, None] * [1.0, 2.0], rtol=1e-6)
    backwards = odeint(lambda y, t: t * y, 1.0, t[::-1])
    np.testing.assert_allclose(backwards.numpy()[:, 0], np.exp((t[::-1] ** 2 - 4) / 2), rtol=1e-6)
    lists = odeint(lambda t, y: [y[1], -y[0]], [0.0, 1.0], t, tfirst=True)
    np.testing.assert_allclose(lists.numpy()[:, 0], np.sin(t), atol=1e-6)


@pytest.mark.parametrize("method", ["dopri5", "RK45", "rk4", "RK23", "DOP853", "Radau", "BDF", "LSODA"])
def test_methods(method):
    if method not in ("dopri5", "RK45", "rk4"):
        pytest.importorskip("scipy")
    found = odeint(lambda y, t: -y, [1.0], [0.0, 1.0], method=method, step_size=0.01)
    assert found[1].item() == pytest.approx(np.exp(-1.0), abs=1e-6)


def test_derivatives_of_both_modes_and_orders():
    start, t, parameters = tensor([1.0, 0.0]), tensor([0.0, 0.7, 1.5]), tensor([1.3, 0.2])

    def solution(start, t, parameters):
        return odeint(oscillator, start, t, (parameters,), **EXACT)

    assert gs.autograd.gradcheck(solution, (start, t, parameters), check_forward_ad=True)
    short = t[:2].detach().requires_grad_()
    assert gs.autograd.gradgradcheck(
        lambda *inputs: solution(*inputs)[-1].square().sum(), (start, short, parameters), rtol=1e-3
    )


def test_batches():
    rates = gs.tensor([0.5, 1.0], dtype=np.float64)
    found = gs.vmap(lambda r: odeint(lambda y, t, r: -r * y, [1.0], [0.0, 1.0], (r,))[1, 0])(rates)
    np.testing.assert_allclose(found.numpy(), np.exp(-rates.numpy()), rtol=1e-6)
    jacobian = gs.func.jacrev(lambda y: odeint(lambda y, t: gs.stack([y[1], -y[0]]), y, [0.0, 1.0])[1])(
        tensor([1.0, 0.0])
    )
    np.testing.assert_allclose(jacobian.detach().numpy(), [[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]], atol=1e-6)


def test_trees_of_arguments():
    weights = {"a": tensor([[0.0, 1.0], [-1.0, 0.0]]), "name": "rotation"}
    odeint(lambda y, t, w: w["a"] @ y, [1.0, 0.0], [0.0, 1.0], (weights,))[-1].sum().backward()
    assert weights["a"].grad.abs().sum() > 0.5


def test_errors_of_equations():
    outside = tensor([1.0])
    with pytest.raises(RuntimeError, match="none of its arguments"):
        odeint(lambda y, t: -outside * y, [1.0], [0.0, 1.0])
    with pytest.raises(RuntimeError, match="too small"):
        odeint(lambda y, t: y * y, [1.0], [0.0, 2.0])
    with pytest.raises(RuntimeError, match="too small"):
        odeint(lambda y, t: y * np.nan, [1.0], [0.0, 2.0])
    with pytest.raises(RuntimeError, match="more than 3 steps"):
        odeint(lambda y, t: gs.sin(50 * t) * y, [1.0], [0.0, 2.0], mxstep=3)
    with pytest.raises(ValueError, match="slopes"):
        odeint(lambda y, t: y[:1], [1.0, 2.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="method must be"):
        odeint(lambda y, t: y, [1.0], [0.0, 1.0], method="euler")
    with pytest.raises(ValueError, match="ascend"):
        odeint(lambda y, t: y, [1.0], [0.0, 1.0, 0.5])
    with pytest.raises(ValueError, match="complex"):
        odeint(lambda y, t: y, [1j], [0.0, 1.0])
    with pytest.raises(ValueError, match="events"):
        solve_ivp(lambda t, y: y, (0, 1), [1.0], events=lambda t, y: y)
    assert odeint(lambda y, t: y, [1.0], []).shape == (0, 1)


def test_initial_value_problems():
    rate = tensor(0.5)
    found = solve_ivp(lambda t, y, rate: -rate * y, (0, 2), [1.0, 3.0], args=(rate,), rtol=1e-8, atol=1e-8)
    assert found.success and found.y.shape == (2, found.t.numel()) and found.t[-1].item() == 2.0
    np.testing.assert_allclose(found.y[1].detach().numpy(), 3 * np.exp(-0.5 * found.t.numpy()), rtol=1e-6)
    found.y[0, -1].backward()
    assert rate.grad.item() == pytest.approx(-2 * np.exp(-1.0), rel=1e-5)
    chosen = solve_ivp(lambda t, y: -y, (0, 1), [1.0], t_eval=[0.5, 1.0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(chosen.y.numpy(), [[np.exp(-0.5), np.exp(-1.0)]], rtol=1e-7)


def test_gaussian_nodes():
    end = tensor(2.0)
    value, _ = fixed_quad(lambda x: x**3, 0.0, end)
    value.backward()
    assert value.item() == pytest.approx(4.0) and end.grad.item() == pytest.approx(8.0)


# ---- roots and minima


@pytest.mark.parametrize("method", [None, "hybr", "lm"])
def test_roots(method):
    if method:
        pytest.importorskip("scipy")
    a = tensor([4.0, 9.0])
    found = optimize.root(lambda x, a: x * x - a, [1.0, 1.0], (a,), method=method)
    np.testing.assert_allclose(found.x.detach().numpy(), [2.0, 3.0], rtol=1e-6)
    found.x.sum().backward()
    np.testing.assert_allclose(a.grad.numpy(), [1 / 4, 1 / 6], rtol=1e-6)


@pytest.mark.parametrize("method", ["del2", "iteration"])
def test_fixed_points(method):
    a = tensor(1.0)
    found = optimize.fixed_point(lambda x, a: gs.cos(a * x), 1.0, (a,), method=method)
    assert found.item() == pytest.approx(0.7390851332)
    assert gs.autograd.gradcheck(lambda a: optimize.fixed_point(lambda x, a: gs.cos(a * x), 1.0, (a,), 1e-14), (a,))
    with pytest.raises(RuntimeError, match="Failed to converge"):
        optimize.fixed_point(lambda x: x + 1.0, 1.0, maxiter=5, method="iteration")


def test_roots_of_one_number():
    a = tensor(5.0)
    for solve in (
        lambda a: optimize.brentq(lambda x, a: x**3 - a, 0, 4, (a,)),
        lambda a: optimize.bisect(lambda x, a: x**3 - a, 0, 4, (a,)),
        lambda a: optimize.newton(lambda x, a: x**3 - a, 2.0, args=(a,)),
        lambda a: optimize.root_scalar(lambda x, a: x**3 - a, (a,), bracket=(0, 4)).root,
        lambda a: optimize.root_scalar(lambda x, a: x**3 - a, (a,), x0=2.0).root,
    ):
        assert solve(a).item() == pytest.approx(5 ** (1 / 3), rel=1e-10)
        assert gs.autograd.gradcheck(solve, (a,))
    with pytest.raises(ValueError, match="different signs"):
        optimize.brentq(lambda x: x * x + 1, 0, 1)
    with pytest.raises(ValueError, match="bracket or x0"):
        optimize.root_scalar(lambda x: x)


def test_hard_brackets():
    for function, low, high, root in (
        (lambda x: (x - 1) ** 9, 0.0, 3.0, 1.0),
        (lambda x: gs.exp(x) - 1e6, 0.0, 100.0, np.log(1e6)),
        (lambda x: gs.where(x > 0.3, 1.0, -1.0), 0.0, 1.0, 0.3),
    ):
        with gs.no_grad():
            assert optimize.brentq(function, low, high).item() == pytest.approx(root, abs=0.02)


def test_minima():
    pytest.importorskip("scipy")
    a = tensor([1.0, -2.0])

    def minimum(a):
        return optimize.minimize(
            lambda x, a: ((x - a) ** 4 + (x - a) ** 2 + x[0] * x[1]).sum(), [0.0, 0.0], (a,), tol=1e-12
        ).x

    found = optimize.minimize(lambda x, a: ((x - a) ** 2).sum(), [0.0, 0.0], (a,))
    np.testing.assert_allclose(found.x.detach().numpy(), [1.0, -2.0], atol=1e-6)
    assert found.success and found.fun.item() == pytest.approx(0.0, abs=1e-10)
    (gradient,) = gs.autograd.grad(minimum(a)[0], a)
    step = np.array([1e-5, 0.0])
    ahead, behind = (minimum(gs.tensor(a.detach().numpy() + sign * step))[0].item() for sign in (1, -1))
    assert gradient[0].item() == pytest.approx((ahead - behind) / 2e-5, rel=1e-3)
    with pytest.raises(ValueError, match="bounds"):
        optimize.minimize(lambda x: x.sum(), [0.0], bounds=[(0, 1)])


def test_sparse_and_windows():
    sparse = pytest.importorskip("scipy.sparse")
    from gradsmith.scipy.signal import windows
    from gradsmith.scipy.sparse import matmul

    x = tensor([1.0, 2.0])
    matmul(sparse.csr_array([[2.0, 0.0], [1.0, 3.0]]), x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and windows.hann(4).shape == (4,)


def test_the_interval_of_an_equation_is_differentiated_by() -> None:
    def slope(t, y, rate):
        return -rate * y * (1 + 0.1 * t)

    def exact(first, last):
        return np.exp(-0.7 * (last + 0.05 * last**2 - first - 0.05 * first**2))

    at_last, at_first = -0.7 * 1.2 * exact(0.5, 2.0), 0.7 * 1.05 * exact(0.5, 2.0)

    def end(first, last, **options):
        return solve_ivp(slope, (first, last), [1.0], args=(0.7,), **EXACT, **options).y[0, -1]

    np.testing.assert_allclose(gs.grad(end, argnums=(0, 1))(0.5, 2.0), (at_first, at_last), rtol=1e-8)

    def first(first):
        return end(first, 2.0, t_eval=np.array([1.0, 2.0]))

    np.testing.assert_allclose(gs.grad(first)(0.5), at_first, rtol=1e-8)

    def first(first):
        return end(first, 2.0, t_eval=gs.tensor([0.5, 2.0], dtype=np.float64))

    np.testing.assert_allclose(gs.grad(first)(0.5), at_first, rtol=1e-8)
    second = 0.7 * (0.7 * 1.2**2 - 0.1) * exact(0.5, 2.0)
    np.testing.assert_allclose(gs.grad(gs.grad(lambda last: end(0.5, last)))(2.0), second, rtol=1e-7)
