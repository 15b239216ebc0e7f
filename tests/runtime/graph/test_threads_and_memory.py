"""Threads that record at the same time, memory that does not grow, graphs that die at once, and life after a fork."""

import copy
import gc
import pickle
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from forking import answer_of_child, needs_fork
from run_threads import run_threads
from steady import assert_steady, growth

import gradsmith as gs
from gradsmith.autograd import backward, grad
from gradsmith.runtime.arrays.array import cache_size, empty_cache
from gradsmith.runtime.graph.node import live_nodes
from gradsmith.runtime.graph.tensor import live_tensors

LARGE = 400_000  # elements: enough for the kernels to use their threads


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


# ---- threads


@pytest.fixture
def quick_switches():
    """Let threads take turns as often as Python can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def chain_gradient(seed):
    """Gradient of a small graph, with its value by hand."""
    values = np.random.default_rng(seed).uniform(0.5, 2, size=7)
    x = leaf(values)
    y = x
    for _ in range(10):
        y = y * 1.1 + x.sin()
    y.sum().backward()
    expected, slope = 1.0, np.cos(values)
    for _ in range(10):
        expected = expected * 1.1 + slope
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-12)


def test_threads_with_their_own_graphs_and_grad_modes(quick_switches):
    """The grad mode belongs to the thread, however the others change theirs."""

    def recording():
        for step in range(150):
            assert gs.is_grad_enabled()
            chain_gradient(step)

    def never_recording():
        with gs.no_grad():
            for step in range(400):
                assert not gs.is_grad_enabled()
                x = leaf([1.0, 2.0]) * step
                assert not x.requires_grad and x.grad_fn is None

    def alternating():
        for step in range(400):
            with gs.set_grad_enabled(step % 2 == 0):
                y = leaf([1.0]) * 2
                assert y.requires_grad == gs.is_grad_enabled() == (step % 2 == 0)
                with gs.set_grad_enabled(step % 2 == 1):
                    assert (leaf([1.0]) * 2).requires_grad == (step % 2 == 1)
            assert gs.is_grad_enabled()

    def failing():
        for step in range(200):
            with pytest.raises(RuntimeError, match="broadcast"), gs.no_grad():
                leaf([1.0, 2.0]) + leaf(np.ones(3 + step % 2))
            assert gs.is_grad_enabled()

    run_threads([recording, never_recording, alternating, failing])
    assert gs.is_grad_enabled()


def test_a_new_thread_records():
    """Whatever the mode of the thread that started it."""
    modes = []
    with gs.no_grad():
        run_threads([lambda: modes.append(gs.is_grad_enabled())])
    assert modes == [True]


def test_threads_compute_large_arrays_at_once(quick_switches):
    """All of them want the kernels' threads."""
    values = np.random.default_rng(0).uniform(0.5, 2, LARGE).astype(np.float32)
    expected = np.cos(values) * np.exp(np.sin(values))

    def work():
        for _ in range(4):
            x = gs.tensor(values, requires_grad=True)
            x.sin().exp().sum().backward()
            np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)

    run_threads([work] * 4)


def test_threads_share_a_leaf_and_a_graph(quick_switches):
    """Gradients of all threads add up in the leaf; a graph that is kept may be run by all."""
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    shared = (x * w).sum()

    def own_graph():
        for _ in range(100):
            (x * 2).sum().backward()

    def kept_graph():
        for _ in range(100):
            found = grad(shared, [x, w], retain_graph=True)
            assert [g.tolist() for g in found] == [[3, 4], [1, 2]]

    run_threads([own_graph, own_graph, kept_graph, kept_graph])
    assert x.grad.tolist() == [400, 400] and w.grad is None


def test_recording_threads_see_the_version_counter(quick_switches):
    """A write in one thread is noticed by the backward of another."""
    x, factor = leaf(np.ones(3)), gs.tensor(np.ones(3))
    recorded, written = threading.Event(), threading.Event()
    messages = []

    def record():
        y = (x * factor).sum()
        recorded.set()
        assert written.wait(timeout=30)
        with pytest.raises(RuntimeError) as raised:
            y.backward()
        messages.append(str(raised.value))

    def write():
        assert recorded.wait(timeout=30)
        factor.add_(1)
        written.set()

    run_threads([record, write])
    assert "modified by an inplace operation" in messages[0] and x.grad is None


# ---- memory


def test_a_leak_would_be_seen():
    """The measure itself: one small object kept per repetition is enough."""
    kept = []
    with pytest.raises(AssertionError, match="more after each 400 repetitions"):
        assert_steady(lambda: kept.append(object()))
    with pytest.raises(AssertionError, match="more after each 400 repetitions"):
        assert_steady(lambda: kept.append(gs.ones(2)))
    empty_cache()  # of arrays that would serve again
    blocks, living = growth(lambda: kept.append(leaf([1.0]) * 2), 100, 0)
    assert blocks >= 100 and living >= 100


