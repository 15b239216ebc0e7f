"""Threads that run backward over one graph, and the thread in which a backward runs."""

import sys
import threading
import time

import numpy as np
import pytest
from run_threads import run_threads

import gradsmith as gs


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def backward_often(y, times):
    for _ in range(times):
        y.backward(retain_graph=True)


def test_threads_on_one_graph_sum_exactly():
    x = leaf(np.ones(4))
    y = ((x * 2) * x).sum()
    run_threads([lambda: backward_often(y, 50)] * 4)
    np.testing.assert_array_equal(x.grad.numpy(), np.full(4, 4.0 * 200))


def test_threads_add_large_gradients_to_one_leaf():
    """Large enough that the kernels let other threads run meanwhile."""
    x = leaf(np.ones(300_000))
    graphs = [(x * (2.0**i)).sum() for i in range(4)]
    run_threads([lambda y=y: backward_often(y, 25) for y in graphs])
    np.testing.assert_array_equal(x.grad.numpy(), np.full(300_000, 25 * 15.0))


def test_eight_threads_of_a_thousand_backwards():
    """R29."""
    x = leaf(np.arange(4.0))
    y = (x * x).sum()
    run_threads([lambda: backward_often(y, 1000)] * 8)
    np.testing.assert_array_equal(x.grad.numpy(), 8000 * 2 * np.arange(4.0))


def test_one_of_several_threads_frees_the_graph():
    """R8, R29: the others find it as it was, or are told that it is gone."""
    for _ in range(20):
        x = leaf(np.ones(50_000))
        y = x.exp().exp().sum()
        freed = []

        def run(y=y, freed=freed):
            try:
                y.backward()
            except RuntimeError as error:
                freed.append(str(error))

        run_threads([run] * 4)
        assert len(freed) < 4
        assert all("backward through the graph a second time" in message for message in freed)
        (again,) = gs.autograd.grad(x.exp().exp().sum(), x)
        np.testing.assert_array_equal(x.grad.numpy(), (4 - len(freed)) * again.numpy())


def test_a_backward_runs_in_the_thread_that_calls_it():
    """R27."""
    seen = []

    def run():
        x = leaf([1.0])
        y = x * 2
        y.register_hook(lambda grad: seen.append(threading.current_thread()))
        x.register_post_accumulate_grad_hook(lambda x: seen.append(threading.current_thread()))
        y.sum().backward()
        seen.append(threading.current_thread())

    run()
    run_threads([run])
    assert seen[:3] == [threading.main_thread()] * 3
    assert seen[3] is seen[4] is seen[5] is not threading.main_thread()


# ---- kernels and the interpreter's lock


@pytest.fixture
def ticks():
    """Count of the turns of another thread, which comes only where this thread gives up the lock by itself."""
    interval, count, stop = sys.getswitchinterval(), [0], threading.Event()

    def tick():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0)  # gives up the lock too

    sys.setswitchinterval(1000)
    thread = threading.Thread(target=tick)
    thread.start()
    yield count
    stop.set()
    thread.join()
    sys.setswitchinterval(interval)


def gives_up_the_lock(function, ticks, patience=30.0):
    """On a busy machine a thread that may run is not awake at once: calls are watched for so many seconds."""
    end = time.perf_counter() + patience
    while time.perf_counter() < end:
        before = ticks[0]
        function()
        if ticks[0] != before:
            return True
    return False


def test_python_code_does_not_give_up_the_lock(ticks):
    """The measure itself."""
    time.sleep(0.01)
    assert ticks[0] > 0
    assert not gives_up_the_lock(lambda: sum(range(1000)), ticks, patience=0.1)
    assert not gives_up_the_lock(lambda: leaf([1.0]).exp().sum().backward(), ticks, patience=0.1)


LARGE = {
    "pointwise": lambda x: x.exp(),
    "fused": gs.nn.functional.softplus,
    "sum": lambda x: (x * 2).sum(0),
    "matmul": lambda x: x @ x,
    "softmax": lambda x: x.softmax(1),
    "gather": lambda x: x.gather(0, gs.zeros(500, 500, dtype=gs.int64)),
    "index": lambda x: x[gs.arange(499, -1, -1)],
    "scatter": lambda x: x.scatter_add(0, gs.zeros(500, 500, dtype=gs.int64), x),
    "index_select": lambda x: x.index_select(0, gs.arange(500)),
    "index with steps": lambda x: x[::2, gs.zeros(500, dtype=gs.int64)],
    "cumsum": lambda x: x.cumsum(0),
    "copy": lambda x: (x * 2).T.contiguous(),
}


@pytest.mark.parametrize("name", LARGE)
def test_kernels_let_other_threads_run(name, ticks):
    """R37: forward and backward."""
    x = leaf(np.full((500, 500), 0.5))
    y = LARGE[name](x)
    ones = gs.ones_like(y)
    assert gives_up_the_lock(lambda: LARGE[name](x), ticks)
    assert gives_up_the_lock(lambda: gs.autograd.grad(y, x, ones, retain_graph=True), ticks)
