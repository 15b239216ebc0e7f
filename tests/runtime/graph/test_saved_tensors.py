"""Saved tensors: how they are kept, checked and given back, and hooks on one of them (R80-R93)."""

import gc
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd.graph import saved_tensors_hooks


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def same(t):
    return t


# ---- what is kept


def test_an_input_is_kept_as_it_is():
    x = leaf([1.0, 2.0])
    y = x * x
    assert y.grad_fn._saved_self is x


def test_an_output_closes_no_cycle():
    x = leaf([1.0, 2.0])
    y = x.exp()
    reference = weakref.ref(y)
    gc.disable()
    try:
        del y
        assert reference() is None
    finally:
        gc.enable()


def test_a_saved_output_has_its_history():
    x = leaf([1.0, 2.0])
    y = x.exp()
    node = y.grad_fn
    assert node._saved_result.grad_fn is node
    del y
    assert node._saved_result.grad_fn is node
    (second,) = gs.autograd.grad(node._saved_result.sum(), x)
    np.testing.assert_allclose(second.numpy(), np.exp([1.0, 2.0]))


def test_detached_in_place_after_it_was_saved():
    x = leaf([1.0, 2.0])
    y = x * 2
    z = y * y
    y.detach_()
    with pytest.raises(RuntimeError, match="MulBackward0: .*detached in-place"):
        z.sum().backward()


def test_detached_in_place_before_it_is_saved():
    x = leaf([1.0, 2.0])
    y = (x * 2).detach_()
    (y * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])


def test_freed():
    x = leaf([1.0, 2.0])
    y = x * x
    raw = y.grad_fn._raw_saved_self
    y.sum().backward()
    for read in (lambda: y.grad_fn._saved_self, lambda: raw.unpack(), lambda: raw.data, lambda: y.sum().backward()):
        with pytest.raises(RuntimeError, match="second time"):
            read()


def test_an_op_on_a_view_frees_what_it_saved_too():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1.0
    y[0:2].mul_(x[1:])
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_nothing_is_kept_as_none():
    node = (leaf([1.0]) * gs.ones(1, dtype=gs.float64)).grad_fn
    assert node._saved_self is None
    assert node._raw_saved_self.data is None
    assert node._raw_saved_self.unpack() is None


# ---- hooks on one saved tensor


def test_hooks_on_one_saved_tensor():
    x = leaf([1.0, 2.0])
    w = leaf([3.0, 4.0])
    y = x * w
    calls = []
    y.grad_fn._raw_saved_other.register_hooks(lambda t: calls.append("pack") or t.numpy() * 10, gs.from_numpy)
    assert calls == ["pack"]
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [30.0, 40.0])
    np.testing.assert_array_equal(w.grad.numpy(), [1.0, 2.0])


@pytest.mark.parametrize("alive", [True, False])
def test_hooks_on_a_saved_output(alive):
    x = leaf([1.0, 2.0])
    y = x.exp()
    end = y.sum()
    node = y.grad_fn
    if not alive:
        del y
    node._raw_saved_result.register_hooks(lambda t: t * 2, same)
    (first,) = gs.autograd.grad(end, x, create_graph=True)
    np.testing.assert_allclose(first.numpy(force=True), 2 * np.exp([1.0, 2.0]))
    (second,) = gs.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(second.numpy(), 2 * np.exp([1.0, 2.0]))


def test_only_one_pair():
    y = leaf([1.0]) * leaf([2.0])
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="only one pair of hooks"):
        raw.register_hooks(same, same)
    with saved_tensors_hooks(same, same):
        y = leaf([1.0]) * leaf([2.0])
    with pytest.raises(RuntimeError, match="only one pair of hooks"):
        y.grad_fn._raw_saved_self.register_hooks(same, same)


def test_hooks_after_free():
    y = leaf([1.0]) * leaf([2.0])
    raw = y.grad_fn._raw_saved_self
    y.backward()
    with pytest.raises(RuntimeError, match="freed"):
        raw.register_hooks(same, same)


def test_hooks_on_none():
    y = leaf([1.0]) * gs.ones(1, dtype=gs.float64)
    with pytest.raises(RuntimeError, match="value None is forbidden"):
        y.grad_fn._raw_saved_self.register_hooks(same, same)


def test_hooks_must_be_callable():
    y = leaf([1.0]) * leaf([2.0])
    with pytest.raises(TypeError, match="pack_hook must be callable, got int"):
        y.grad_fn._raw_saved_self.register_hooks(1, same)
    with pytest.raises(TypeError, match="unpack_hook must be callable, got NoneType"), saved_tensors_hooks(same, None):
        pass


def test_a_tensor_changed_before_the_hooks_is_not_packed():
    y = leaf([1.0]) * 2
    z = y * y
    y.mul_(3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.grad_fn._raw_saved_self.register_hooks(same, same)


def test_pack_hook_that_changes_its_input():
    x = leaf([1.0, 2.0])
    y = x * 2
    z = y * y
    with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
        z.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), same)
    with pytest.raises(RuntimeError, match="pack hook is modifying"), saved_tensors_hooks(lambda t: t.mul_(2), same):
        y * y


def test_unpack_hook_that_gives_no_tensor():
    with saved_tensors_hooks(same, lambda t: 1):
        y = leaf([1.0]) * leaf([2.0])
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int.*MulBackward0"):
        y.backward()
    with pytest.raises(TypeError, match="unpack_hook"):
        _ = y.grad_fn._saved_self
