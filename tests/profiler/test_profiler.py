"""The profiler: what it sees, of whom, and what it leaves behind."""

import asyncio
import itertools
import threading

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import profiler as autograd_profiler
from gradsmith.profiler import ProfilerActivity, profile, record_function, supported_activities


def named(events, name):
    (found,) = [event for event in events if event.name == name]
    return found


def tree(events):
    """``(name, name of what it ran inside)`` of each event."""
    return [(event.name, event.cpu_parent and event.cpu_parent.name) for event in events]


def two_layers():
    x = gs.tensor(np.linspace(-1, 1, 6).reshape(3, 2), requires_grad=True)
    w = gs.tensor(np.linspace(0, 1, 8).reshape(2, 4), requires_grad=True)
    return x, w


# ---- events


def test_a_small_computation_with_its_backward():
    x, w = two_layers()
    with profile() as prof:
        with record_function("forward"):
            loss = (x @ w).tanh().sum()
        loss.backward()
    events = prof.events()
    seen = tree(events)
    assert seen[:4] == [("forward", None), ("matmul", "forward"), ("tanh", "forward"), ("sum", "forward")]
    assert [name for name, parent in seen if parent is None] == [
        "forward",
        "SumBackward0",
        "TanhBackward0",
        "MatmulBackward0",
    ]
    assert seen.count(("matmul", "MatmulBackward0")) == 2
    assert seen.count(("AccumulateGrad", "MatmulBackward0")) == 2
    assert [event.id for event in events] == list(range(len(events)))


def test_times_are_ordered_and_nested():
    x, w = two_layers()
    with profile() as prof:
        (x @ w).tanh().sum().backward()
    events = prof.events()
    assert events[0].time_range.start >= 0
    for event in events:
        start, end = event.time_range
        assert start <= end
        for child in event.cpu_children:
            assert start <= child.time_range.start <= child.time_range.end <= end
        assert 0 <= event.self_cpu_time_total <= event.cpu_time_total == pytest.approx(end - start)
    assert [e.time_range.start for e in events] == sorted(e.time_range.start for e in events)


def test_nodes_are_linked_to_the_ops_that_recorded_them():
    x, w = two_layers()
    with profile() as prof:
        product = x @ w
        same = product.reshape(3, 4)
        (same.tanh() * 2).sum().backward()
    events = prof.events()
    links = {event.name: event.forward for event in events if event.kind == "node"}
    assert links.pop("AccumulateGrad") is None
    assert (links["TanhBackward0"].name, links["MatmulBackward0"].name) == ("tanh", "matmul")
    for node, op in links.items():
        assert op.kind == "op", node
        assert op.time_range.end <= named(events, node).time_range.start
        assert op.sequence_nr == named(events, node).sequence_nr
        assert named(events, node).fwd_thread == op.thread == threading.get_ident()


def test_the_op_that_did_the_work_is_linked_and_not_the_one_that_had_nothing_to_do():
    x, _ = two_layers()
    with profile() as prof:
        y = x.exp().contiguous()
        y.sum().backward()
    assert named(prof.events(), "ExpBackward0").forward.name == "exp"


def test_a_forward_outside_the_profile_has_no_link():
    x, w = two_layers()
    loss = (x @ w).sum()
    with profile() as prof:
        loss.backward()
    assert named(prof.events(), "MatmulBackward0").forward is None


def test_shapes():
    with profile(record_shapes=True) as prof:
        gs.cat([gs.ones(2, 3), gs.ones(1, 3)]) + 1.0
    assert named(prof.events(), "cat").input_shapes[0] == [(2, 3), (1, 3)]
    assert named(prof.events(), "add").input_shapes[:2] == [(3, 3), ()]


def test_shapes_are_kept_only_on_request():
    with profile() as prof:
        gs.ones(3) + 1.0
    assert named(prof.events(), "add").input_shapes == []


def test_stacks_begin_where_the_user_called():
    def inner():
        with record_function("mine"):
            return gs.ones(3) * 2

    with profile(with_stack=True) as prof:
        inner()
    for event in prof.events():
        assert "test_profiler.py" in event.stack[0] and event.stack[0].endswith(": inner")
        assert event.stack[1].endswith("test_stacks_begin_where_the_user_called")


