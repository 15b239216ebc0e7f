"""gradsmith.utils.checkpoint: values, memory, nesting, random numbers, and what is noticed (2.17)."""

import doctest
import gc
import weakref
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import graph
from gradsmith.utils import checkpoint as checkpoint_module
from gradsmith.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def layer(x, w):
    return (x @ w).tanh() * x.exp()


def gradients(function, *inputs):
    return [g.numpy() for g in gs.autograd.grad(function(*inputs).sum(), inputs)]


def test_gradients_are_those_of_the_function():
    x, w = leaf(np.linspace(-1, 1, 6).reshape(2, 3)), leaf(np.linspace(0, 1, 9).reshape(3, 3))
    expected = gradients(layer, x, w)
    function = Counted(layer)
    for found, right in zip(gradients(lambda *a: checkpoint(function, *a, use_reentrant=False), x, w), expected):
        np.testing.assert_allclose(found, right)
    assert function.calls == 2


def test_backward_and_keyword_arguments():
    x, w = leaf(np.ones((2, 3))), leaf(np.ones((3, 3)))
    checkpoint(layer, x, w=w, use_reentrant=False).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), gradients(layer, x, w)[1])
    np.testing.assert_allclose(x.grad.numpy(), gradients(layer, x, w)[0])


def test_only_the_inputs_are_kept():
    x = leaf(np.ones(100))
    inside = []

    def function(t):
        middle = t.exp()
        inside.append(weakref.ref(middle))
        return middle.sin().exp() * 2

    y = checkpoint(function, x, use_reentrant=False)
    gc.collect()
    assert inside[0]() is None
    assert graph.list_saved(y).total == 0
    y.sum().backward()
    values = np.ones(100)
    middle = np.exp(values)
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(np.sin(middle)) * np.cos(middle) * middle)


def test_what_was_recomputed_is_freed_as_it_is_used():
    x = leaf(np.ones(100))
    y = checkpoint(lambda t: t.exp().sin().exp(), x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    node = y.grad_fn
    assert node._raw_saved_result.data.kept is None


def test_a_second_backward_recomputes_again():
    x = leaf([1.0, 2.0])
    function = Counted(lambda t: t.exp().sin())
    y = checkpoint(function, x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert function.calls == 3
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.cos(np.exp(values)) * np.exp(values))
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_backwards_over_different_parts_share_a_recomputation():
    function = Counted(lambda t: (t.exp().sin(), t.cos().exp()))
    x = leaf([1.0, 2.0])
    first, second = checkpoint(function, x, use_reentrant=False)
    (of_first,) = gs.autograd.grad(first.sum(), x)
    (of_second,) = gs.autograd.grad(second.sum(), x)
    assert function.calls == 2
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(of_first.numpy(), np.cos(np.exp(values)) * np.exp(values))
    np.testing.assert_allclose(of_second.numpy(), -np.exp(np.cos(values)) * np.sin(values))


def test_second_derivatives():
    x = leaf([1.0, 2.0])
    y = checkpoint(lambda t: t**3 * t.exp(), x, use_reentrant=False)
    (first,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), x)
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(second.numpy(), np.exp(values) * (values**3 + 6 * values**2 + 6 * values))


def test_nothing_to_record():
    function = Counted(lambda t: t.exp())
    with gs.no_grad():
        y = checkpoint(function, leaf([1.0]), use_reentrant=False)
    assert not y.requires_grad
    y = checkpoint(function, gs.ones(2), use_reentrant=False)
    assert not y.requires_grad


def test_early_stop():
    reached = []

    def function(t):
        y = t.exp()
        reached.append(y)
        y = y.sin()
        reached.append(y)
        return y + 1

    x = leaf([1.0])
    checkpoint(function, x, use_reentrant=False).backward()
    assert len(reached) == 3
    reached.clear()
    checkpoint(function, x, use_reentrant=False, early_stop=False).backward()
    assert len(reached) == 4
    reached.clear()
    with set_checkpoint_early_stop(False):
        y = checkpoint(function, x, use_reentrant=False)
    y.backward()
    assert len(reached) == 4


