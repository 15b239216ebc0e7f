"""`fori_loop`, `while_loop` and `cond` against Python's statements."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import grad


def test_for_loop():
    x = gs.tensor(1.5, requires_grad=True)
    found = gs.fori_loop(1, 5, lambda i, state: (state[0] * x + i, state[1] + 1), (x, 0))
    assert found[1].item() == 4
    value = 1.5
    slope = 1.0
    for i in range(1, 5):
        value, slope = value * 1.5 + i, slope * 1.5 + value
    np.testing.assert_allclose([found[0].item(), grad(found[0], x)[0].item()], [value, slope])
    assert gs.fori_loop(3, 3, lambda i, c: c + 1, 7.0).item() == 7
    assert gs.fori_loop(gs.tensor(0), gs.tensor(2), lambda i, c: c + i, 0).item() == 1


def test_while_loop_of_one_tensor():
    x = gs.tensor(2.0, requires_grad=True)
    found = gs.while_loop(lambda c: c < 100, lambda c: c * x, x)
    assert (found.item(), grad(found, x)[0].item()) == (128, 7 * 2.0**6)


def test_while_loop_of_a_tuple_or_a_dict():
    expected = (gs.tensor(4), gs.tensor(16.0))
    for found in (
        gs.while_loop(lambda i, c: i < 4, lambda i, c: (i + 1, 2 * c), (0, 1.0)),
        gs.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, 2 * s[1]), (0, 1.0)),
    ):
        assert found == expected
    found = gs.while_loop(lambda s: s["i"] < 4, lambda s: {"i": s["i"] + 1, "c": 2 * s["c"]}, {"i": 0, "c": 1.0})
    assert (found["i"], found["c"]) == expected


def test_a_loop_that_does_not_end():
    with pytest.raises(RuntimeError, match="still holds after max_steps=10 steps"):
        gs.while_loop(lambda c: True, lambda c: c + 1, 0, max_steps=10)
    with pytest.raises(RuntimeError, match="max_steps=-1"):
        gs.while_loop(lambda c: True, lambda c: c, 0, max_steps=-1)
    assert gs.while_loop(lambda c: c < 10, lambda c: c + 1, 0, max_steps=10).item() == 10


@pytest.mark.parametrize("value", [-4.0, 4.0])
def test_one_branch_is_called(value):
    x = gs.tensor(value, requires_grad=True)
    for found in (
        gs.cond(x > 0, lambda x: x.sqrt(), lambda x: -x, x),
        gs.cond(x > 0, lambda x: x.sqrt(), lambda x: -x, (x,)),
        gs.cond(x > 0, lambda x: x.sqrt(), lambda x: -x, operands=[x]),
        gs.cond(value > 0, lambda: x.sqrt(), lambda: -x),
    ):
        assert found.item() == (2 if value > 0 else 4)
        assert grad(found, x)[0].item() == (0.25 if value > 0 else -1)


def test_branches_in_a_scan_with_checkpoints():
    x = gs.tensor([1.0, -2, 3], requires_grad=True)

    def step(total, row):
        return total * gs.cond(row > 0, gs.exp, gs.sin, row), None

    found = grad(gs.scan(step, gs.tensor(1.0), x, checkpoint=1)[0], x)[0]
    value = np.exp(1) * np.sin(-2) * np.exp(3)
    np.testing.assert_allclose(found.numpy(), [value, value / np.tan(-2), value], rtol=1e-5)


def test_slices_that_go_one_way():
    x = gs.tensor([1.0, 2, 3])
    found = func.vmap(lambda x: gs.fori_loop(0, 3, lambda i, c: c * x + i, x))(x)
    np.testing.assert_allclose(found.numpy(), [((one * one) * one + 1) * one + 2 for one in (1.0, 2, 3)])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gs.cond(gs.ones(2), abs, abs, 1), RuntimeError, r"one truth value, but has shape \[2\]"),
        (lambda: gs.cond(True, abs, abs, 1, operands=(1,)), TypeError, "not in both ways"),
        (lambda: gs.cond("yes", abs, abs, 1), TypeError, "must be a bool"),
        (lambda: gs.cond(True, 1, abs, 1), TypeError, "'true_fn' must be callable"),
        (lambda: gs.fori_loop(0.5, 3, lambda i, c: c, 1), TypeError, "'lower' must be an integer, not float"),
        (lambda: gs.fori_loop(0, 3, lambda i, c: (c, c), 1), RuntimeError, "must keep its structure"),
        (lambda: gs.fori_loop(0, 3, None, 1), TypeError, "'body' must be callable"),
        (lambda: gs.while_loop(lambda c: "no", lambda c: c, 1), TypeError, "what cond_fn gives must be a bool"),
        (lambda: gs.while_loop(lambda c: True, lambda c: c / 2, 1), RuntimeError, "was int64 .* is float32"),
        (lambda: gs.while_loop(lambda c: True, 3, 1), TypeError, "'body_fn' must be callable"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
