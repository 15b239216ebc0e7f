"""Custom Functions: what dies at once, what the collector finds, and threads that share a graph."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest
from steady import assert_steady

import gradsmith as gs
from gradsmith.autograd import Function, grad
from gradsmith.autograd.function import once_differentiable


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def make(forward, backward=lambda ctx, g: g):
    return type("Custom", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def keep_input_and_output(ctx, x):
    y = x.exp()
    ctx.save_for_backward(x, y)
    return y


def test_what_is_saved_makes_no_cycle(no_collector):
    y = make(keep_input_and_output).apply(leaf([1.0]))
    node = weakref.ref(y.grad_fn)
    del y
    assert node() is None


def attribute(ctx, x):
    ctx.result = x * 2
    return ctx.result


def attribute_after_all(ctx, x):
    ctx.box = []
    return x * 2


def view_of_the_output(ctx, x):
    y = x * 2
    ctx.save_for_backward(y[:1])
    return y


def written_view(ctx, x):
    ctx.mark_dirty(x)
    ctx.save_for_backward(x)
    return x.mul_(2)


@pytest.mark.parametrize("forward", [attribute, attribute_after_all, view_of_the_output, written_view])
def test_cycles_through_a_context_are_collected(forward, no_collector):
    x = leaf([1.0, 2.0])
    y = make(forward).apply((x * 1)[:1] if forward is written_view else x)
    z = (y * 2).unbind()
    in_cycle = weakref.ref(y if forward is written_view else y.grad_fn)
    if forward is attribute_after_all:
        y.grad_fn.box.append(z)
    del y, z
    assert in_cycle() is not None
    gc.collect()
    assert in_cycle() is None


def test_an_attribute_set_after_the_call(no_collector):
    y = make(lambda ctx, x: x * 2).apply(leaf([1.0]))
    y.grad_fn.later = z = []
    z.append(y * 3)
    node = weakref.ref(y.grad_fn)
    del y, z
    gc.collect()
    assert node() is None


def test_the_collector_leaves_what_is_in_use():
    y = make(attribute, lambda ctx, g: g * ctx.result).apply(leaf([3.0]))
    gc.collect()
    y.backward()
    assert y.grad_fn.result is y


def fail(*args):
    raise ValueError("on purpose")


CALLS = {
    "forward and backward": (make(keep_input_and_output), True),
    "forward alone": (make(keep_input_and_output), False),
    "attribute": (make(attribute), True),
    "view of the output": (make(view_of_the_output), True),
    "returned as it is": (make(lambda ctx, x: x), True),
    "several outputs": (make(lambda ctx, x: (x * 1, x * 2, 3), lambda ctx, g, h, _: g + h), True),
    "forward fails": (make(fail), False),
    "backward fails": (make(keep_input_and_output, fail), True),
    "wrong result": (make(keep_input_and_output, lambda ctx, g: (g, g)), True),
    "wrong shape": (make(keep_input_and_output, lambda ctx, g: gs.ones(7)), True),
    "wrong mark": (make(lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1]), False),
    "wrong save": (make(lambda ctx, x: (ctx.save_for_backward(x, 2), x * 2)[1]), False),
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_left_behind(name):
    function, runs_backward = CALLS[name]
    x = leaf([1.0, 2.0])

    def call():
        x.grad = None
        try:
            y = function.apply(x)
            if runs_backward:
                (y[0] if isinstance(y, tuple) else y).sum().backward()
        except (ValueError, RuntimeError, TypeError):
            pass

    assert_steady(call)


def test_nothing_is_left_behind_by_second_derivatives():
    once = make(keep_input_and_output, once_differentiable(lambda ctx, g: g * ctx.saved_tensors[1]))
    exp = make(keep_input_and_output, lambda ctx, g: g * ctx.saved_tensors[1])
    x = leaf([1.0, 2.0])

    def call():
        (first,) = grad(exp.apply(x).sum(), x, create_graph=True)
        grad(first.sum(), x)
        (first,) = grad((once.apply(x) ** 2).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            grad(first.sum(), x)

    assert_steady(call)


def test_nothing_is_left_behind_by_in_place_changes():
    double = make(written_view, lambda ctx, g: g * 2)
    x = leaf([1.0, 2.0])

    def call():
        x.grad = None
        base = x * 1
        double.apply(base)
        double.apply(base[:1])
        base.sum().backward()
        assert x.grad.tolist() == [4, 2]

    assert_steady(call)


def test_classes_are_collected():
    def call():
        make(keep_input_and_output).apply(leaf([1.0])).backward()

    assert_steady(call, times=100, warm_up=10)


def test_a_long_chain():
    double = make(lambda ctx, x: (ctx.save_for_backward(x), x + 1)[1], lambda ctx, g: g)
    x = leaf([0.0])
    y = x
    for _ in range(50_000):
        y = double.apply(y)
    y.backward()
    assert x.grad.item() == 1.0 and y.item() == 50_000
    node = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert node() is None


def test_threads_know_each_what_they_need():
    """Two runs are in the same backward at the same time, and ask for different gradients."""
    inside = threading.Barrier(2)
    seen, results = {}, {}

    def backward(ctx, g):
        inside.wait(timeout=30)
        before = ctx.needs_input_grad
        time.sleep(0.02)
        seen[threading.get_ident()] = before, ctx.needs_input_grad
        return g * 2, g * 3

    a, b = leaf([1.0]), leaf([1.0])
    y = make(lambda ctx, a, b: a * b, backward).apply(a, b)

    def run(name, x):
        results[name] = grad(y, x, retain_graph=True)[0].item(), seen[threading.get_ident()]

    threads = [threading.Thread(target=run, args=args) for args in (("a", a), ("b", b))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert results == {"a": (2.0, ((True, False),) * 2), "b": (3.0, ((False, True),) * 2)}


def test_threads_share_a_graph():
    cube = make(lambda ctx, x: (ctx.save_for_backward(x), x**3)[1], lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2 * g)
    x = leaf([2.0])
    y = cube.apply(cube.apply(x))

    def run():
        for _ in range(50):
            y.backward(retain_graph=True)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert x.grad.item() == 400 * 9 * 2.0**8
