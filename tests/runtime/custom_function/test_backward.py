"""The backward of a custom Function: what it may return, higher derivatives, exceptions and hooks."""

import traceback

import numpy as np
import pytest
from custom_functions import Cubic, leaf, make

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.autograd.function import once_differentiable

# ---- F10: what backward returns


def test_trailing_none_is_tolerated():
    x = leaf([1.0])
    make(lambda ctx, x: x * 2, lambda ctx, g: (g, None, None)).apply(x).backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda g: g, r"incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (g, None, g), r"incorrect number of gradients \(expected 2, got 3\)"),
        (lambda g: (3, None), r"position 1: expected Tensor or None \(got int\)"),
        (lambda g: ([g], None), r"position 1: expected Tensor or None \(got list\)"),
        (lambda g: (g, g), "gradient different than None at position 2, but the corresponding forward input was not a"),
        (
            lambda g: (gs.ones(2), None),
            r"invalid gradient at index 0 - got \[2\] but expected shape compatible with \[3\]",
        ),
    ],
)
def test_wrong_results(result, message):
    y = make(lambda ctx, x, n: x * n, lambda ctx, g: result(g)).apply(leaf([1.0, 2.0, 3.0]), 2)
    with pytest.raises(RuntimeError, match="CustomBackward returned an? .*" + message):
        y.sum().backward()


def test_results_are_summed_to_the_shape_and_cast_to_the_dtype():
    x = gs.ones(3, requires_grad=True)
    make(lambda ctx, x: x * 2, lambda ctx, g: gs.ones(2, 3, dtype=gs.float64)).apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2] and x.grad.dtype == gs.float32


def test_a_complex_gradient_of_a_real_input_is_refused():
    y = make(lambda ctx, x: x * 2, lambda ctx, g: g * 1j).apply(leaf([1.0]))
    with pytest.raises(
        RuntimeError, match="CustomBackward .* got complex128 but expected a real .*; return its real part"
    ):
        y.backward()


def test_the_gradient_of_what_needs_none_is_ignored():
    x, constant = leaf([1.0]), gs.ones(3)
    make(lambda ctx, x, c: x * 2, lambda ctx, g: (g, gs.ones(77))).apply(x, constant).backward()
    assert x.grad.item() == 1.0 and constant.grad is None


def test_returning_what_came_in_twice_or_what_was_saved():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    make(lambda ctx, a, b: a + b, lambda ctx, g: (g, g)).apply(a, b).sum().backward()
    a.grad.mul_(10)
    assert a.grad.tolist() == [10, 10] and b.grad.tolist() == [1, 1]
    keep = make(lambda ctx, a: (ctx.save_for_backward(a), a * 1)[1], lambda ctx, g: ctx.saved_tensors[0])
    x = leaf([5.0])
    (keep.apply(x) + keep.apply(x)).backward()
    assert x.grad.item() == 10.0 and x.item() == 5.0


# ---- F12: higher derivatives


def test_any_order():
    x = leaf([0.5, -1.5])
    y = Cubic.apply(x).sum()
    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(first.sum(), x, create_graph=True)
    (third,) = grad(second.sum(), x)
    np.testing.assert_allclose(first.numpy(force=True), 3 * x.numpy(force=True) ** 2)
    np.testing.assert_allclose(second.numpy(force=True), 6 * x.numpy(force=True))
    np.testing.assert_allclose(third.numpy(), [6.0, 6.0])


def test_an_intermediate_that_is_kept_is_a_constant():
    """Only inputs and outputs have a history: what forward computes on the way was not recorded."""

    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        return square * x

    x = leaf([2.0])
    for backward, second in (
        (lambda ctx, g: 3 * ctx.saved_tensors[1] * g, None),
        (lambda ctx, g: 2 * ctx.saved_tensors[0] ** 2 * g + ctx.saved_tensors[1] * g, 8.0),
        (lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2 * g, 12.0),
    ):
        (first,) = grad(make(forward, backward).apply(x), x, create_graph=True)
        assert first.item() == 12.0 and first.requires_grad == (second is not None)
        if second is not None:
            assert grad(first, x)[0].item() == second


def test_backward_is_recorded_only_when_asked():
    seen = []
    custom = make(lambda ctx, x: x * 1, lambda ctx, g: (seen.append(gs.is_grad_enabled()), g)[1])
    x = leaf([1.0])
    custom.apply(x).backward()
    grad(custom.apply(x), x, create_graph=True)
    assert seen == [False, True]


