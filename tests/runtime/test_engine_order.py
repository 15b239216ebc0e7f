"""In which order a backward runs, what it runs when only some inputs are asked for, and what may be asked of it."""

import _thread
import signal
import sys
import threading

import numpy as np
import pytest

import gradsmith as gs

engine = gs.autograd.engine


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def noting(log, name):
    def hook(_):
        log.append(name)

    return hook


def test_a_leaf_with_hooks_runs_as_soon_as_it_is_ready():
    """R23: b is complete once c has run, a only after h."""
    a, b = leaf(1.0), leaf(2.0)
    h = a * 2
    h2 = h * 3
    c = b * 5
    log = []
    for name, tensor in {"a": a, "b": b, "h": h, "h2": h2, "c": c}.items():
        tensor.register_hook(noting(log, name))
    (h2 * c).sum().backward()
    assert log == ["c", "b", "h2", "h", "a"]


@pytest.mark.parametrize("wide", [1, 40])
def test_queues_of_several_devices_are_one_order(wide):
    """R27: what waits on either device runs in the order of recording, also when more waits than a queue begins with."""
    here, there = leaf(1.0), gs.ones(1, device="meta", requires_grad=True)
    log, roots = [], []
    for number in range(wide):
        for device, start in {"cpu": here, "meta": there}.items():
            first = start * 2
            second = first.exp()
            first.register_hook(noting(log, (device, number, "first")))
            second.register_hook(noting(log, (device, number, "second")))
            roots.append(second)
    gs.autograd.backward(roots, [gs.ones_like(root) for root in roots])
    assert log == [
        (device, number, step)
        for number in reversed(range(wide))
        for device in ("meta", "cpu")
        for step in ("second", "first")
    ]
    assert here.grad.item() == pytest.approx(wide * 2 * np.exp(2.0))
    assert there.grad.device == "meta"


def test_a_failed_run_empties_the_queues_of_all_devices():
    here, there = leaf(1.0), gs.ones(1, device="meta", requires_grad=True)
    waiting = [here * 2, there * 2]
    last = here * 3
    last.register_hook(failing)
    roots = [*waiting, last]
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            gs.autograd.backward(roots, [gs.ones_like(root) for root in roots], retain_graph=True)
        assert here.grad is None
        assert there.grad is None
    gs.autograd.backward(waiting, [gs.ones_like(root) for root in waiting])
    assert here.grad.item() == 2.0
    assert there.grad.shape == (1,)


def failing(_):
    raise ZeroDivisionError


def test_the_sum_is_complete_when_the_leaf_runs():
    a, b = leaf(1.0), leaf(2.0)
    seen = {}
    a.register_post_accumulate_grad_hook(lambda t: seen.setdefault("a", []).append(t.grad.item()))
    b.register_post_accumulate_grad_hook(lambda t: seen.setdefault("b", []).append(t.grad.item()))
    x = a * 2
    y = b * 3
    z = (x * a) * y + b * 0
    z.sum().backward()
    assert seen == {"b": [6.0], "a": [24.0]}


def test_a_leaf_waits_for_all_roots():
    a = leaf(2.0)
    seen = []
    a.register_hook(lambda g: seen.append(g.item()))
    gs.autograd.backward([a, a * 3, a], [leaf(1.0).detach()] * 3)
    assert seen == [5.0]


def test_hooks_of_accumulators_in_order():
    """H6, H13: the post-accumulate hook belongs to the accumulation."""
    a = leaf(1.0)
    y = a * 2
    accumulator = y.grad_fn.next_functions[0][0]
    log = []
    accumulator.register_prehook(lambda grads: log.append(("pre", grads[0].item())))
    accumulator.register_hook(lambda inputs, grads: log.append(("post", inputs, grads[0].item())))
    a.register_hook(noting(log, "tensor"))
    a.register_post_accumulate_grad_hook(noting(log, "accumulated"))
    (y + a * 3).sum().backward()
    assert log == ["tensor", ("pre", 5.0), "accumulated", ("post", (), 5.0)]


def test_captured_nodes_run_their_tensor_hooks_only():
    """R25: the node of a captured gradient is not executed, its tensor hooks and retain_grad are."""
    a = leaf(1.0)
    y = a * 2
    log = []
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(noting(log, "prehook"))
    y.grad_fn.register_hook(lambda gi, go: log.append("hook"))
    (gradient,) = gs.autograd.grad((y * 3).sum(), y)
    assert gradient.item() == y.grad.item() == 30.0
    assert log == []