def test_random_numbers_are_drawn_again():
    def dropout(t):
        return (t * (gs.rand(50, dtype=gs.float64) < 0.5)).exp()

    x = leaf(np.ones(50))
    y = checkpoint(dropout, x, use_reentrant=False)
    following = gs.get_rng_state()
    y.sum().backward()
    kept = y.numpy(force=True) != 1
    assert 0 < kept.sum() < 50
    np.testing.assert_allclose(x.grad.numpy(), np.where(kept, np.e, 0))
    np.testing.assert_array_equal(gs.get_rng_state().numpy(), following.numpy())


def test_random_numbers_may_differ():
    drawn = []

    def function(t):
        drawn.append(gs.rand(1).item())
        return t.exp().sin()

    checkpoint(function, leaf([1.0]), use_reentrant=False, preserve_rng_state=False).backward()
    assert drawn[0] != drawn[1]


def test_contexts():
    entered = []

    @contextmanager
    def context(name):
        entered.append(name)
        yield

    y = checkpoint(
        lambda t: t.exp().sin(),
        leaf([1.0]),
        use_reentrant=False,
        context_fn=lambda: (context("forward"), context("recompute")),
    )
    assert entered == ["forward"]
    y.backward()
    assert entered == ["forward", "recompute"]


def test_nested():
    inner = Counted(lambda t: t.exp().sin())
    outer = Counted(lambda t: checkpoint(inner, t.cos(), use_reentrant=False).exp())
    x = leaf([0.5, 1.0])
    y = checkpoint(outer, x, use_reentrant=False)
    assert graph.list_saved(y).total == 0
    y.sum().backward()
    values = np.array([0.5, 1.0])
    c = np.cos(values)
    expected = np.exp(np.sin(np.exp(c))) * np.cos(np.exp(c)) * np.exp(c) * -np.sin(values)
    np.testing.assert_allclose(x.grad.numpy(), expected)
    assert outer.calls == 2


def test_three_deep_without_early_stop():
    def deep(level, t):
        if level == 0:
            return t.exp().sin()
        return checkpoint(deep, level - 1, t.cos(), use_reentrant=False, early_stop=False).exp() * t

    x = leaf([0.5, 1.0])
    (expected,) = gs.autograd.grad(deep_plain(3, x).sum(), x)
    (found,) = gs.autograd.grad(checkpoint(deep, 3, x, use_reentrant=False, early_stop=False).sum(), x)
    np.testing.assert_allclose(found.numpy(), expected.numpy())


def deep_plain(level, t):
    return t.exp().sin() if level == 0 else deep_plain(level - 1, t.cos()).exp() * t


def test_a_backward_inside():
    def function(t):
        y = t.sin()
        z = y.cos()
        (g,) = gs.autograd.grad(z.sum(), t, retain_graph=True)
        return t.cos() * g

    x = leaf([0.5, 1.0])
    expected = gradients(function, x)[0]
    for early_stop in (True, False):
        y = checkpoint(function, x, use_reentrant=False, early_stop=early_stop)
        np.testing.assert_allclose(gs.autograd.grad(y.sum(), x)[0].numpy(), expected)


def test_with_other_hooks():
    x = leaf([1.0, 2.0])
    with graph.save_on_cpu():
        y = checkpoint(lambda t: t.exp().sin(), x * 1.0, use_reentrant=False)
        y.sum().backward()
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.exp(values)) * np.exp(values))


def test_hooks_inside():
    x = leaf([1.0, 2.0])

    def function(t):
        with graph.save_on_cpu():
            return t.exp().sin()

    checkpoint(function, x, use_reentrant=False).sum().backward()
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.exp(values)) * np.exp(values))


