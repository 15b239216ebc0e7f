"""Backward inside backward: started by a hook, at any depth."""

import subprocess
import sys
import threading
import warnings

import pytest
from forking import answer_of_child, needs_fork

import gradsmith as gs

engine = gs.autograd.engine


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def test_backward_inside_backward():
    x = leaf(2.0)
    w = leaf(5.0)
    inner = (w * w).sum()
    y = x * 3
    y.register_hook(lambda g: inner.backward(retain_graph=True))
    (y * y).sum().backward()
    assert w.grad.item() == 10.0
    assert x.grad.item() == 36.0


def test_backward_inside_backward_over_the_same_nodes():
    x = leaf(2.0)
    a = x * 3
    b = a * a
    seen = []
    c = b * 1.0

    def hook(grad):
        if not seen:
            seen.append(True)
            with gs.enable_grad():
                (inner,) = gs.autograd.grad(b.sum(), x, retain_graph=True)
            assert inner.item() == 2 * 9 * 2.0

    c.register_hook(hook)
    d = (c + b).sum()
    d.backward()
    assert x.grad.item() == 2 * 9 * 2 * 2.0


def test_the_inner_backward_ends_before_the_outer_goes_on():
    """R23: what the outer run has waiting was recorded later, and waits all the same."""
    log = []
    below = leaf(2.0) * 3
    inner = below.sum()
    x = leaf(1.0)
    waiting, y = x * 2, x * 3

    def run_inner(_):
        inner.backward()
        log.append("inner has ended")

    below.register_hook(lambda grad: log.append("inner"))
    waiting.register_hook(lambda grad: log.append("waiting"))
    y.register_hook(run_inner)
    (waiting * y).sum().backward()
    assert log == ["inner", "inner has ended", "waiting"]


# ---- deeper than one thread goes


def nested(depth, at_the_bottom=lambda: None):
    """Count of backwards, each started by a hook of the one before."""
    count = [0]

    def hook(_):
        count[0] += 1
        if count[0] == depth:
            at_the_bottom()
            return
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
    """R30."""

    class Failure(Exception):
        pass

    def fail():
        raise Failure("at the bottom")

    with pytest.raises(Failure, match="at the bottom"):
        nested(100, fail)
    assert engine.current_graph_task_id() == -1
    assert nested(100) == 100


def test_warnings_come_from_helpers_too():
    """R31."""
    with pytest.warns(RuntimeWarning, match="from the bottom"):
        nested(100, lambda: warnings.warn("from the bottom", RuntimeWarning, stacklevel=2))


def test_helpers_have_the_modes_of_their_caller():
    """R26."""
    from gradsmith.runtime.history.accumulate_grad import is_grad_layout_enforced

    seen = []

    def packed(tensor):
        seen.append("packed")
        return tensor

    def look():
        with gs.enable_grad():
            seen.clear()
            leaf(1.0).exp()
        seen.append((threading.current_thread() is threading.main_thread(), is_grad_layout_enforced()))

    hooks = gs.autograd.graph.saved_tensors_hooks(packed, lambda tensor: tensor)
    with gs.autograd.enforce_grad_layout_policy(False), hooks:
        nested(40, look)
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


@needs_fork
def test_the_child_of_a_fork_has_helpers_of_its_own():
    """R35: threads do not live on in it."""
    assert nested(100) == 100
    assert answer_of_child(lambda: nested(100)) == "100"
    assert nested(100) == 100


def test_helpers_do_not_keep_python_from_ending():
    """R36."""
    program = """if True:
        import gradsmith as gs

        @gs.enable_grad()
        def nested(depth):
            y = gs.ones(1, requires_grad=True) * 2
            y.register_hook(lambda grad: nested(depth - 1) if depth else None)
            y.sum().backward()

        nested(100)
        print("done")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
