"""The state of a thread holds for the helper that works for it too: for a backward inside backwards, dozens deep."""

import threading

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import Function, forward_ad, grad, graph

DEPTHS = [1, 20, 70, 140]  # the first two stay in this thread


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def at_depth(depth, function):
    """Call `function` in a hook of a backward, so many backwards deep; gives its result and whether a helper ran it."""
    found = []

    def hook(_, remaining=depth - 1):
        if remaining == 0:
            found.append((function(), threading.current_thread() is not threading.main_thread()))
            return
        with gs.enable_grad():
            y = leaf(1.0) * 2
            y.register_hook(lambda gradient: hook(gradient, remaining - 1))
            y.backward()

    hook(None, depth)
    ((result, helped),) = found
    assert helped == (depth > 32)
    return result


@pytest.mark.parametrize("depth", DEPTHS)
def test_dual_numbers(depth):
    """The level is open in the helper too, and has its name."""

    def tangent():
        result = (dual * dual).exp()
        fresh = forward_ad.make_dual(gs.tensor([3.0]), gs.tensor([1.0]))
        return forward_ad.unpack_dual(result).tangent.tolist(), forward_ad.unpack_dual(fresh**2, level=0).tangent.item()

    x, direction = np.array([0.5, 1.5]), np.array([1.0, -2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor(x), gs.tensor(direction))
        found, of_fresh = at_depth(depth, tangent)
    np.testing.assert_allclose(found, np.exp(x * x) * 2 * x * direction, rtol=1e-14)
    assert of_fresh == 6


class Cubed(Function):
    """With a backward that is made of dual numbers."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, gs.ones_like(x))
            return gradient * forward_ad.unpack_dual(dual**3).tangent

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3


@pytest.mark.parametrize("depth", DEPTHS)
def test_levels_inside_levels(depth):
    """A level that the helper opens lies inside those of its caller."""

    def gradients():
        levels = forward_ad.enter_dual_level()
        forward_ad.exit_dual_level()
        x = leaf([0.5, 1.5])
        with gs.enable_grad():
            (found,) = grad(Cubed.apply(x).sum(), x)
        return levels, found.tolist(), forward_ad.unpack_dual(Cubed.apply(outer)).tangent.tolist()

    with forward_ad.dual_level():
        outer = forward_ad.make_dual(gs.tensor([2.0]), gs.tensor([1.0]))
        level, found, of_outer = at_depth(depth, gradients)
    assert level == 1
    np.testing.assert_allclose(found, [0.75, 6.75])
    assert of_outer == [3]


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_level_that_a_helper_leaves_open(depth):
    """It is its caller's."""
    assert at_depth(depth, forward_ad.enter_dual_level) == 0
    dual = forward_ad.make_dual(gs.tensor([2.0]), gs.tensor([1.0]))
    assert forward_ad.unpack_dual(dual * 3).tangent.item() == 3
    forward_ad.exit_dual_level()


@pytest.mark.parametrize("depth", DEPTHS)
def test_tangents_that_are_switched_off(depth):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor([2.0]), gs.tensor([1.0]))
        with forward_ad.set_fwd_grad_enabled(False):
            assert at_depth(depth, lambda: forward_ad.unpack_dual(dual * 3).tangent) is None
        assert at_depth(depth, lambda: forward_ad.unpack_dual(dual * 3).tangent.item()) == 3


@pytest.mark.parametrize("depth", DEPTHS)
def test_saved_tensors_that_may_change(depth):
    def nested_block():
        with pytest.raises(RuntimeError, match="cannot be nested"), graph.allow_mutation_on_saved_tensors():
            pass
        with gs.enable_grad():
            x = leaf([1.0, 2.0])
            y = x * 1
            z = (y * y).sum()
            y.mul_(10)
        return grad(z, x)[0].tolist()

    with graph.allow_mutation_on_saved_tensors():
        assert at_depth(depth, nested_block) == [2, 4]


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_write_guard(depth):
    data = np.ones(2)

    def save():
        with gs.enable_grad():
            return leaf([1.0, 2.0]) * gs.from_numpy(data)

    with graph.write_guard():
        y = at_depth(depth, save)
        with pytest.raises(ValueError, match="read-only"):
            data[0] = 5
    assert y.requires_grad
    data[0] = 5


@pytest.mark.parametrize("depth", DEPTHS)
def test_what_a_running_backward_is_asked_for(depth):
    """`ctx` of a backward that waits for a helper."""

    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            needed.append(at_depth(depth, lambda: ctx.needs_input_grad))
            x, y = ctx.saved_tensors
            return gradient * y, gradient * x

    needed = []
    x, y = leaf(2.0), leaf(3.0)
    assert grad(Product.apply(x, y), y)[0].item() == 2
    assert needed == [(False, True)]


def test_nothing_of_it_stays_in_the_helper():
    """The same helper serves the next caller."""
    with forward_ad.dual_level(), graph.write_guard(), forward_ad.set_fwd_grad_enabled(False):
        at_depth(70, lambda: None)

    def look():
        with gs.enable_grad():
            leaf([1.0]) * gs.from_numpy(data)
        data[0] = 5
        with pytest.raises(RuntimeError, match="level"):
            forward_ad.make_dual(gs.ones(1), gs.ones(1))
        return True

    data = np.ones(1)
    assert at_depth(70, look)