def test_only_part_of_the_gradients():
    x, w = leaf([2.0]), leaf([3.0])
    function = Counted(lambda a, b: (a * b, b.exp()))
    first, second = checkpoint(function, x, w, use_reentrant=False)
    assert gs.autograd.grad(second, w, retain_graph=True)[0].item() == pytest.approx(np.e**3)
    assert gs.autograd.grad(first, x)[0].item() == 3.0


# ---- what is noticed


def test_another_number_of_tensors():
    switch = [True]

    def function(t):
        y = t.exp()
        return y.sin().cos() if switch[0] else y + 1

    y = checkpoint(function, leaf([1.0]), use_reentrant=False)
    switch[0] = False
    with pytest.raises(CheckpointError, match=r"different number of tensors(.|\n)*forward: 3\n(.|\n)*recomputation: 1"):
        y.backward()


def test_more_tensors():
    switch = [True]

    def function(t):
        y = t.exp()
        return y + 1 if switch[0] else y.sin().cos()

    y = checkpoint(function, leaf([1.0]), use_reentrant=False, early_stop=False)
    switch[0] = False
    with pytest.raises(CheckpointError, match="more tensors during recomputation .*, which saved 1"):
        y.backward()


def test_other_metadata():
    shape = [(2, 1)]

    def function(t):
        return (t * gs.ones(shape[0], dtype=gs.float64)).exp().sum()

    y = checkpoint(function, leaf([1.0]), use_reentrant=False)
    shape[0] = (3, 1)
    with pytest.raises(CheckpointError, match=r"different metadata(.|\n)*\(2, 1\)(.|\n)*\(3, 1\)"):
        y.backward()
    y = checkpoint(function, leaf([1.0]), use_reentrant=False, determinism_check="none")
    shape[0] = (2, 1)
    with pytest.raises(RuntimeError, match="shape"):
        y.backward()


def test_debug_shows_the_places():
    switch = [True]

    def function(t):
        y = t.exp()
        return y.sin() if switch[0] else y + 1

    with set_checkpoint_debug_enabled(True):
        y = checkpoint(function, leaf([1.0]), use_reentrant=False)
    switch[0] = False
    with pytest.raises(CheckpointError, match=r"Saved during forward:\n0: .*test_checkpoint.py:\d+, in function\n1: "):
        y.backward()


def test_an_input_that_was_changed():
    x = leaf([1.0]) * 1
    y = checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False)
    x.add_(1)
    with pytest.raises(RuntimeError, match="given to a checkpointed function is at version 1; expected version 0"):
        y.backward()


@pytest.mark.parametrize("early_stop", [True, False])
def test_a_change_inside_the_function(early_stop):
    """A tensor saved before the change is copied, so that the gradient is right."""

    def function(t):
        y = t * 2
        z = y * y
        y.add_(1)
        return z * y.exp()

    x = leaf([1.5])
    checkpoint(function, x, use_reentrant=False, early_stop=early_stop).backward()
    assert x.grad.item() == pytest.approx(np.exp(2 * 1.5 + 1) * (8 * 1.5 + 2 * 4 * 1.5**2))


def test_no_garbage_is_left_for_the_collector():
    x = leaf(np.ones(10))
    inside = []

    def function(t):
        y = t.exp()
        inside.append(weakref.ref(y))
        return y.sin().exp()

    gc.collect()
    gc.disable()
    try:
        y = checkpoint(function, x, use_reentrant=False)
        y.sum().backward()
        assert [reference() for reference in inside] == [None, None]
        gone = weakref.ref(y)
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_an_error_in_the_recomputation():
    fail = [False]

    def function(t):
        if fail[0]:
            raise KeyError("not now")
        return t.exp().sin()

    x = leaf([1.0])
    y = checkpoint(function, x, use_reentrant=False)
    state = gs.get_rng_state()
    fail[0] = True
    with pytest.raises(KeyError, match="not now"):
        y.backward()
    np.testing.assert_array_equal(gs.get_rng_state().numpy(), state.numpy())
    fail[0] = False
    y.backward()
    assert x.grad.item() == pytest.approx(np.cos(np.e) * np.e)


