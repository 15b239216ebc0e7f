"""L-BFGS: minima, what a step may evaluate, and its line search on functions of one variable."""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.optim.lbfgs import _cubic_interpolate, _strong_wolfe
from gradsmith.optim.lbfgs.line_search import Point, cubic_minimum, strong_wolfe


def minimize(loss_of, start, steps=1, **settings):
    """The parameter after some steps, its optimizer, and how often the loss was computed."""
    p = gs.tensor(start, dtype=gs.float64, requires_grad=True)
    optimizer = gs.optim.LBFGS([p], **settings)
    count = 0

    def closure():
        nonlocal count
        count += 1
        optimizer.zero_grad()
        loss = loss_of(p)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return p, optimizer, count


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def test_rosenbrock():
    p, optimizer, count = minimize(rosenbrock, [-1.2, 1.0], 5, line_search_fn="strong_wolfe", tolerance_change=0)
    np.testing.assert_allclose(p.detach().numpy(), [1, 1], atol=1e-7)
    assert optimizer.state[p]["func_evals"] == count < 80


def test_a_quadratic():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    matrix, vector = root @ root.T + np.eye(5), rng.normal(size=5)
    a, b = gs.tensor(matrix), gs.tensor(vector)
    settings = {"line_search_fn": "strong_wolfe", "max_iter": 40, "tolerance_change": 0}
    p, _, _ = minimize(lambda x: 0.5 * x @ (a @ x) - b @ x, np.zeros(5), **settings)
    np.testing.assert_allclose(p.detach().numpy(), np.linalg.solve(matrix, vector), rtol=1e-6)


def test_the_first_step_is_one_of_gradient_descent():
    p, _, count = minimize(lambda x: (x * gs.tensor([1.0, 3.0])).sum(), [0.0, 0.0], lr=0.5, max_iter=1)
    np.testing.assert_allclose(p.detach().numpy(), [-0.5 / 4, -1.5 / 4])
    assert count == 1


def test_the_second_step_divides_by_the_curvature():
    """Of one variable: the direction is that of Newton's method with the slope between the last two points."""
    p, _, _ = minimize(lambda x: (x**4).sum(), [1.0], lr=1, max_iter=2)
    first = 1.0 - 1.0 * 4 / 4
    assert p.item() == pytest.approx(first)  # the minimum, where the gradient is zero
    p, _, _ = minimize(lambda x: (x**4).sum(), [2.0], lr=0.5, max_iter=2, max_eval=9)
    x = 2.0 - 0.5 * 32 / 32
    curvature = (4 * 2.0**3 - 4 * x**3) / (2.0 - x)
    assert p.item() == pytest.approx(x - 0.5 * 4 * x**3 / curvature)


def test_limits():
    for settings, most in (({"max_iter": 3}, 3), ({"max_iter": 50, "max_eval": 4}, 4)):
        _, optimizer, count = minimize(rosenbrock, [-1.2, 1.0], lr=0.1, **settings)
        assert count <= most
        (p,) = optimizer.param_groups[0]["params"]
        assert optimizer.state[p]["n_iter"] <= most
    _, optimizer, _ = minimize(rosenbrock, [-1.2, 1.0], line_search_fn="strong_wolfe", history_size=2)
    (p,) = optimizer.param_groups[0]["params"]
    assert len(optimizer.state[p]["old_dirs"]) == 2


def test_a_start_at_the_minimum():
    p, optimizer, count = minimize(lambda x: (x**2).sum(), [0.0, 0.0])
    assert count == 1 and p.tolist() == [0.0, 0.0] and optimizer.state[p]["n_iter"] == 0


