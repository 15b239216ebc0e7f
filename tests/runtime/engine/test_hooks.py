"""Hooks of tensors, leaves and nodes: order, replacement, removal, checks."""

from collections import OrderedDict

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


def test_post_accumulate_hook_that_steps():
    x = leaf([0.0, 0.0])
    x.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.5))  # gives a tensor
    x.backward(gs.tensor([1.0, 2.0]))
    assert x.tolist() == [-0.5, -1.0]
    x.register_post_accumulate_grad_hook(lambda p: 5)
    with pytest.raises(TypeError, match="post-accumulate hook '<lambda>' returned int, expected None"):
        x.backward(gs.tensor([1.0, 2.0]))


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


@pytest.mark.parametrize("shape", [(), (3,), (1, 3)])
def test_a_retained_gradient_has_memory_of_its_own(shape):
    """It may be changed without a change of the gradient that was given, of what hooks saw, and of other gradients."""
    x = gs.ones(shape, requires_grad=True)
    first = x.clone()
    middle = first.view(shape)
    spread = middle.expand(2, *shape)
    seen, instead = [], gs.full((2, *shape), 3.0)
    middle.register_hook(seen.append)
    spread.register_hook(lambda gradient: (seen.append(gradient), instead)[1])
    for y in (first, middle, spread):
        y.retain_grad()
    given = gs.ones((2, *shape))
    spread.backward(given)
    retained = [first.grad, middle.grad, spread.grad]
    others = [x.grad, given, instead, *seen]
    for gradient in retained:
        gradient.fill_(7)
        assert (gradient == 7).all()
        gradient.zero_()
        assert all(not (other == 7).any() for other in (*others, *retained))
    assert x.grad.tolist() == gs.full(shape, 6.0).tolist() and (given == 1).all() and (instead == 3).all()


def test_retained_gradients_of_a_sum_may_be_written():
    x = leaf([1.0, 2.0])
    y = x * 1
    y.retain_grad()
    y.sum().backward()
    y.grad[0] = 5
    assert y.grad.tolist() == [5.0, 1.0] and x.grad.tolist() == [1.0, 1.0]


def test_retained_gradient_follows_an_inplace_change():
    x = leaf([3.0])
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.sum().backward()
    assert y.grad.item() == 1.0
    assert x.grad.item() == 10.0


def test_hooks_stay_with_the_history_they_were_set_on():
    """R118."""
    x = leaf([1.0])
    y = x * 2
    log = []
    y.register_hook(lambda g: log.append(("before", g.item())))
    y.mul_(5)
    y.register_hook(lambda g: log.append(("after", g.item())))
    y.backward()
    assert log == [("after", 1.0), ("before", 5.0)]


def test_gradients_replaced_around_a_node():
    """H4, H5: a prehook replaces incoming gradients, a hook outgoing ones."""
    x, w = leaf([1.0]), leaf([3.0])
    y = x * w
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 100, None))
    y.backward()
    assert x.grad.item() == 3000.0 and w.grad is None


def test_what_node_hooks_may_return():
    for hook, error, message in (
        (lambda grads: (grads[0], grads[0]), RuntimeError, r"incorrect number of values \(got 2, but expected 1\)"),
        (lambda grads: grads[0], TypeError, "expected tuple, but hook '<lambda>' of ExpBackward0 returned 'Tensor'"),
    ):
        y = leaf([1.0]).exp()
        y.grad_fn.register_prehook(hook)
        with pytest.raises(error, match=message):
            y.backward()


def test_the_whole_order():
    """H13: with a retained gradient, and a node after which the next one's hooks come."""
    x = leaf([1.0])
    y = x * 2
    z = y * 3
    log = []

    def replacing(name, factor):
        return lambda g: (log.append((name, g.item())), g * factor)[1]

    y.retain_grad()
    y.register_hook(replacing("first", 5))
    y.register_hook(replacing("second", 7))
    y.grad_fn.register_prehook(lambda grads: log.append(("prehook", grads[0].item(), y.grad.item())))
    z.grad_fn.register_hook(lambda inputs, outputs: log.append(("hook of z", inputs[0].item())))
    y.grad_fn.register_hook(lambda inputs, outputs: log.append(("hook", inputs[0].item(), outputs[0].item())))
    accumulate = y.grad_fn.next_functions[0][0]
    x.register_hook(replacing("leaf", 2))
    accumulate.register_prehook(lambda grads: log.append(("accumulator", grads[0].item(), x.grad)))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t.grad.item())))
    accumulate.register_hook(lambda inputs, outputs: log.append(("end",)))
    z.backward()
    assert log == [
        ("hook of z", 3.0),
        ("first", 3.0),
        ("second", 15.0),
        ("prehook", 105.0, 105.0),
        ("hook", 210.0, 105.0),
        ("leaf", 210.0),
        ("accumulator", 420.0, None),
        ("accumulated", 420.0),
        ("end",),
    ]


def test_hooks_that_add_and_remove_hooks():
    """Those that are there when the gradient comes are called; the change counts from the next backward on."""
    x = leaf([1.0])
    log, handles = [], []

    def first(_):
        log.append("first")
        handles.pop().remove()
        x.register_hook(lambda g: log.append("third"))

    handle = x.register_hook(first)
    handles.append(x.register_hook(lambda g: log.append("second")))
    (x * 2).backward()
    assert log == ["first", "second"]
    handle.remove()
    (x * 2).backward()
    assert log == ["first", "second", "third"]


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


# ---- the dict of hooks


def leaf_and_result():
    x = gs.ones(2, requires_grad=True)
    return x, x * 1


def test_hooks_of_a_leaf_can_be_set_as_a_dict():
    x = gs.ones(2, requires_grad=True)
    x._backward_hooks = OrderedDict({1: lambda grad: grad * 3})
    handle = x.register_hook(lambda grad: grad * 2)
    assert len(x._backward_hooks) == 2
    (x * 1).sum().backward()
    assert x.grad.tolist() == [6, 6]
    handle.remove()
    assert len(x._backward_hooks) == 1


@pytest.mark.parametrize("which", [0, 1])
def test_none_takes_all_hooks_away(which):
    tensors = leaf_and_result()
    tensors[which].register_hook(lambda grad: grad * 3)
    tensors[which]._backward_hooks = None
    assert not tensors[which]._backward_hooks
    tensors[1].sum().backward()
    assert tensors[0].grad.tolist() == [1, 1]


def test_hooks_are_a_dict():
    x = gs.ones(2, requires_grad=True)
    for name in ("_backward_hooks", "_post_accumulate_grad_hooks"):
        with pytest.raises(TypeError, match=f"{name} must be a dict of hooks"):
            setattr(x, name, 3)


def test_post_accumulate_hooks_can_be_set_as_a_dict():
    x, seen = gs.ones(2, requires_grad=True), []
    x._post_accumulate_grad_hooks = OrderedDict({1: seen.append})
    x.sum().backward()
    assert len(seen) == 1 and seen[0] is x
    x._post_accumulate_grad_hooks = None
    x.sum().backward()
    assert len(seen) == 1