def test_pruned_and_second_order_backward():
    x = gs.tensor([0.5, 2.0], requires_grad=True)
    with profile() as prof:
        (first,) = gs.autograd.grad((x * x * x).sum(), x, create_graph=True)
        gs.autograd.grad(first.sum(), x)
    nodes = [event for event in prof.events() if event.kind == "node"]
    assert [node.name for node in nodes[:3]] == ["SumBackward0", "MulBackward0", "MulBackward0"]
    assert "AccumulateGrad" not in [node.name for node in nodes]  # gradients are handed out, not stored
    assert all(node.cpu_parent is None for node in nodes)
    assert all(node.forward is not None for node in nodes)


def test_a_leaf_with_hooks_is_a_node_of_its_own():
    x = gs.ones(3, requires_grad=True)
    x.register_hook(lambda grad: grad * 2)
    with profile() as prof:
        (x * 3).sum().backward()
    seen = tree(prof.events())
    assert ("AccumulateGrad", None) in seen
    assert ("mul", "AccumulateGrad") in seen  # of the hook
    assert named(prof.events(), "AccumulateGrad").sequence_nr == -1


# ---- record_function


def test_blocks_nest():
    with profile() as prof:
        with record_function("outer", "epoch 1"), record_function("inner"):
            gs.ones(2) * 2
        gs.ones(2) + 2
    assert tree(prof.events()) == [("outer", None), ("inner", "outer"), ("mul", "inner"), ("add", None)]
    outer = named(prof.events(), "outer")
    assert outer.is_user_annotation and outer.arguments == "epoch 1"


def test_one_object_around_itself():
    block = record_function("block")
    with profile() as prof, block, block:
        gs.ones(2) * 2
    assert tree(prof.events()) == [("block", None), ("block", "block"), ("mul", "block")]
    assert not any(event.failed for event in prof.events())


def test_decorated_functions_generators_and_coroutines():
    @record_function("plain")
    def plain(depth):
        return gs.ones(2) * 2 if depth == 0 else plain(depth - 1)

    @record_function("generator")
    def generator():
        yield gs.ones(2) + 1
        yield gs.ones(2) + 1

    @record_function("coroutine")
    async def coroutine():
        await asyncio.sleep(0)
        return gs.ones(2) - 1

    with profile() as prof:
        plain(1)
        for _ in generator():
            gs.ones(2) / 2
        asyncio.run(coroutine())
    seen = tree(prof.events())
    assert seen[:3] == [("plain", None), ("plain", "plain"), ("mul", "plain")]
    assert seen.count(("add", "generator")) == 2
    assert seen.count(("div", None)) == 2
    assert ("sub", "coroutine") in seen
    assert plain.__name__ == "plain"


def test_a_block_that_ends_after_what_began_inside():
    """A generator is suspended in its block, and goes on when another one runs."""

    def suspended():
        with record_function("long"):
            yield

    steps = suspended()
    with profile() as prof:
        next(steps)
        with record_function("other"):
            next(steps, None)
            gs.ones(2) * 2
    assert tree(prof.events()) == [("long", None), ("other", "long"), ("mul", "other")]
    assert all(event.self_cpu_time_total >= 0 for event in prof.events())


def test_blocks_across_the_borders_of_a_profile():
    before, during = record_function("before"), record_function("during")
    with before:
        prof = profile()
        prof.start()
    during.__enter__()
    prof.stop()
    during.__exit__(None, None, None)
    (event,) = prof.events()
    assert event.name == "during"
    assert not event.failed
    assert event.time_range.end >= event.time_range.start


def test_record_function_takes_a_name():
    with pytest.raises(TypeError):
        record_function(None)


# ---- exceptions


def test_an_exception_marks_what_it_left():
    with profile() as prof:
        with pytest.raises(RuntimeError), record_function("step"):
            gs.ones(2, 3) @ gs.ones(2, 3)
        with record_function("next"):
            gs.ones(2) * 2
    assert [(e.name, e.failed) for e in prof.events()] == [
        ("step", True),
        ("matmul", True),
        ("next", False),
        ("mul", False),
    ]
    assert tree(prof.events())[2:] == [("next", None), ("mul", "next")]


