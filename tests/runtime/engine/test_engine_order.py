"""In which order a backward runs, what it runs when only some inputs are asked for, and what may be asked of it."""

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
    """R27: what waits on either device runs in the order of recording, also when queues have to grow."""
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


def test_a_node_waits_for_all_its_gradients():
    """R22: it runs once, on their sum, however far apart they come from."""
    a = leaf(1.0)
    y = a * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    y.grad_fn.register_prehook(lambda grads: seen.append("runs"))
    far = y * 3
    for _ in range(5):
        far = far * 1
    ((y * 5 + far) * y.detach() + y * 7).sum().backward()
    assert seen == [2.0 * 5 + 2.0 * 3 + 7, "runs"]
    assert a.grad.item() == 46.0


def test_a_root_inside_the_graph_of_another():
    """It runs when the other's gradient has come too."""
    a = leaf(1.0)
    y = a * 2
    z = y * 3
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    one, ten = leaf(1.0).detach(), leaf(10.0).detach()
    gs.autograd.backward([z, y], [one, ten])
    assert seen == [13.0] and a.grad.item() == 26.0


def test_a_leaf_that_gets_its_first_hook_while_the_backward_runs():
    """Gradients that have arrived stay, the hook gets the rest; see docs/internals/decisions/engine_order.md."""
    x = leaf(1.0)
    early, late = x * 2, x * 3
    early.register_hook(lambda grad: x.register_hook(lambda rest: rest * 10) and None)
    (early + late).sum().backward()
    assert x.grad.item() == 3.0 + 10 * 2.0
    x.grad = None
    (x * 2 + x * 3).sum().backward()
    assert x.grad.item() == 10 * 5.0


def test_a_root_given_twice_counts_twice():
    a = leaf(1.0)
    y = (a * 2).sum()
    gs.autograd.backward([y, y])
    assert a.grad.item() == 4.0


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


@pytest.mark.parametrize("op", [gs.exp, gs.t, lambda t: t.expand(4, 2, 3), lambda t: t * t])
def test_the_node_of_a_requested_input_computes_nothing_that_nobody_wants(op):
    """R24: it runs, and its hooks see that no gradient leaves it."""
    a = leaf([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    y = op(a)
    log = []
    y.grad_fn.register_hook(lambda gi, go: log.append((set(gi), go[0].shape)))
    (y * y).sum().backward(inputs=[y])
    assert log == [({None}, y.shape)]
    assert a.grad is None
    np.testing.assert_array_equal(y.grad.numpy(), 2 * y.detach().numpy())


def test_roots_that_lead_to_no_input_are_left_out():
    """R24: also their tensor hooks, unless there is no other root."""
    a, b = leaf(1.0), leaf(2.0)
    y, z = a * 2, b * 3
    log = []
    for tensor, name in ((y, "y"), (z, "z"), (a, "a")):
        tensor.register_hook(noting(log, name))
    y.retain_grad()
    ones = gs.ones(1, dtype=gs.float64)
    (found,) = gs.autograd.grad([y, z, a], b, [ones] * 3, retain_graph=True)
    assert found.item() == 3.0 and log == ["z"] and y.grad is None
    gs.autograd.backward([y, z, a], [ones] * 3, inputs=[b], retain_graph=True)
    assert log == ["z"] * 2 and y.grad is None and a.grad is None
    assert gs.autograd.grad(y, b, ones, allow_unused=True) == (None,)
    assert log[2:] == ["y"] and y.grad.item() == 1.0


def test_what_runs_is_freed_and_what_is_captured_is_not():
    """R8, R24, R25: `grad` does not run the node of the tensor that it was asked for, `backward` does."""
    a = leaf(1.0)
    y = a * a
    gs.autograd.grad((y * y).sum(), y)
    assert gs.autograd.grad(y.sum(), a)[0].item() == 2.0
    y = a * a
    (y * y).sum().backward(inputs=[y])
    with pytest.raises(RuntimeError, match="MulBackward0: trying to backward through the graph a second time"):
        gs.autograd.grad(y.sum(), a)


def test_two_runs_ask_one_node_for_different_gradients():
    """The result of a run does not depend on another's meanwhile asking the same node for something else."""
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


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("mode", [gs.no_grad, gs.enable_grad])
def test_the_grad_mode_of_a_backward_is_create_graph(create_graph, mode):
    """R26: whatever the mode of the caller, which is the same afterwards."""
    a = leaf(2.0)
    y = a * 3
    seen = []
    y.register_hook(lambda g: seen.append((gs.is_grad_enabled(), g.requires_grad)))
    z = (y * y).sum()
    with mode():
        before = gs.is_grad_enabled()
        (found,) = gs.autograd.grad(z, a, create_graph=create_graph)
        assert gs.is_grad_enabled() == before
    assert seen == [(create_graph, create_graph)]
    assert found.requires_grad == create_graph


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


def test_an_input_at_which_no_gradient_arrives():
    """R38: a path leads to it, but a node on the way gave nothing."""
    a = leaf(1.0)
    y = a * 2
    y.grad_fn.register_prehook(lambda grads: (None,))
    z = (y * 3).sum()
    with pytest.raises(RuntimeError, match=r"at index 0 appears to not have been used in the graph"):
        gs.autograd.grad(z, a, retain_graph=True)
    assert gs.autograd.grad(z, a, allow_unused=True, retain_graph=True) == (None,)
    assert gs.autograd.grad(z, a, materialize_grads=True)[0].tolist() == [0.0]


def test_a_prehook_must_keep_shape_and_dtype():
    """A node computes with what it gets, without looking."""
    for bad, what in [(gs.ones(3, dtype=gs.float64), "size"), (gs.ones(2, dtype=gs.float32), "type")]:
        y = leaf(1.0, 2.0) * 2
        y.grad_fn.register_prehook(lambda grads, bad=bad: (bad,))
        with pytest.raises(RuntimeError, match=f"changed the {what} of value"):
            y.sum().backward()


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