def forward_only():
    x = leaf([1.0, 2.0])
    return (x * 2 + x.exp()).sum()


def forward_and_backward():
    forward_only().backward()


def gradient_of_the_gradient():
    x = leaf([1.0, 2.0])
    (first,) = grad((x**3).sum(), x, create_graph=True)
    grad(first.sum(), x)


def graph_with_a_cycle_of_hooks():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda gradient: gradient * (y.detach() > 0))
    y.sum().backward()


def writes_through_views():
    x = leaf(np.ones((3, 3)))
    y = x * 1
    y[1].mul_(2)
    y.T[0] = 5.0
    y[[0, 2]] = gs.zeros(3, dtype=gs.float64)
    y.sum().backward()


def views_of_many_dimensions():
    """More than a node has room for in itself."""
    y = leaf(np.ones((2, 1, 2, 1))) * 1
    view, part = y.transpose(0, 1), y[0:1]
    y.mul_(2)
    part.mul_(3)
    (y + view.transpose(0, 1) + part).sum().backward()


def several_outputs():
    x = leaf(np.ones((4, 3)))
    one, *_ = x.split(2)
    values, _ = x.max(0)
    (one.sum() + values.sum()).backward()


def kept_gradients():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    x.grad = None


def grad_modes():
    with gs.no_grad():
        leaf([1.0]) * 2
        with gs.enable_grad():
            (leaf([1.0]) * 2).backward()


def copies():
    x = leaf([1.0, 2.0])
    pickle.loads(pickle.dumps(x))
    copy.deepcopy(x)
    repr(x * 2)
    x.tolist()
    list(x)


def introspection():
    y = (leaf([1.0, 2.0]) * leaf([3.0, 4.0])).exp().sum()
    nodes = [y.grad_fn]
    while nodes:
        node = nodes.pop()
        node.name()
        nodes += [following for following, _ in node.next_functions if following is not None]
    assert y.grad_fn.next_functions[0][0]._saved_result is not None


def numpy_results():
    x = gs.tensor([1.0, 2.0])
    np.asarray(x) + x.numpy()
    np.ones(2) * x
    gs.from_numpy(np.ones(3)).sum().item()


SCENES = [
    forward_only,
    forward_and_backward,
    gradient_of_the_gradient,
    graph_with_a_cycle_of_hooks,
    writes_through_views,
]
SCENES += [views_of_many_dimensions, several_outputs, kept_gradients, grad_modes, copies, introspection, numpy_results]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_repetition_leaves_nothing_behind(scene):
    assert_steady(scene, times=1000)


def fails(error, function):
    """`function`, which raises; what it had built until then must go."""

    def call():
        try:
            function()
        except error:
            return
        raise AssertionError("it did not fail")

    return call


def with_graph(function):
    """Give the function a leaf and something recorded on it."""

    def call():
        x = leaf([1.0, 2.0])
        function(x, x * 2)

    return call


def change_saved(x, y):
    z = (y * y).sum()
    y.add_(1)
    z.backward()


def backward_twice(x, y):
    z = (y * y).sum()
    z.backward()
    z.backward()


def failing_hook(x, y):
    y.register_hook(lambda gradient: 1 / 0)
    (y * y).sum().backward()


def failing_inside(x, y):
    with gs.no_grad():
        (y * y)[5]


