"""Selective checkpoints: which ops run again, what is kept, and what is noticed (2.17)."""

import doctest
import gc
import weakref
from collections import Counter
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import graph
from gradsmith.runtime.history.observers import install, uninstall
from gradsmith.runtime.observers.recorder import Recorder
from gradsmith.utils import selective_checkpoint
from gradsmith.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def selective(function, ops, *inputs, allow_cache_entry_mutation=False, **options):
    context_fn = partial(create_selective_checkpoint_contexts, ops, allow_cache_entry_mutation)
    return checkpoint(function, *inputs, use_reentrant=False, context_fn=context_fn, **options)


def gradients(result, *inputs, **options):
    return [g.numpy() for g in gs.autograd.grad(result.sum(), inputs, **options)]


def ops_run(call):
    """How often `call` runs each op, those inside others left out."""
    recorder = Recorder()
    install(recorder)
    try:
        call()
    finally:
        uninstall(recorder)
    return Counter(span.name for span in recorder.take() if span.kind == "op")


def ops_spared(function, ops, *inputs):
    """How often an op runs in the backward of a plain checkpoint, but not of a selective one."""
    plain = checkpoint(function, *inputs, use_reentrant=False, early_stop=False).sum()
    chosen = selective(function, ops, *inputs, early_stop=False).sum()
    return ops_run(plain.backward) - ops_run(chosen.backward)


def layer(x, w):
    return ((x @ w).sin() @ w).exp() * x


@pytest.fixture
def inputs():
    generator = np.random.default_rng(0)
    return leaf(generator.normal(size=(4, 4))), leaf(generator.normal(size=(4, 4)))


# ---- what runs again


@pytest.mark.parametrize("ops", [["matmul"], [gs.matmul], [gs.Tensor.matmul, "exp"], []])
@pytest.mark.parametrize("early_stop", [True, False])
def test_gradients_are_those_of_the_function(inputs, ops, early_stop):
    expected = gradients(layer(*inputs), *inputs)
    found = gradients(selective(layer, ops, *inputs, early_stop=early_stop), *inputs)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other)


def test_what_is_saved_does_not_run_again(inputs):
    assert ops_spared(layer, ["matmul"], *inputs) == {"matmul": 2}
    assert ops_spared(layer, [gs.exp, gs.sin], *inputs) == {"sin": 1, "exp": 1}
    assert ops_spared(layer, [], *inputs) == {}


def test_policies(inputs):
    asked = []

    def policy(ctx, op, *operands):
        assert not ctx.is_recompute
        asked.append((op, ctx.op_output.shape, [getattr(operand, "shape", operand) for operand in operands]))
        return {"matmul": CheckpointPolicy.PREFER_SAVE, "sin": True, "exp": False}.get(
            op, CheckpointPolicy.MUST_RECOMPUTE
        )

    y = selective(layer, policy, *inputs)
    assert asked[:2] == [("matmul", (4, 4), [(4, 4), (4, 4)]), ("sin", (4, 4), [(4, 4)])]
    assert [op for op, *_ in asked] == ["matmul", "sin", "matmul", "exp", "mul"]
    y.sum().backward()
    assert len(asked) == 5
    assert ops_spared(layer, policy, *inputs) == {"matmul": 2, "sin": 1}


def test_a_policy_may_compute(inputs):
    """Its own ops are not asked for."""
    asked = []

    def policy(ctx, op, *operands):
        asked.append(op)
        return ctx.op_output.detach().abs().sum().item() > 0

    found = gradients(selective(layer, policy, *inputs), *inputs)
    assert asked == ["matmul", "sin", "matmul", "exp", "mul"]
    for one, other in zip(found, gradients(layer(*inputs), *inputs)):
        np.testing.assert_allclose(one, other)


def test_several_results():
    def function(x):
        values, indices = x.max(1)
        first, second = (x * 2).unbind()
        return values * (indices + 1) * first.exp() * second

    x = leaf([[1.0, 2.0], [4.0, 3.0]])
    expected = gradients(function(x), x)
    np.testing.assert_allclose(gradients(selective(function, ["max", "mul", "exp"], x), x)[0], expected[0])


def test_what_is_never_saved():
    for op, why in (
        (gs.Tensor.transpose, "'transpose' gives a view"),
        ("mul_", "'mul_' writes in place"),
        ("copy_", "'copy_' writes in place"),
        ("gelu", r"'gelu' consists of other ops \(.+\)"),
    ):
        with pytest.raises(ValueError, match=why):
            create_selective_checkpoint_contexts([op])
    with pytest.raises(ValueError, match="there is no op 'matmull'"):
        create_selective_checkpoint_contexts(["matmull"])
    with pytest.raises(ValueError, match="expected an op of the list to be a function or a name, got 3"):
        create_selective_checkpoint_contexts([3])
    with pytest.raises(TypeError, match="either a function or a list of ops, got str"):
        create_selective_checkpoint_contexts("matmul")


def test_a_policy_has_to_answer(inputs):
    with pytest.raises(TypeError, match="should give a CheckpointPolicy for 'matmul', got NoneType"):
        selective(layer, lambda ctx, op, *operands: None, *inputs)


def test_views_and_writes_run_again(inputs):
    def function(x, w):
        y = (x @ w).t().exp()
        y = y + 1
        y.mul_(x)
        y[0] = w[1]
        return y.sin()

    everything = selective(function, lambda ctx, op, *operands: True, *inputs, allow_cache_entry_mutation=True)
    expected = gradients(function(*inputs), *inputs)
    for one, other in zip(gradients(everything, *inputs), expected):
        np.testing.assert_allclose(one, other)


# ---- the recomputed graph


