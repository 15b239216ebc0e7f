"""Tensors that a custom Function saves: hooks on saved tensors see them, and `list_saved` lists them (F5, H8-H11)."""

import gc
import weakref

import numpy as np
import pytest
from custom_functions import make

import gradsmith as gs
from gradsmith.autograd import Function, graph


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


class Scaled(Function):
    """``x * y + x``: saves an input, nothing, an intermediate result and the output."""

    @staticmethod
    def forward(ctx, x, y):
        factor = y + 1
        result = x * factor
        ctx.save_for_backward(x, None, factor, result)
        return result

    @staticmethod
    def backward(ctx, g):
        x, nothing, factor, result = ctx.saved_tensors
        assert nothing is None
        np.testing.assert_allclose(result.numpy(force=True), (x * factor).numpy(force=True))
        return g * factor, g * x


def gradients_are_right(z, x, y):
    z.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.numpy(force=True) + 1)
    np.testing.assert_allclose(y.grad.numpy(), x.numpy(force=True))


def test_default_hooks():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    packed, unpacked = [], []

    def pack(t):
        packed.append(t.numpy(force=True).tolist())
        return len(packed) - 1, t.numpy(force=True)

    def unpack(kept):
        unpacked.append(kept[0])
        return gs.from_numpy(kept[1])

    with graph.saved_tensors_hooks(pack, unpack):
        z = Scaled.apply(x, y)
    assert packed == [[1.0, 2.0], [4.0, 5.0], [4.0, 10.0]]
    assert [raw.data and raw.data[0] for raw in z.grad_fn._raw_saved_tensors] == [0, None, 1, 2]
    gradients_are_right(z, x, y)
    assert unpacked == [0, 1, 2]


def test_hooks_on_one_of_them():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    z = Scaled.apply(x, y)
    raw = z.grad_fn._raw_saved_tensors
    assert [one.data is None for one in raw] == [False, True, False, False]
    calls = []
    for i in (0, 2, 3):
        raw[i].register_hooks(lambda t, i=i: (i, t * 2), lambda kept: calls.append(kept[0]) or kept[1] / 2)
    with pytest.raises(RuntimeError, match="only one pair of hooks"):
        z.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        raw[1].register_hooks(lambda t: t, lambda t: t)
    gradients_are_right(z, x, y)
    assert calls == [0, 2, 3]
    with pytest.raises(RuntimeError, match="has been freed"):
        raw[0].register_hooks(lambda t: t, lambda t: t)


def test_second_derivatives_through_hooks():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with graph.save_on_cpu():
        z = Scaled.apply(x, y)
    (first,) = gs.autograd.grad((z * z).sum(), y, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), y)
    np.testing.assert_allclose(second.numpy(), 2 * x.numpy(force=True) ** 2)


def test_what_is_listed():
    x, y = leaf(np.ones(10)), leaf(np.ones(10))
    z = Scaled.apply(x, y)
    assert [(entry.attribute, entry.nbytes) for entry in graph.list_saved(z)] == [("tensors", 80)] * 3
    z.sum().backward()
    assert not graph.list_saved(z)


def test_hooks_leave_no_garbage_behind():
    gc.collect()
    gc.disable()
    try:
        x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        z = Scaled.apply(x, y)
        z.grad_fn._raw_saved_tensors[3].register_hooks(lambda t: t.numpy(force=True), gs.from_numpy)
        gone = weakref.ref(z)
        z.sum().backward()
        del z
        assert gone() is None
    finally:
        gc.enable()


def test_without_anything_saved():
    twice = make(lambda ctx, x: x * 2, lambda ctx, g: g * 2)
    assert twice.apply(leaf([1.0])).grad_fn._raw_saved_tensors == ()