FAILURES = {
    "broadcast": (RuntimeError, lambda x, y: y + gs.ones(3)),
    "broadcast in place": (RuntimeError, lambda x, y: y.add_(gs.ones(2, 2))),
    "leaf in place": (RuntimeError, lambda x, y: x.add_(1)),
    "not a scalar": (RuntimeError, lambda x, y: y.backward()),
    "twice": (RuntimeError, backward_twice),
    "changed": (RuntimeError, change_saved),
    "unused": (RuntimeError, lambda x, y: grad(y.sum(), [x, leaf([1.0])])),
    "wrong gradient": (RuntimeError, lambda x, y: y.backward(gs.ones(3))),
    "several roots": (RuntimeError, lambda x, y: backward([y.sum(), gs.ones(1).sum()])),
    "hook": (ZeroDivisionError, failing_hook),
    "under no_grad": (IndexError, failing_inside),
    "index": (IndexError, lambda x, y: y[7]),
    "written index": (IndexError, lambda x, y: y.__setitem__([0, 9], 1.0)),
    "dimension": (IndexError, lambda x, y: y.softmax(3)),
    "operand": (TypeError, lambda x, y: y + "a"),
    "argument": (TypeError, lambda x, y: gs.sum(y, colour=1)),
    "overload": (TypeError, lambda x, y: y.max("a")),
    "shape": (RuntimeError, lambda x, y: y.reshape(7)),
    "matmul": (RuntimeError, lambda x, y: y @ gs.ones(3, dtype=gs.float64)),
    "cat": (RuntimeError, lambda x, y: gs.cat([y, gs.ones(2, 2, dtype=gs.float64)])),
    "out": (RuntimeError, lambda x, y: gs.add(gs.ones(2), gs.ones(2), out=gs.ones(2, dtype=gs.int64))),
    "dtype": (TypeError, lambda x, y: y.to("float23")),
    "object": (RuntimeError, lambda x, y: gs.tensor([object()])),
    "einsum": (RuntimeError, lambda x, y: gs.einsum("ij,jk->ik", y, y)),
    "class": (IndexError, lambda x, y: gs.nn.functional.cross_entropy(y.reshape(1, 2), gs.tensor([5]))),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_leave_nothing_behind(name):
    error, function = FAILURES[name]
    assert_steady(fails(error, with_graph(function)), times=1000)


def test_what_lives_is_counted():
    tensors, nodes = live_tensors(), live_nodes()
    x = leaf([1.0, 2.0])
    y = (x * x).exp()
    assert (live_tensors() - tensors, live_nodes() - nodes) == (2, 2)
    y.sum().backward()
    assert (live_tensors() - tensors, live_nodes() - nodes) == (3, 2)  # and x.grad
    del x, y
    assert (live_tensors(), live_nodes()) == (tensors, nodes)


def test_large_arrays_are_freed():
    """Their memory comes from NumPy and may be kept for reuse, but only so much of it."""
    values = np.ones(100_000)

    def step():
        x = gs.tensor(values, requires_grad=True)
        y = (x * 2).exp() * 1
        y += 1
        y[10:].mul_(2)
        (y.sum() + (x @ x)).backward()

    for _ in range(5):
        step()
    tracemalloc.start()
    try:
        step()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(50):
            step()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 10 * values.nbytes


def test_arrays_from_elsewhere_do_not_fill_the_cache():
    """Batches of data come in as arrays of NumPy; only as many are kept as the runtime itself has use for."""
    weights = gs.tensor(np.ones((100, 10)), requires_grad=True)

    def step():
        batch = gs.tensor(np.ones((500, 100)))
        (batch @ weights).sum().backward()

    for _ in range(5):
        step()
    before = cache_size()
    for _ in range(100):
        step()
    assert cache_size() - before < 5 * 500 * 100 * 8


def test_graph_dies_with_its_result():
    """At once: no collector is needed where there is no cycle."""
    gc.disable()
    try:
        x = leaf([1.0, 2.0])
        y = x * 2
        z = (y * y).exp()
        watched = [weakref.ref(y), weakref.ref(z), weakref.ref(x)]
        node = z.grad_fn
        del y
        assert watched[0]() is not None  # saved by the product
        del z
        assert watched[1]() is None and node is not None
        del node
        assert watched[0]() is None and watched[2]() is x
        del x
        assert watched[2]() is None
    finally:
        gc.enable()


def test_backward_frees_what_was_saved():
    x = leaf([1.0, 2.0])
    factor = leaf([3.0, 4.0]) * 1
    watched = weakref.ref(factor)
    y = (x * factor).sum()
    del factor
    assert watched() is not None
    y.backward()
    assert watched() is None


def test_failed_backward_frees_its_gradients():
    """Half of the graph had run."""
    x = leaf(np.ones(3))
    watched = []

    def watch(gradient):
        watched.append(weakref.ref(gradient))
        return gradient * 1

    y = x * 2
    y.register_hook(lambda gradient: 1 / 0)
    z = y * 3
    z.register_hook(watch)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            z.sum().backward(retain_graph=True)
    del z
    gc.collect()
    assert len(watched) == 2 and all(reference() is None for reference in watched)
    assert x.grad is None


def test_long_graphs_come_and_go():
    """A graph that grows over many steps and is dropped in one."""
    x = leaf([1.0])

    def build():
        y = x
        for _ in range(3000):
            y = y + 1
        return y

    assert_steady(build, times=20, warm_up=3)
    assert_steady(lambda: grad(build(), x), times=20, warm_up=3)


# ---- fork


@needs_fork
def test_child_of_a_fork_computes():
    """The kernels' threads stay behind in the parent; the child must not wait for them."""

    def gradient():
        x = gs.tensor(np.linspace(0, 1, LARGE, dtype=np.float32), requires_grad=True)
        (x.exp() * x).sum().backward()
        product = gs.ones(300, 300) @ gs.ones(300, 300)
        return float(x.grad.sum()) + float(product[0, 0])

    expected = gradient()  # starts the threads
    assert float(answer_of_child(gradient)) == pytest.approx(expected)
    assert gradient() == pytest.approx(expected)  # and the parent goes on
