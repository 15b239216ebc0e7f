"""`cond` and `while_loop` in a `vmap` whose slices go different ways: each slice has what it has alone."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func

VALUES = [1.0, -2.0, 3.0, 0.5]


def branch(x):
    return gs.cond(x > 0, lambda x: x.exp() * x, lambda x: x.sin(), x)


def power(x):
    """The first power of |x| + 1 above 20, and which one it is."""
    return gs.while_loop(lambda c, n: c < 20, lambda c, n: (c * (x.abs() + 1), n + 1), (gs.ones_like(x), 0))


def first_power(x):
    return power(x)[0]


def one_in_other(x):
    """A branch for each step of a loop."""
    return gs.while_loop(lambda c: c.abs() < 9, lambda c: gs.cond(c > x, lambda: c + 1.5, lambda: c * 2 + x * x), x)


FUNCTIONS = [branch, first_power, one_in_other]


def alone(function, values):
    return [function(gs.tensor(value, dtype=gs.float64)).item() for value in values]


def all_of(transformed, values):
    return func.vmap(transformed)(gs.tensor(values, dtype=gs.float64)).numpy()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_gradients(function):
    for transformed in (function, func.grad(function), func.grad(func.grad(function))):
        np.testing.assert_allclose(all_of(transformed, VALUES), alone(transformed, VALUES), rtol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_transforms_around_the_map(function):
    x = gs.tensor(VALUES, dtype=gs.float64)
    slopes = alone(func.grad(function), VALUES)
    mapped = func.vmap(function)
    np.testing.assert_allclose(func.grad(lambda x: mapped(x).sum())(x).numpy(), slopes, rtol=1e-12)
    np.testing.assert_allclose(func.jacfwd(mapped)(x).numpy(), np.diag(slopes), rtol=1e-12)
    np.testing.assert_allclose(func.jacrev(mapped)(x).numpy(), np.diag(slopes), rtol=1e-12)
    recorded = x.requires_grad_()
    np.testing.assert_allclose(gs.autograd.grad(mapped(recorded).sum(), recorded)[0].numpy(), slopes, rtol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("transform", [lambda f: f, func.grad])
def test_compiled(function, transform):
    compiled = gs.compile(func.vmap(transform(function)))
    for values in (VALUES, [-0.3, 2.0, -1.5, 4.0]):
        found = compiled(gs.tensor(values, dtype=gs.float64)).numpy()
        np.testing.assert_allclose(found, alone(transform(function), values), rtol=1e-12)
    assert len(compiled.programs) == 1


def test_maps_of_maps():
    values = np.array([VALUES, [0.3, 4.0, -0.7, -5.0]])
    found = func.vmap(func.vmap(one_in_other))(gs.tensor(values))
    np.testing.assert_allclose(found.numpy(), [alone(one_in_other, row) for row in values], rtol=1e-12)


def test_only_the_truth_differs():
    """Between slices of the outer of two maps, and for operands that are the same for all."""
    x = gs.tensor([2.0, 3.0])
    truths = gs.tensor([True, False, True])
    found = func.vmap(lambda truth: func.vmap(lambda x: gs.cond(truth, gs.exp, gs.sin, x))(x))(truths)
    np.testing.assert_allclose(
        found.numpy(), np.where(truths.numpy()[:, None], np.exp([2, 3]), np.sin([2, 3])), rtol=1e-6
    )
    found = func.vmap(lambda n: gs.while_loop(lambda c, k: k < n, lambda c, k: (c * 2, k + 1), (1, 0)))(gs.arange(4))
    assert [one.tolist() for one in found] == [[1, 2, 4, 8], [0, 1, 2, 3]]


def test_how_often_a_step_is_made():
    """As often as the slice that takes longest; those that are done change no more."""
    steps = []

    def step(c):
        steps.append(c)
        return c * 2

    found = func.vmap(lambda x: gs.while_loop(lambda c: c < 10, step, x))(gs.tensor([1.0, 3.0, 50.0]))
    assert found.tolist() == [16, 12, 50] and len(steps) == 4


def test_results_of_any_structure():
    def choose(x):
        return gs.cond(x > 0, lambda: {"a": (x, 1, None), "b": "text"}, lambda: {"a": (-x, 2, None), "b": "text"})

    found = func.vmap(lambda x: choose(x)["a"][:2])(gs.tensor([1.0, -3.0]))
    assert [one.tolist() for one in found] == [[1, 3], [1, 2]]
    one = gs.tensor(5.0)
    assert func.vmap(lambda x: gs.cond(x > 0, lambda: one, lambda: one))(gs.tensor([1.0, -3.0])).tolist() == [5, 5]


def test_truths_that_are_no_bools_or_have_a_dimension():
    x = gs.tensor([0.0, 2.0])
    assert func.vmap(lambda x: gs.cond(x, lambda: 1, lambda: 2))(x).tolist() == [2, 1]
    assert func.vmap(lambda x: gs.cond(x[None] > 1, lambda: 1, lambda: 2))(x).tolist() == [2, 1]
    found = func.vmap(lambda x: gs.while_loop(lambda c: (c < 5)[None], lambda c: c + 2, x))(x)
    assert found.tolist() == [6, 6]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: gs.cond(x > 0, lambda: x, lambda: (x, x)), r"cond\(\): slices .* the same structure"),
        (lambda x: gs.cond(x > 0, lambda: x, lambda: x[None]), r"float32 of shape \[\] and .*float32 of shape \[1\]"),
        (lambda x: gs.cond(x > 0, lambda: x, lambda: 1), r"float32 of shape \[\] and .*int64 of shape \[\]"),
        (lambda x: gs.cond(x > 0, lambda: "a", lambda: "b"), "neither 'a' nor 'b' can be the result of all"),
        (lambda x: gs.cond(x.expand(2) > 0, lambda: 1, lambda: 2), r"one truth value for each slice .* shape \[2\]"),
        (lambda x: gs.while_loop(lambda c: c.expand(2) > 0, lambda c: c - 1, x), r"cond_fn gives must be one truth"),
        (lambda x: gs.while_loop(lambda c: c < 9, lambda c: c + 1, x, max_steps=3), "after max_steps=3 steps"),
    ],
)
def test_errors(call, message):
    with pytest.raises(RuntimeError, match=message):
        func.vmap(call)(gs.tensor([1.0, -2.0]))


def root(x):
    """In the slices of the other branch its slope is infinite or NaN."""
    return gs.cond(x > 0, lambda x: x.sqrt() * x.log(), lambda x: (1 - x).log(), x)


def newton(x):
    """A step divides by what is zero in the slices that are done."""
    return gs.while_loop(
        lambda c, x: (c - x).abs() > 1e-9, lambda c, x: (c - (c - x) ** 2 / (c - x) / 2, x), (x * 0 + 1, x)
    )[0]


@pytest.mark.parametrize("function", [root, newton])
def test_what_is_not_finite_elsewhere_leaves_gradients_alone(function):
    values = [1.0, 2.0, 0.5, 4.0] if function is newton else VALUES
    x = gs.tensor(values, dtype=gs.float64)
    for transformed in (func.grad(function), func.grad(func.grad(function))):
        expected = alone(transformed, values)
        assert np.isfinite(expected).all()
        np.testing.assert_allclose(all_of(transformed, values), expected, rtol=1e-9, atol=1e-12)
    slopes = alone(func.grad(function), values)
    np.testing.assert_allclose(func.grad(lambda x: func.vmap(function)(x).sum())(x).numpy(), slopes, rtol=1e-9)
    np.testing.assert_allclose(func.vmap(func.jacfwd(function))(x).numpy(), slopes, rtol=1e-9)
    forward = func.vmap(func.jacfwd(func.jacrev(function)))(x).numpy()
    np.testing.assert_allclose(forward, alone(func.grad(func.grad(function)), values), rtol=1e-9, atol=1e-12)