def test_backward_by_another_function():
    custom = make(
        lambda ctx, x: (ctx.save_for_backward(x), x.sin())[1], lambda ctx, g: g * Cubic.apply(ctx.saved_tensors[0])
    )
    x = leaf([2.0])
    (first,) = grad(custom.apply(x), x, create_graph=True)
    assert first.item() == 8.0 and grad(first, x)[0].item() == 12.0


def test_functions_inside_functions():
    outer = make(
        lambda ctx, x: (ctx.save_for_backward(x), Cubic.apply(x) * 2)[1],
        lambda ctx, g: g * 6 * ctx.saved_tensors[0] ** 2,
    )
    x = leaf([2.0])
    y = outer.apply(x)
    assert y.item() == 16.0
    y.backward()
    assert x.grad.item() == 24.0


# ---- F8: once_differentiable


def twice(save):
    def forward(ctx, x):
        if save:
            ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        assert not gs.is_grad_enabled()
        return g * 2 * (ctx.saved_tensors[0] if save else 1.0)

    return make(forward, once_differentiable(backward))


def test_once_differentiable_is_differentiable_once():
    x = leaf([3.0])
    twice(save=True).apply(x).backward()
    assert x.grad.item() == 6.0


@pytest.mark.parametrize("allow_unused", [False, True])
def test_once_differentiable_refuses_a_second_time(allow_unused):
    x = leaf([3.0])
    (first,) = grad(twice(save=True).apply(x) ** 2, x, create_graph=True)
    assert first.item() == 108.0 and first.grad_fn.name() == "Error"
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"):
        grad(first, x, allow_unused=allow_unused)


def test_once_differentiable_through_the_gradient_that_came_in():
    x, seed = leaf([3.0]), leaf([1.0])
    (first,) = grad(twice(save=False).apply(x), x, seed, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        first.backward()


def test_once_differentiable_is_no_error_when_nothing_depends():
    x = leaf([3.0])
    (first,) = grad(twice(save=False).apply(x), x, create_graph=True)
    assert not first.requires_grad


def test_once_differentiable_is_constant_by_what_was_saved():
    """The gradient that comes in depends on nothing; the other term has the derivative that it always has."""
    x = leaf([3.0])
    (first,) = grad(twice(save=True).apply(x) + x**3, x, create_graph=True)
    assert first.item() == 33.0
    assert grad(first, x)[0].item() == 18.0


def test_once_differentiable_with_none_and_several():
    custom = make(lambda ctx, a, n, b: a * b, once_differentiable(lambda ctx, g: (g, None, g * 2)))
    a, b, seed = leaf([1.0]), leaf([1.0]), leaf([1.0])
    first, second = grad(custom.apply(a, 3, b), (a, b), seed, create_graph=True)
    assert (first.item(), second.item()) == (1.0, 2.0) and second.output_nr == 2


# ---- exceptions


def test_exceptions_keep_type_and_traceback():
    def backward(ctx, g):
        raise ValueError("boom")

    x, other = leaf([1.0]), leaf([1.0])
    y = make(lambda ctx, x: x * 2, backward).apply(x)
    with pytest.raises(ValueError, match="boom") as caught:
        (y * other).backward()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "backward"
    assert gs.is_grad_enabled() and x.grad is None
    assert grad(x * 2, x)[0].item() == 2.0


def test_after_an_exception_backward_can_be_tried_again():
    fail = [True]

    def backward(ctx, g):
        if fail:
            assert ctx.needs_input_grad == (True,)
            raise KeyError(fail.pop())
        return g * ctx.saved_tensors[0]

    x = leaf([3.0])
    y = make(lambda ctx, x: (ctx.save_for_backward(x), x * 1)[1], backward).apply(x)
    with pytest.raises(KeyError):
        y.backward()
    y.backward()
    assert x.grad.item() == 3.0


def test_an_exception_in_forward_changes_nothing():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make(forward).apply(leaf([1.0]))
    assert gs.is_grad_enabled()


def test_hooks_of_the_node():
    seen = []
    x = leaf([1.0])
    y = make(lambda ctx, x, n: x * n, lambda ctx, g: (g * 2, None)).apply(x, 2)
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].item(), outputs[0].item(), len(inputs))))
    y.backward()
    assert seen == [(20.0, 10.0, 1)] and x.grad.item() == 20.0