def test_inputs_of_backward_run_and_retain():
    """R24, R50: asked for by backward, the node of a non-leaf itself runs."""
    a = leaf(1.0)
    y = a * 2
    log = []
    y.grad_fn.register_prehook(noting(log, "prehook"))
    y.grad_fn.register_hook(lambda gi, go: log.append("hook"))
    z = (y * 3).sum()
    z.backward(inputs=[y], retain_graph=True)
    assert log == ["prehook", "hook"]
    assert y.retains_grad and y.grad.item() == 3.0 and a.grad is None
    z.backward()
    assert y.grad.item() == 6.0


def test_two_runs_ask_one_node_for_different_gradients():
    """What a run computes does not depend on what another asks the same node for meanwhile."""
    a, b = leaf(2.0), leaf(3.0)
    y = (a * 1) * (b * 1)
    z = y.sum()
    inner = []

    def ask_for_the_other(gradient):
        if len(inner) < 1:
            inner.append(None)
            inner.append(gs.autograd.grad(z, b, retain_graph=True)[0].item())

    y.register_hook(ask_for_the_other)
    (gradient,) = gs.autograd.grad(z, a, retain_graph=True)
    assert gradient.item() == 3.0 and inner[1] == 2.0


def test_callbacks_come_last_and_may_queue_more():
    """R32."""
    a = leaf(1.0)
    y = a * 2
    log = []

    def first():
        log.append(("first", a.grad.item(), gs.is_grad_enabled()))
        engine.queue_callback(lambda: log.append("second"))

    y.register_hook(lambda g: engine.queue_callback(first))
    a.register_hook(noting(log, "leaf"))
    y.sum().backward()
    assert log == ["leaf", ("first", 2.0, False), "second"]
    with pytest.raises(RuntimeError, match="only be installed during backward"):
        gs.autograd.Variable._execution_engine.queue_callback(print)


def test_an_inner_backward_calls_its_own_callbacks():
    a = leaf(1.0)
    y = a * 2
    log = []

    def hook(_):
        with gs.enable_grad():
            w = leaf(2.0) * 2
            w.register_hook(lambda g: engine.queue_callback(lambda: log.append("inner")))
            w.sum().backward()
        log.append("done")
        engine.queue_callback(lambda: log.append("outer"))

    y.register_hook(hook)
    y.sum().backward()
    assert log == ["inner", "done", "outer"]


def test_a_callback_that_raises():
    y = leaf(1.0) * 2

    def fail():
        raise KeyError("callback")

    y.register_hook(lambda g: engine.queue_callback(fail))
    with pytest.raises(KeyError, match="callback"):
        y.sum().backward()
    assert engine.current_graph_task_id() == -1


def test_what_a_hook_may_ask():
    """R15, R33, R34."""
    a, b = leaf(1.0), leaf(2.0)
    y = a * 2
    z = (y * b).exp()
    other = b * 7
    seen = []

    def ask(_):
        seen.append(
            (
                engine.current_graph_task_id() > 0,
                engine.current_node() is z.grad_fn,
                engine.will_engine_execute_node(y.grad_fn),
                engine.will_engine_execute_node(other.grad_fn),
                engine.is_checkpoint_valid(),
                [node.name() for node in engine.current_graph_task_execution_order()],
            )
        )

    z.register_hook(ask)
    z.sum().backward(retain_graph=True)
    gs.autograd.grad(z.sum(), b)
    everything = ["SumBackward0", "ExpBackward0", "MulBackward0", "AccumulateGrad", y.grad_fn.name()]
    assert seen[0] == (True, True, True, False, True, [*everything, "AccumulateGrad"])
    assert seen[1] == (True, True, False, False, False, everything[:4])
    assert engine.current_graph_task_id() == -1
    assert engine.current_node() is None and engine.is_checkpoint_valid()
    with pytest.raises(RuntimeError, match="during the backward pass"):
        engine.will_engine_execute_node(y.grad_fn)


def test_a_node_hook_sees_gradients_of_the_shape_of_the_inputs():
    a, b = gs.ones(3, requires_grad=True), gs.ones(2, 3, requires_grad=True)
    y = a * b
    shapes = []
    y.grad_fn.register_hook(lambda gi, go: shapes.append([g.shape for g in gi]))
    y.sum().backward()
    assert shapes == [[(3,), (2, 3)]]