def test_a_backward_that_raises_and_one_that_works():
    x = gs.ones(3, requires_grad=True)

    def refuse(grad):
        raise ValueError("no")

    with profile() as prof:
        y = x * 2
        handle = y.register_hook(refuse)
        for _ in range(2):
            with pytest.raises(ValueError, match="no"), record_function("failing"):
                y.sum().backward()
        handle.remove()
        with record_function("working"):
            y.sum().backward()
    seen = tree(prof.events())
    assert seen.count(("MulBackward0", "failing")) == 2
    assert seen.count(("MulBackward0", "working")) == 1
    assert [e.failed for e in prof.events() if e.name == "MulBackward0"] == [True, True, False]
    assert not named(prof.events(), "working").failed


def test_an_exception_that_leaves_the_profile_leaves_nothing_on():
    prof = profile(profile_memory=True)
    limit = gs.get_cache_limit()
    with pytest.raises(KeyError), prof:
        assert gs.get_cache_limit() == 0
        gs.ones(2) * 2
        raise KeyError("stop")
    assert gs.get_cache_limit() == limit
    gs.ones(2) + 2
    assert [event.name for event in prof.events()] == ["mul"]


# ---- who is seen


def test_threads_do_not_see_each_other():
    ready, done = threading.Event(), threading.Event()
    profiles = {}

    def other():
        with profile() as profiles["other"]:
            ready.set()
            done.wait()
            gs.ones(2, requires_grad=True).exp().sum().backward()

    thread = threading.Thread(target=other)
    with profile() as profiles["main"]:
        thread.start()
        ready.wait()
        gs.ones(2) * 2
        done.set()
        thread.join()
        gs.ones(2) + 2
    assert [event.name for event in profiles["main"].events()] == ["mul", "add"]
    assert {"exp", "sum", "ExpBackward0"} <= {event.name for event in profiles["other"].events()}
    assert {event.thread for event in profiles["other"].events()} == {thread.ident}


def test_a_backward_inside_backwards_in_helper_threads_is_seen():
    depth = 70
    seen = []

    class Deeper(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x, level):
            ctx.level = level
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            seen.append(threading.get_ident())
            if ctx.level:
                with gs.enable_grad():
                    Deeper.apply(gs.ones((), requires_grad=True), ctx.level - 1).backward()
            return grad, None

    with profile() as prof:
        Deeper.apply(gs.ones((), requires_grad=True), depth).backward()
        gs.ones(2) * 2
    nodes = [event for event in prof.events() if event.name == "DeeperBackward"]
    assert len(nodes) == depth + 1
    assert [node.thread for node in nodes] == seen
    assert all(inner.cpu_parent is outer for outer, inner in itertools.pairwise(nodes))
    assert named(prof.events(), "mul").cpu_parent is None
    assert not any(event.failed for event in prof.events())


def test_nothing_is_recorded_outside():
    prof = profile()
    gs.ones(2) * 2
    with prof, record_function("inside"):
        pass
    gs.ones(2) + 2
    with record_function("outside"):
        pass
    assert [event.name for event in prof.events()] == ["inside"]


def test_profiles_nest():
    with profile() as outer:
        with record_function("block"):
            gs.ones(2) * 2
            with profile() as inner, record_function("deep"):
                gs.ones(2) + 2
        gs.ones(2) - 2
    assert tree(outer.events()) == [
        ("block", None),
        ("mul", "block"),
        ("deep", "block"),
        ("add", "deep"),
        ("sub", None),
    ]
    assert tree(inner.events()) == [("deep", None), ("add", "deep")]


# ---- memory


def test_memory_is_exact():
    n = 1000
    with profile(profile_memory=True) as prof:
        with record_function("kept"):
            kept = gs.ones(n) * 2
        with record_function("dropped"):
            dropped = gs.ones(n, dtype=gs.float64) + 1
            del dropped
    assert named(prof.events(), "mul").cpu_memory_usage == 4 * n
    assert named(prof.events(), "kept").cpu_memory_usage == 4 * n  # ones was freed
    assert named(prof.events(), "dropped").cpu_memory_usage == 0
    assert named(prof.events(), "dropped").self_cpu_memory_usage == -8 * n
    assert named(prof.events(), "dropped").memory_after == 4 * n
    assert prof.key_averages().total_average().cpu_memory_usage == 4 * n
    assert kept.sum().item() == 2 * n