def test_several_parameters_of_several_kinds():
    a, b, c = gs.tensor(3.0, dtype=gs.float64), gs.zeros(2, 2, dtype=gs.float64), gs.tensor([1 + 1j, 2j])
    params = [x.requires_grad_() for x in (a, b, c)] + [gs.ones(2, dtype=gs.float64).requires_grad_()]
    optimizer = gs.optim.LBFGS(params, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (a - 1) ** 2 + ((b - 2) ** 2).sum() + ((c - 3j).abs() ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert a.item() == pytest.approx(1) and np.allclose(b.detach().numpy(), 2) and np.allclose(c.detach().numpy(), 3j)
    assert params[3].tolist() == [1.0, 1.0]  # has no gradient


def test_a_loaded_optimizer_goes_on():
    runs = []
    for interrupts in (False, True):
        p = gs.tensor([-1.2, 1.0], dtype=gs.float64, requires_grad=True)
        optimizer = gs.optim.LBFGS([p], line_search_fn="strong_wolfe", max_iter=4)

        def closure():
            optimizer.zero_grad()  # noqa: B023
            loss = rosenbrock(p)  # noqa: B023
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
            if interrupts:
                saved = optimizer.state_dict()
                optimizer = gs.optim.LBFGS([p])
                optimizer.load_state_dict(saved)
        runs.append(p.tolist())
    assert runs[0] == runs[1]


def test_parameters_come_back_when_the_closure_raises_in_a_line_search():
    p = gs.tensor([3.0], requires_grad=True)
    optimizer = gs.optim.LBFGS([p], line_search_fn="strong_wolfe")
    calls = []

    def closure():
        calls.append(p.item())
        if len(calls) == 2:
            raise KeyError("second")
        p.grad = gs.ones(1)
        return p.sum()

    with pytest.raises(KeyError, match="second"):
        optimizer.step(closure)
    assert p.item() == 3.0 and calls[1] != 3.0


def test_what_is_refused():
    p = gs.ones(1).requires_grad_()
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        gs.optim.LBFGS([{"params": p}, {"params": gs.ones(1)}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        gs.optim.LBFGS([p], line_search_fn="armijo").step(lambda: p.sum())
    with pytest.raises(TypeError, match="needs a closure"):
        gs.optim.LBFGS([p]).step()


# ---- the line search


FUNCTIONS = {
    "quadratic": (lambda t: (t - 2) ** 2, lambda t: 2 * (t - 2)),
    "steep": (lambda t: math.exp(-t) + 0.1 * t, lambda t: -math.exp(-t) + 0.1),
    "wavy": (lambda t: -t / (t**2 + 2), lambda t: (t**2 - 2) / (t**2 + 2) ** 2),
    "quintic": (lambda t: (t + 1e-3) ** 5 - 2 * (t + 1e-3) ** 4, lambda t: 5 * (t + 1e-3) ** 4 - 8 * (t + 1e-3) ** 3),
}  # fmt: skip


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 50.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_strong_wolfe_conditions_hold(name, first):
    """Functions of Moré and Thuente, 1994, and two simpler ones."""
    value, slope = FUNCTIONS[name]
    start = Point(0.0, value(0.0), None, slope(0.0))
    found, count = strong_wolfe(lambda t: Point(t, value(t), None, slope(t)), start, first, 1.0, 1e-12, 40)
    assert found.loss <= start.loss + 1e-4 * found.t * start.slope
    assert abs(found.slope) <= 0.9 * abs(start.slope)
    assert 1 <= count <= 41


# A function of t and k with its slope, k, the first step length, and the step lengths that PyTorch 2.13 tries.
KINK = (lambda t, k: -t + k * max(0, t - 0.3) ** 2, lambda t, k: -1 + 2 * k * max(0, t - 0.3))
ROOT = (lambda t, k: t - math.log1p(k * t), lambda t, k: 1 - k / (1 + k * t))
STEEP = (lambda t, k: -t + math.exp(k * (t - 1)), lambda t, k: -1 + k * math.exp(k * (t - 1)))
WAVE = (lambda t, k: -t + 0.3 * math.sin(k * t) + 0.2 * t**2, lambda t, k: -1 + 0.3 * k * math.cos(k * t) + 0.4 * t)
SEARCHES = [
    (KINK, 3, 3, [3, 0.255243248027, 0.529718923224]),
    (ROOT, 2, 0.01, [0.01, 0.05505]),
    (STEEP, 2, 0.1, [0.1, 0.741571395326]),
    (STEEP, 20, 1, [1, 0.657782577806, 0.85310765339]),
    (WAVE, 5, 1, [
        1, 1.02487735932, 1.02342181456, 1.02107963311, 1.02342031369, 1.02318624563, 1.02342031367,
    ]),
    (WAVE, 40, 2, [
        2, 2.13483320049, 2.13618153249, 2.15795574088, 2.15997822741, 2.16012808125, 2.16012957979, 2.16012818192,
        2.16012817185, 2.16012818192,
    ]),
    (WAVE, 60, 0.5, [
        0.5, 0.479479128413, 0.497947912841, 0.498160313475, 0.498160503419, 0.498344453077, 0.498160503611,
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "k", "first", "expected"), SEARCHES)
def test_the_step_lengths_that_are_tried(function, k, first, expected):
    value, slope = function
    tried = []

    def evaluate(t):
        tried.append(t)
        return Point(t, value(t, k), None, slope(t, k))

    strong_wolfe(evaluate, Point(0.0, value(0, k), None, slope(0, k)), first, 1.0, 1e-9, 25)
    assert tried == pytest.approx(expected, rel=1e-10)


def test_the_cubic_through_two_points():
    def cubic(t):
        return Point(t, t**3 - 3 * t, None, 3 * t**2 - 3)

    assert cubic_minimum(cubic(0.0), cubic(3.0), (0.0, 3.0)) == pytest.approx(1.0)
    assert cubic_minimum(cubic(3.0), cubic(0.0), (0.0, 3.0)) == pytest.approx(1.0)
    assert cubic_minimum(cubic(0.0), cubic(3.0), (1.5, 3.0)) == 1.5
    falling = Point(0.0, 1.0, None, -1.0), Point(1.0, 0.0, None, -1.0)
    assert cubic_minimum(*falling, (2.0, 4.0)) == 3.0  # a line has no minimum: the middle
    assert cubic_minimum(cubic(1.0), cubic(1.0), (0.0, 1.0)) == 0.5


def test_the_line_search_as_a_function_of_tensors():
    """The losses, steps and counts are PyTorch's."""

    def objective(x, t, d):
        y = x + t * d
        loss = (1 - y[0]) ** 2 + 100 * (y[1] - y[0] ** 2) ** 2
        return float(loss), gs.stack([-2 * (1 - y[0]) - 400 * y[0] * (y[1] - y[0] ** 2), 200 * (y[1] - y[0] ** 2)])

    searches = {
        (): (4.128138340789158, 0.0007892073839786148, 8),
        (0.1, 0.2): (4.128138340789158, 0.0007892073839786148, 8),
        (0.0001, 0.9, 1e-09, 3): (24.199999999999996, 0.0, 4),
    }  # (c1, c2, tolerance_change, max_ls) -> loss, step, evaluations
    x = gs.tensor([-1.2, 1.0], dtype=gs.float64)
    loss, grad = objective(x, 0, x)
    for conditions, expected in searches.items():
        found = _strong_wolfe(objective, x, 1.0, -grad, loss, grad, -grad.dot(grad), *conditions)
        assert (found[0], found[2], found[3]) == pytest.approx(expected, rel=1e-9)
        assert gs.equal(found[1], objective(x, found[2], -grad)[1])


def test_the_cubic_between_two_points():
    assert _cubic_interpolate(0.0, 0.0, -1.0, 2.0, 1.0, 3.0) == pytest.approx(0.8685170918213297)
    assert _cubic_interpolate(0.0, 0.0, -1.0, 2.0, 1.0, 3.0, bounds=(1.5, 1.8)) == 1.5
