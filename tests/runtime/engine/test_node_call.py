"""A node called like a function: its gradients, outside of any run (R1)."""

import numpy as np
import pytest
from steady import assert_steady

import gradsmith as gs
from gradsmith.autograd import Function


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def ones(*size):
    return gs.ones(*size, dtype=gs.float64)


def test_one_gradient_for_each_edge():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    of_x, of_w = (x * w).grad_fn(ones(2))
    assert of_x.tolist() == [3, 4] and of_w.tolist() == [1, 2]
    of_x, none = (x * w.detach()).grad_fn(ones(2))
    assert of_x.tolist() == [3, 4] and none is None
    assert x.exp().grad_fn(ones(2)).tolist() == x.exp().tolist()


def test_gradients_are_those_of_the_results_shape():
    x, w = leaf(1.0, 2.0), gs.tensor([[3.0], [4.0]], dtype=gs.float64, requires_grad=True)
    assert [g.shape for g in (x * w).grad_fn(ones(2, 2))] == [(2, 2), (2, 2)]


def test_one_argument_for_each_output():
    x = leaf(1.0, 2.0)
    first, _ = x.unbind()
    assert first.grad_fn(gs.tensor(5.0, dtype=gs.float64), None).tolist() == [5, 0]
    assert first.grad_fn(None, None) is None
    for given in ((), (ones(()),), (ones(()),) * 3):
        with pytest.raises(TypeError, match=f"UnbindBackward0 expected 2 arguments, got {len(given)} instead"):
            first.grad_fn(*given)


def test_what_comes_in_is_looked_at_and_left_alone():
    node = leaf(1.0, 2.0).tanh().grad_fn
    for wrong, what in (
        (ones(3), r"float64 gradient of shape \[3\], expected float64 and shape \[2\]"),
        (gs.ones(2), r"float32 gradient of shape \[2\], expected float64 and shape \[2\]"),
    ):
        with pytest.raises(RuntimeError, match=f"TanhBackward0: argument 0 is a {what}"):
            node(wrong)
    with pytest.raises(TypeError, match="TanhBackward0: argument 0 must be a Tensor or None, got float"):
        node(1.0)
    given = ones(2)
    with gs.no_grad():
        node(given)
    assert given.tolist() == [1, 1]


def test_nothing_is_freed_and_no_hook_is_called():
    x = leaf(1.0, 2.0)
    y = x * x
    hooks = [y.register_hook(lambda g: pytest.fail("called"))]
    hooks.append(y.grad_fn.register_prehook(lambda grads: pytest.fail("called")))
    hooks.append(y.grad_fn.register_hook(lambda inputs, outputs: pytest.fail("called")))
    for _ in range(2):
        y.grad_fn(ones(2))
    for hook in hooks:
        hook.remove()
    node = y.grad_fn
    del y
    assert gs.autograd.grad(gs.autograd.graph.GradientEdge(node, 0), x, ones(2))[0].tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="second time"):
        node(ones(2))


def test_a_graph_is_made_while_recording_is_on():
    x = leaf(2.0)
    first = x.exp().grad_fn(ones(1))
    (second,) = gs.autograd.grad(first, x)
    assert second.item() == pytest.approx(np.exp(2.0))
    node = x.exp().grad_fn
    with gs.no_grad():
        assert not node(ones(1)).requires_grad


def test_accumulators_and_custom_functions():
    x = leaf(1.0)
    accumulator = (x * 2).grad_fn.next_functions[0][0]
    given = ones(1)
    assert accumulator(given) == () and accumulator(given) == ()
    assert x.grad.item() == 2.0 and given.item() == 1.0

    class Many(Function):
        @staticmethod
        def forward(ctx, *xs):
            return sum(xs)

        @staticmethod
        def backward(ctx, g):
            return tuple(g * i if needed else None for i, needed in enumerate(ctx.needs_input_grad))

    inputs = [leaf(1.0) if i % 3 else ones(1) for i in range(50)]
    node = Many.apply(*inputs).grad_fn
    expected = [i if i % 3 else None for i in range(50)]
    assert [g and g.item() for g in node(ones(1))] == expected
    found = []
    y = inputs[1] * 1
    y.register_hook(lambda g: found.extend(g and g.item() for g in node(ones(1))))
    gs.autograd.grad(y, inputs[1])  # a run that asks for something else
    assert found == expected


def test_calls_leave_nothing_behind():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    node = (x * w).grad_fn

    def calls():
        node(ones(2))
        with pytest.raises(RuntimeError):
            node(ones(3))

    assert_steady(calls)
