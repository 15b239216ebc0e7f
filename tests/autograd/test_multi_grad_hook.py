"""Hooks for the gradients of several tensors."""

import gc
import weakref

import pytest

import gradsmith as gs
from gradsmith.autograd.graph.multi_grad_hook import register_multi_grad_hook


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def test_all_waits_for_those_that_take_part():
    a, b = leaf(1.0), leaf(2.0)
    c, d = a * b, a * b
    log = []
    handle = register_multi_grad_hook((a, b, c, d), lambda grads: log.append([g is not None for g in grads]))
    c.sum().backward(retain_graph=True)
    c.sum().backward(inputs=[a], retain_graph=True)
    (c + d).sum().backward(retain_graph=True)
    handle.remove()
    c.sum().backward()
    assert log == [[True, True, True, False], [True, False, True, False], [True, True, True, True]]


def test_any_is_called_once_per_backward():
    a, b = leaf(1.0), leaf(2.0)
    c = a * b
    log = []
    with register_multi_grad_hook((a, b, c, leaf(1.0).detach()), lambda g: log.append(g.item()), mode="any"):
        c.sum().backward(retain_graph=True)
        c.sum().backward(retain_graph=True)
    c.sum().backward()
    assert log == [1.0, 1.0]


def test_an_undefined_gradient_counts():
    p, q = leaf(1.0, 2.0, 3.0, 4.0).chunk(2)
    log = []
    register_multi_grad_hook((p, q), lambda grads: log.append([g is not None for g in grads]))
    p.sum().backward()
    assert log == [[True, False]]


def test_a_failed_backward_does_not_disturb_the_next():
    a = leaf(1.0)
    y = a * 2
    log = []
    fail = [True]

    def hook(_):
        if fail[0]:
            raise ValueError("no")

    register_multi_grad_hook((a, y), lambda grads: log.append(len(grads)))
    y.register_hook(hook)
    with pytest.raises(ValueError, match="no"):
        y.sum().backward(retain_graph=True)
    fail[0] = False
    y.sum().backward()
    assert log == [2]


def test_arguments():
    a = leaf(1.0)
    with pytest.raises(ValueError, match="Expects mode"):
        register_multi_grad_hook((a,), print, mode="some")
    with pytest.raises(RuntimeError, match=r"tensors\[1\]"):
        register_multi_grad_hook((a, gs.ones(1)), print)


def test_nothing_is_kept_alive():
    a = leaf(1.0)
    y = a * 2
    register_multi_grad_hook((a, y), print)
    watch = weakref.ref(a)
    del a, y
    gc.collect()
    assert watch() is None


def test_hook_dict_of_a_tensor():
    """H14: hooks of one tensor also see gradients that arrive at another node."""
    a = leaf(1.0)
    y = a * 2
    z = a * 3
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    z.grad_fn._register_hook_dict(y)
    z.grad_fn._register_hook_dict(y)
    (z * 5).sum().backward()
    assert seen == [5.0]


def test_a_backward_inside_another_has_gradients_of_its_own():
    """Those of the outer one that have come already are still there when the inner one ends."""
    a, b = gs.tensor([2.0], requires_grad=True), gs.tensor([3.0], requires_grad=True)
    seen = []
    handle = gs.autograd.graph.register_multi_grad_hook((a, b), lambda grads: seen.append([g.item() for g in grads]))
    y = b * 1

    def inner(gradient):
        with gs.enable_grad():
            (5 * a + 7 * b).sum().backward()

    y.register_hook(inner)  # runs when the gradient of `a` has come
    ((y * 11).sum() + (a * 13).sum()).backward()
    handle.remove()
    assert sorted(seen) == [[5.0, 7.0], [13.0, 11.0]]