def test_settings_are_checked():
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(layer, leaf([1.0]), determinism_check="strict", use_reentrant=False)


def test_a_context_that_swallows_an_exception():
    def function(t):
        raise KeyError("lost")

    with pytest.raises(RuntimeError, match="suppressed an exception raised during the checkpointed forward"):
        checkpoint(
            function, leaf([1.0]), use_reentrant=False, context_fn=lambda: (suppress(KeyError), suppress(KeyError))
        )


# ---- a sequence of functions


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequential(segments):
    functions = [Counted(gs.exp), Counted(gs.sin), Counted(gs.cos), Counted(gs.tanh), Counted(gs.exp)]
    x = leaf([0.1, 0.2])
    found = checkpoint_sequential(functions, segments, x, use_reentrant=False)
    expected = x.exp().sin().cos().tanh().exp()
    np.testing.assert_allclose(found.numpy(force=True), expected.numpy(force=True))
    np.testing.assert_allclose(gradients(lambda t: found, x)[0], gradients(lambda t: expected, x)[0])
    assert functions[-1].calls == 1


def test_sequential_needs_segments():
    with pytest.raises(ValueError, match="segments must be from 1 to the number of functions, 2; got 3"):
        checkpoint_sequential([gs.exp, gs.sin], 3, leaf([1.0]), use_reentrant=False)


def test_examples_in_docstrings():
    failed, attempted = doctest.testmod(checkpoint_module)
    assert failed == 0
    assert attempted > 0


# ---- inside of transforms

OF_TRANSFORMS = {
    "products": lambda x: (x @ x.T * x.sum()).sum(),
    "views": lambda x: (x.view(2, 2).T * x.view(2, 2)).sum() + x[0, 1:].exp().sum(),
    "elements": lambda x: (x / (x * x + 1)).sin().sum(),
}
TRANSFORMS = {
    "forward over reverse": gs.func.hessian,
    "reverse over forward": lambda f: gs.func.jacrev(gs.func.jacfwd(f)),
    "reverse twice": lambda f: gs.func.jacrev(gs.func.jacrev(f)),
    "forward twice": lambda f: gs.func.jacfwd(gs.func.jacfwd(f)),
    "three times": lambda f: gs.func.jacfwd(gs.func.jacrev(gs.func.jacfwd(f))),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", OF_TRANSFORMS)
def test_derivatives_by_transforms(name, transform):
    """Views have the tangents of their bases when they are computed again, and tangents may be gone by then."""
    function, of = OF_TRANSFORMS[name], TRANSFORMS[transform]
    x = gs.tensor([[0.5, -1.0, 2.0, 1.5]], dtype=gs.float64)
    found = of(lambda x: checkpoint(function, x, use_reentrant=False))(x)
    np.testing.assert_allclose(found.numpy(), of(function)(x).numpy(), rtol=1e-13)


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.parametrize(
    "norm, momentum", [(gs.nn.BatchNorm1d, 0.25), (gs.nn.BatchNorm1d, None), (gs.nn.InstanceNorm1d, 0.25)]
)
def test_running_statistics_count_both_runs(norm, momentum, use_reentrant):
    """Also where the normalization is the last op that saves something, and so the one that ends the second run."""
    x = gs.tensor(np.random.default_rng(0).normal(size=(4, 3, 5)), requires_grad=True)
    alone, checkpointed = (norm(3, momentum=momentum, track_running_stats=True).double() for _ in range(2))
    for _ in range(2):
        alone(x)
        alone(x).sum().backward()
    expected, x.grad = x.grad, None
    for _ in range(2):
        checkpoint(lambda x: checkpointed(x * 1.0), x, use_reentrant=use_reentrant).sum().backward()
    assert x.grad.tolist() == expected.tolist()
    assert checkpointed.state_dict().keys() == alone.state_dict().keys()
    for name, value in alone.state_dict().items():
        assert checkpointed.state_dict()[name].tolist() == value.tolist(), name
