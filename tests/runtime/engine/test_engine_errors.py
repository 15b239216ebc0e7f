"""Exceptions and interrupts: they come out as they were raised, and leave a graph that can be run again."""

import _thread
import signal

import numpy as np
import pytest

import gradsmith as gs


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def test_error_in_a_hook_leaves_everything_usable():
    x = leaf(1.0, 2.0)
    y = x * 2
    handle = y.register_hook(lambda g: 1 / 0)
    z = (y * y).sum()
    with pytest.raises(ZeroDivisionError):
        z.backward(retain_graph=True)
    handle.remove()
    z.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [8.0, 16.0])
    assert gs.is_grad_enabled()


class Failure(Exception):
    """Known to nobody but these tests."""


def test_an_exception_is_raised_as_it_is():
    """R30: the same object, with its attributes and the traceback of the hook."""
    raised = Failure("at the second node")
    raised.remark = 1

    def careless(grad):
        raise raised

    y = leaf(1.0) * 2
    y.register_hook(careless)
    with pytest.raises(Failure) as caught:
        (y * 3).sum().backward()
    assert caught.value is raised and raised.remark == 1
    assert [entry.name for entry in caught.traceback][-1] == "careless"


def test_the_first_exception_ends_the_run():
    """R30: what has accumulated by then stays, what has not run does not."""
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    log = []

    def fail(name):
        log.append(name)
        raise Failure(name)

    inner = c * 2
    middle = inner * a
    outer = middle * 5 * b
    middle.register_hook(lambda grad: fail("middle"))
    inner.register_hook(lambda grad: fail("inner"))
    c.register_hook(lambda grad: log.append("leaf"))
    with pytest.raises(Failure, match="middle"):
        outer.sum().backward()
    assert log == ["middle"]
    assert b.grad.tolist() == [30.0] and a.grad is None and c.grad is None


def test_an_error_in_one_part_leaves_the_graph_for_a_second_try():
    """Also nodes with several gradients, of which one had arrived."""
    x = leaf(1.0, 2.0, 3.0)
    first, second, third = x.unbind(0)
    fails = [True]

    def hook(grad):
        if fails[0]:
            raise Failure

    second.register_hook(hook)
    y = first * 2 + second * 3 + third * 4
    for _ in range(3):
        with pytest.raises(Failure):
            y.backward(retain_graph=True)
    fails[0] = False
    y.backward()
    assert x.grad.tolist() == [2.0, 3.0, 4.0]


def test_gradients_that_waited_are_gone():
    """A node that had received one of its gradients begins with none in the next run."""
    x = leaf(1.0)
    waiting = x * 2
    fails = [True]

    def hook(grad):
        if fails[0]:
            raise Failure

    later = waiting * 3
    later.register_hook(hook)
    y = waiting + later  # its gradient reaches `waiting` before `later` runs
    for _ in range(3):
        with pytest.raises(Failure):
            y.backward(retain_graph=True)
    fails[0] = False
    y.backward()
    assert x.grad.tolist() == [8.0]


def test_ten_thousand_exceptions():
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    switch = {"fail": True}

    def hook(_):
        if switch["fail"]:
            raise ValueError("no")

    y.register_hook(hook)
    z = (y * 3 + y).sum()
    for _ in range(10_000):
        with pytest.raises(ValueError, match="no"):
            z.backward(retain_graph=True)
    switch["fail"] = False
    z.backward()
    assert x.grad.item() == 8.0 and w.grad.item() == 4.0


# ---- interrupts


@pytest.fixture
def interrupts():
    """A process in the background may have been started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_stops_a_long_backward(interrupts):
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    handle = y.grad_fn.register_hook(lambda gi, go: _thread.interrupt_main())
    with pytest.raises(KeyboardInterrupt):
        y.sum().backward(retain_graph=True)
    assert x.grad is None
    handle.remove()
    y.sum().backward()
    assert x.grad.item() == 1.0
