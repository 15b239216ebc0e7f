"""The reentrant checkpoint, and what happens when the kind is left out (2.17; 2.18, 58)."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import graph
from gradsmith.utils.checkpoint import checkpoint, checkpoint_sequential


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def layer(x, w):
    return (x @ w).tanh() * x.exp()


def accumulated(result, *leaves):
    """Gradients that a backward adds to the leaves."""
    for one in leaves:
        one.grad = None
    result.sum().backward()
    return [one.grad.numpy() for one in leaves]


@pytest.fixture
def inputs():
    generator = np.random.default_rng(0)
    return leaf(generator.normal(size=(4, 4))), leaf(generator.normal(size=(4, 4)))


def test_gradients_are_those_of_the_function(inputs):
    expected = accumulated(layer(*inputs), *inputs)
    calls = []

    def function(x, w):
        calls.append(gs.is_grad_enabled())
        return layer(x, w)

    y = checkpoint(function, *inputs, use_reentrant=True)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    for one, other in zip(accumulated(y, *inputs), expected):
        np.testing.assert_allclose(one, other)
    assert calls == [False, True]


def test_only_the_arguments_are_kept(inputs):
    x, w = inputs
    y = checkpoint(lambda t: (t @ w).exp().sin().exp(), x, use_reentrant=True)
    assert [(entry.attribute, entry.nbytes) for entry in graph.list_saved(y)] == [("tensors", 128)]


def test_leaves_that_are_no_arguments(inputs):
    """The inner backward accumulates into them itself."""
    x, w = inputs
    expected = accumulated(layer(x, w), x, w)
    for one, other in zip(accumulated(checkpoint(lambda t: layer(t, w), x, use_reentrant=True), x, w), expected):
        np.testing.assert_allclose(one, other)


def test_several_results_and_other_arguments(inputs):
    x, w = inputs

    def function(a, scale, b, flag):
        return a * scale, "text" if flag else None, (a @ b).exp(), (a > 0).sum()

    first, text, second, count = checkpoint(function, x, 3.0, w, True, use_reentrant=True)
    assert text == "text"
    assert not count.requires_grad
    expected = accumulated(x * 3.0 + (x @ w).exp(), x, w)
    for one, other in zip(accumulated(first + second, x, w), expected):
        np.testing.assert_allclose(one, other)


def test_an_output_that_is_not_used(inputs):
    x, w = inputs
    first, _ = checkpoint(lambda a, b: (a.exp(), b.sin()), x, w, use_reentrant=True)
    np.testing.assert_allclose(accumulated(first, x)[0], np.exp(x.numpy(force=True)))


def test_nested(inputs):
    x, w = inputs
    for inside in (True, False):
        for outside in (True, False):

            def outer(t, inside=inside):
                return checkpoint(layer, t.cos(), w, use_reentrant=inside).exp()

            expected = accumulated(layer(x.cos(), w).exp(), x, w)
            for one, other in zip(accumulated(checkpoint(outer, x, use_reentrant=outside), x, w), expected):
                np.testing.assert_allclose(one, other)


def test_random_numbers_are_drawn_again():
    drawn = []

    def function(t):
        drawn.append(gs.rand(3, dtype=gs.float64))
        return t.exp() * drawn[-1]

    x = leaf(np.ones(3))
    y = checkpoint(function, x, use_reentrant=True)
    following = gs.get_rng_state()
    y.sum().backward()
    np.testing.assert_array_equal(drawn[0].numpy(), drawn[1].numpy())
    np.testing.assert_array_equal(gs.get_rng_state().numpy(), following.numpy())
    checkpoint(function, x, use_reentrant=True, preserve_rng_state=False).sum().backward()
    assert (drawn[2].numpy() != drawn[3].numpy()).any()


# ---- what is noticed


def test_gradients_of_some_inputs_only(inputs):
    x, w = inputs
    both_ways_out = (
        r"incompatible with .grad\(\) or passing an `inputs`(.|\n)*use_reentrant=False, or call .backward\(\)"
    )
    with pytest.raises(RuntimeError, match=both_ways_out):
        gs.autograd.grad(checkpoint(layer, x, w, use_reentrant=True).sum(), x)
    with pytest.raises(RuntimeError, match=both_ways_out):
        checkpoint(layer, x, w, use_reentrant=True).sum().backward(inputs=[x])
    assert x.grad is None
    assert accumulated(checkpoint(layer, x, w, use_reentrant=True), x, w)  # nothing has stayed behind


def test_no_input_requires_grad(inputs):
    _, w = inputs
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True") as caught:
        y = checkpoint(lambda t: t @ w, gs.ones(4, 4, dtype=gs.float64), use_reentrant=True)
    assert caught[0].filename == __file__
    assert not y.requires_grad


def test_nothing_to_go_back_through(inputs):
    y = checkpoint(lambda t: t.detach() * 2, inputs[0], use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.sum().backward()


def test_an_argument_that_was_changed():
    x = leaf([1.0]) * 1
    y = checkpoint(lambda t: t.exp(), x, use_reentrant=True)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_options_of_the_other_kind(inputs):
    with pytest.raises(ValueError, match="Unexpected keyword arguments: w"):
        checkpoint(layer, inputs[0], w=inputs[1], use_reentrant=True)
    for options in ({"debug": True}, {"context_fn": lambda: None}):
        with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
            checkpoint(layer, *inputs, use_reentrant=True, **options)


# ---- the kind is left out


def test_the_default_is_reentrant_and_warns(inputs):
    with pytest.warns(
        UserWarning, match="checkpoint: the use_reentrant parameter should be passed explicitly"
    ) as caught:
        y = checkpoint(layer, *inputs)
    assert caught[0].filename == __file__
    assert y.grad_fn.name() == "CheckpointFunctionBackward"


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequential(segments):
    functions = [gs.exp, gs.sin, gs.cos, gs.tanh, gs.exp]
    x = leaf([0.1, 0.2])
    expected = accumulated(x.exp().sin().cos().tanh().exp(), x)
    np.testing.assert_allclose(
        accumulated(checkpoint_sequential(functions, segments, x, use_reentrant=True), x)[0], expected[0]
    )
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant parameter"):
        found = checkpoint_sequential(functions, segments, x)
    np.testing.assert_allclose(accumulated(found, x)[0], expected[0])