def test_undefined_gradients_let_nodes_run():
    """A prehook that takes the gradient away: what follows runs, and gets none."""
    a = leaf(1.0)
    y = a.exp()
    z = y * 2
    log = []
    z.grad_fn.register_prehook(lambda grads: (None,))
    y.grad_fn.register_hook(lambda gi, go: log.append((gi, go)))
    y.register_hook(noting(log, "no gradient, no call"))
    a.register_post_accumulate_grad_hook(lambda t: log.append(t.grad))
    z.sum().backward()
    assert log == [((None,), (None,)), None]


def test_a_prehook_must_keep_shape_and_dtype():
    """A node computes with what it gets, without looking."""
    for bad, what in [(gs.ones(3, dtype=gs.float64), "size"), (gs.ones(2, dtype=gs.float32), "type")]:
        y = leaf(1.0, 2.0) * 2
        y.grad_fn.register_prehook(lambda grads, bad=bad: (bad,))
        with pytest.raises(RuntimeError, match=f"changed the {what} of value"):
            y.sum().backward()


def nested(depth):
    """Count of backwards, each started by a hook of the one before."""
    count = [0]

    def hook(_):
        count[0] += 1
        if count[0] < depth:
            with gs.enable_grad():
                y = leaf(1.0) * 2
                y.register_hook(hook)
                y.sum().backward()

    y = leaf(1.0) * 2
    y.register_hook(hook)
    y.sum().backward()
    return count[0]


def test_backward_inside_backward_a_thousand_levels_deep():
    """R28."""
    assert nested(1000) == 1000
    helpers = threading.active_count()
    assert nested(1000) == 1000
    assert threading.active_count() == helpers  # they are used again


def test_an_endless_recursion_ends():
    y = leaf(1.0) * 2
    s = y.sum()
    y.register_hook(lambda g: s.backward(retain_graph=True))
    with pytest.raises(RecursionError):
        s.backward(retain_graph=True)
    assert engine.current_graph_task_id() == -1


def test_an_exception_comes_up_from_a_deep_level():
    class Failure(Exception):
        pass

    depth = [0]

    def hook(_):
        depth[0] += 1
        if depth[0] == 100:
            raise Failure("at the bottom")
        with gs.enable_grad():
            y = leaf(1.0) * 2
            y.register_hook(hook)
            y.sum().backward()

    y = leaf(1.0) * 2
    y.register_hook(hook)
    with pytest.raises(Failure, match="at the bottom"):
        y.sum().backward()


def test_helpers_have_the_modes_of_their_caller():
    seen = []

    def packed(tensor):
        seen.append("packed")
        return tensor

    hooks = gs.autograd.graph.saved_tensors_hooks(packed, lambda tensor: tensor)
    with gs.autograd.enforce_grad_layout_policy(False), hooks:
        depth = [0]

        def hook(_):
            depth[0] += 1
            if depth[0] == 40:
                from gradsmith.runtime.accumulate_grad import is_grad_layout_enforced

                with gs.enable_grad():
                    seen.clear()
                    leaf(1.0).exp()
                seen.append((threading.current_thread() is threading.main_thread(), is_grad_layout_enforced()))
                return
            with gs.enable_grad():
                y = leaf(1.0) * 2
                y.register_hook(hook)
                y.sum().backward()

        y = leaf(1.0) * 2
        y.register_hook(hook)
        y.sum().backward()
    assert seen == ["packed", (False, False)]


def test_without_threads_the_stack_is_the_limit():
    limit = sys.getrecursionlimit()
    assert gs.autograd.is_multithreading_enabled()
    with gs.autograd.set_multithreading_enabled(False):
        assert not gs.autograd.is_multithreading_enabled()
        with pytest.raises(RecursionError):
            nested(2 * limit)
    assert gs.autograd.is_multithreading_enabled()
    assert nested(50) == 50


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


def test_eight_threads_of_a_thousand_backwards():
    """R29."""
    x = gs.tensor(np.arange(4.0), requires_grad=True)
    y = (x * x).sum()
    errors = []

    def work():
        try:
            for _ in range(1000):
                y.backward(retain_graph=True)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    np.testing.assert_array_equal(x.grad.numpy(), 8000 * 2 * np.arange(4.0))


def test_a_leaf_that_is_no_leaf_any_more():
    """R137."""
    a, b = leaf(1.0), leaf(3.0)
    y = a * 2
    a.requires_grad_(False)
    a.mul_(b)
    with pytest.raises(RuntimeError, match="moved into the graph interior"):
        y.sum().backward()
    c = leaf(1.0)
    z = c * 2
    c.requires_grad_(False)
    z.sum().backward()
    assert c.grad is None