def test_arrays_that_numpy_makes_and_resizes_count():
    with profile(profile_memory=True) as prof, record_function("numpy"):
        array = np.zeros(100)
        array.resize(1000, refcheck=False)
    assert named(prof.events(), "numpy").cpu_memory_usage == 8000
    assert not array.any()


def test_memory_of_a_backward():
    x = gs.ones(1000, requires_grad=True)
    with profile(profile_memory=True) as prof:
        loss = x.exp().sum()
        loss.backward()
    assert named(prof.events(), "exp").cpu_memory_usage == 4000
    assert sum(event.self_cpu_memory_usage for event in prof.events()) == pytest.approx(
        4000, abs=100
    )  # x.grad; scalars


# ---- flops


def test_flops():
    a, b = gs.ones(5, 2, 3), gs.ones(3, 4)
    with profile(with_flops=True) as prof:
        a @ b
        gs.nn.functional.linear(gs.ones(2, 3), gs.ones(4, 3), gs.ones(4))
        gs.ones(4, 1) * gs.ones(5)
        gs.ones(3).add_(1.0)
        gs.ones(3).exp()
    assert {event.name: event.flops for event in prof.events()} == {
        "matmul": 5 * 2 * 3 * 4 * 2,
        "linear": 2 * 4 * 3 * 2 + 2 * 4,
        "mul": 20,
        "add_": 3,
        "exp": None,
    }


def test_flops_of_a_product_count_once_where_it_consists_of_others():
    with profile(with_flops=True) as prof:
        gs.einsum("ij,jk->ik", gs.ones(2, 3), gs.ones(3, 4))
        gs.ones(2, 3) @ gs.ones(3, 4)
    products = 2 * 2 * 3 * 4
    assert prof.key_averages().total_average().flops == 2 * products


# ---- usage errors


def test_usage_errors():
    with pytest.raises(AssertionError, match="No valid profiler activities"):
        profile(activities=[])
    with pytest.raises(ValueError, match="ProfilerActivity.CPU only, got 'cuda'"):
        profile(activities=["cuda"])
    with pytest.raises(ValueError, match="experimental_config means nothing"):
        profile(experimental_config=object())
    with pytest.raises(ValueError, match="with_modules means nothing"):
        profile(with_modules=True)
    prof = profile(activities=supported_activities())
    assert supported_activities() == {ProfilerActivity.CPU}
    for call in (prof.step, prof.stop):
        with pytest.raises(RuntimeError, match="not running"):
            call()
    with pytest.raises(AssertionError, match="nothing has been recorded"):
        prof.events()
    with prof, pytest.raises(RuntimeError, match="not reentrant"):
        prof.start()


def test_profiles_end_where_they_began():
    prof = profile()
    prof.start()
    errors = []

    def stop():
        with pytest.raises(RuntimeError, match="ends in the thread in which it began") as caught:
            prof._recording.stop()
        errors.append(caught)

    thread = threading.Thread(target=stop)
    thread.start()
    thread.join()
    assert len(errors) == 1
    prof.stop()


# ---- gradsmith.autograd.profiler


def test_the_profile_without_schedules():
    with autograd_profiler.profile(record_shapes=True) as prof:
        assert str(prof) == "<unfinished profile>"
        with pytest.raises(RuntimeError, match="didn't finish"):
            prof.key_averages()
        gs.ones(2) * 2
    assert [event.name for event in prof.function_events] == ["mul"]
    assert "mul" in str(prof)
    assert prof.total_average().count == 1
    assert prof.self_cpu_time_total == prof.function_events[0].cpu_time_total
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass


def test_a_profile_that_is_not_enabled():
    with autograd_profiler.profile(enabled=False) as prof:
        gs.ones(2) * 2
    assert prof.function_events is None


def test_pytorchs_options_that_make_no_difference():
    with gs.autograd.profiler.profile(use_cpu=True, use_kineto=True, use_device=None, with_modules=True) as found:
        gs.ones(2) + 1
    assert any(event.key.endswith("add") for event in found.key_averages())