def test_a_backward_inside(inputs):
    """It goes through what was given as through what was computed."""

    def function(x, w):
        y = (x @ w).sin()
        (g,) = gs.autograd.grad((y @ w).exp().sum(), x, create_graph=True)
        return y * g

    expected = gradients(function(*inputs), *inputs)
    for early_stop in (True, False):
        for one, other in zip(
            gradients(selective(function, ["matmul", "exp"], *inputs, early_stop=early_stop), *inputs), expected
        ):
            np.testing.assert_allclose(one, other)


def test_a_backward_inside_that_fails(inputs):
    """Nodes that fail are no ops."""

    def fail(gradient):
        raise KeyError("not now")

    def function(x, w):
        y = (x @ w).sin()
        z = y.exp()
        z.register_hook(fail)
        with suppress(KeyError):
            gs.autograd.grad(z.sum().exp().sum(), x)
        return y.cos() @ w

    expected = gradients(function(*inputs), *inputs)
    for one, other in zip(gradients(selective(function, ["matmul", "sin", "exp"], *inputs), *inputs), expected):
        np.testing.assert_allclose(one, other)


def test_second_derivatives_and_a_second_backward(inputs):
    x, w = inputs
    y = selective(layer, ["matmul", "exp"], x, w)
    (first,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    (expected_first,) = gs.autograd.grad(layer(x, w).sum(), x, create_graph=True)
    np.testing.assert_allclose(first.numpy(force=True), expected_first.numpy(force=True))
    for one, other in zip(gradients(first, x, w, retain_graph=True), gradients(expected_first, x, w)):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(gradients(y, x)[0], expected_first.numpy(force=True))


def test_nested(inputs):
    def outer(x, w):
        return selective(layer, ["exp"], x.cos(), w) @ w

    expected = gradients(layer(inputs[0].cos(), inputs[1]) @ inputs[1], *inputs)
    for ops in (["matmul"], ["cos", "matmul", "exp"], lambda ctx, op, *operands: True):
        for one, other in zip(gradients(selective(outer, ops, *inputs), *inputs), expected):
            np.testing.assert_allclose(one, other)


def test_forward_mode(inputs):
    x, w = inputs
    with gs.autograd.forward_ad.dual_level():
        dual = gs.autograd.forward_ad.make_dual(x, gs.ones_like(x))
        (found,) = gs.autograd.grad(selective(layer, ["matmul", "exp"], dual, w).sum(), w)
        (expected,) = gs.autograd.grad(layer(dual, w).sum(), w)
        tangents = [gs.autograd.forward_ad.unpack_dual(g).tangent.numpy(force=True) for g in (found, expected)]
    np.testing.assert_allclose(*tangents)


def test_an_op_that_fails(inputs):
    def function(x, w):
        with suppress(RuntimeError):
            x @ w[:2]
        return layer(x, w)

    expected = gradients(layer(*inputs), *inputs)
    for one, other in zip(gradients(selective(function, ["matmul"], *inputs), *inputs), expected):
        np.testing.assert_allclose(one, other)


# ---- memory


def test_what_is_kept_is_listed():
    x = leaf(np.ones(100))
    y = selective(lambda t: (t.sin() * 2).exp().cos(), ["exp"], x)
    (entry,) = graph.list_saved(y)
    assert (entry.attribute, entry.shape, entry.nbytes) == ("checkpoint", (100,), 800)
    assert graph.list_saved(checkpoint(lambda t: t.exp().sin(), x, use_reentrant=False)).total == 0
    y.sum().backward()
    assert graph.list_saved(y).total == 0


def test_no_garbage_is_left_for_the_collector():
    x = leaf(np.ones(10))
    inside = []

    def function(t):
        y = t.sin().exp()
        inside.append(weakref.ref(y))
        return y.cos().exp()

    gc.collect()
    gc.disable()
    try:
        y = selective(function, ["exp"], x)
        assert inside[0]() is None
        y.sum().backward()
        assert inside[1]() is None
        gone = weakref.ref(y)
        del y
        assert gone() is None
    finally:
        gc.enable()


# ---- what is noticed


def test_a_kept_result_that_was_changed():
    def function(t):
        y = t.sin()
        z = y * y
        y.add_(1)
        return z * y.exp()

    x = leaf([1.5])
    with pytest.raises(RuntimeError, match="Tensor cached during selective activation checkpoint has been mutated"):
        selective(function, ["sin"], x).backward()
    expected = gradients(checkpoint(function, x, use_reentrant=False), x)
    found = gradients(selective(function, ["sin"], x, allow_cache_entry_mutation=True), x)
    np.testing.assert_allclose(found[0], expected[0])


def test_other_ops_in_the_recomputation():
    switch = [True]

    def function(t):
        return (t.sin() if switch[0] else t.cos()).exp()

    y = selective(function, ["sin"], leaf([1.0]))
    switch[0] = False
    with pytest.raises(RuntimeError, match="op number 1 was 'sin' and is 'cos' now"):
        y.backward()

    def longer(t):
        return t.sin() if switch[0] else t.sin().exp()

    switch[0] = True
    y = selective(longer, ["sin"], leaf([1.0]), early_stop=False)
    switch[0] = False
    with pytest.raises(RuntimeError, match="'exp' ran after the last of 1 ops"):
        y.backward()


def test_contexts_serve_one_call():
    contexts = create_selective_checkpoint_contexts(["sin"])
    x = leaf([1.0])
    checkpoint(lambda t: t.sin(), x, use_reentrant=False, context_fn=lambda: contexts).backward()
    with pytest.raises(RuntimeError, match="have context_fn make new ones each time"):
        checkpoint(lambda t: t.sin(), x, use_reentrant=False, context_fn=lambda: contexts)


def test_examples_in_docstrings():
    failed, attempted = doctest.testmod(selective_checkpoint)
    assert failed == 0
    assert attempted > 0
