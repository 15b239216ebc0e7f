"""Hooks of tensors, leaves and nodes: order, replacement, removal, checks."""

import numpy as np
import pytest

import gradsmith as gs


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def test_order_on_one_path():
    x = leaf([1.0])
    log = []
    y = x * 2
    y.register_hook(lambda g: log.append("tensor 1"))
    y.register_hook(lambda g: log.append("tensor 2"))
    y.grad_fn.register_prehook(lambda g: log.append("prehook"))
    y.grad_fn.register_hook(lambda gi, go: log.append("hook"))
    x.register_hook(lambda g: log.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("post"))
    y.sum().backward()
    assert log == ["tensor 1", "tensor 2", "prehook", "hook", "leaf", "post"]


def test_replacing_a_gradient():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [20.0, 20.0])


def test_leaf_hook_sees_the_sum_once():
    x = leaf([1.0])
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [5.0]


def test_post_accumulate_hook_sees_grad():
    x = leaf([1.0])
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert seen == [2.0, 5.0]
    gs.autograd.grad((x * 2).sum(), x)
    assert seen == [2.0, 5.0]


def test_retain_grad_is_last():
    x = leaf([1.0])
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 7)
    y.sum().backward()
    assert y.grad.item() == 7.0 and y.retains_grad
    x.retain_grad()  # nothing to do for a leaf
    assert not x.retains_grad


def test_retained_gradient_follows_an_inplace_change():
    x = leaf([3.0])
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.sum().backward()
    assert y.grad.item() == 1.0
    assert x.grad.item() == 10.0


def test_removal():
    x = leaf([1.0])
    handle = x.register_hook(lambda g: g * 100)
    handle.remove()
    handle.remove()
    x.sum().backward()
    assert x.grad.item() == 1.0
    with x.register_hook(lambda g: g * 100):
        pass
    x.sum().backward()
    assert x.grad.item() == 2.0


def test_what_a_hook_may_return():
    x = leaf([1.0, 2.0])

    def bad(value):
        y = x * 2
        y.register_hook(lambda g: value(g))
        return y.sum()

    with pytest.raises(TypeError, match="returned float"):
        bad(lambda g: 1.0).backward()
    with pytest.raises(RuntimeError, match="changed the size"):
        bad(lambda g: g.sum()).backward()
    with pytest.raises(RuntimeError, match="changed the type"):
        bad(lambda g: g.to(gs.float32)).backward()
    assert x.grad is None


def test_node_hook_must_return_all_gradients():
    x = leaf([1.0])
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]))
    with pytest.raises(RuntimeError, match="incorrect number of values \\(got 2, but expected 1\\)"):
        y.sum().backward()


def test_registration_is_checked():
    plain = gs.ones(2)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        plain.register_hook(print)
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        plain.retain_grad()
    with pytest.raises(RuntimeError, match="non-leaf"):
        (leaf([1.0]) * 2).register_post_accumulate_grad_hook(print)
    with pytest.raises(TypeError, match="callable"):
        leaf([1.0]).register_hook(3)
