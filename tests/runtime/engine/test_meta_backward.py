"""Backward of tensors without data, and gradients on another device."""

import pytest
from custom_functions import make

import gradsmith as gs
from gradsmith.autograd import grad

NO_DATA = "Cannot copy out of meta tensor; no data!"


def meta(*shape, **kwargs):
    return gs.ones(*shape, device="meta", **kwargs)


def test_gradients_accumulate_and_hooks_run():
    m = meta(2, 3, requires_grad=True)
    seen = []
    y = m.exp()
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("tensor", g.device)))
    y.grad_fn.register_prehook(lambda grads: seen.append(("node", grads[0].device)))
    m.register_hook(lambda g: g * 2)
    for _ in range(2):
        (y * y).sum().backward(retain_graph=True)
    assert (m.grad.shape, m.grad.device, y.grad.device) == ((2, 3), "meta", "meta")
    assert seen == [("tensor", "meta"), ("node", "meta")] * 2
    assert [entry.device for entry in y.grad_fn._input_metadata] == ["meta"]
    assert [entry.device for entry in gs.ones(2, requires_grad=True).exp().grad_fn._input_metadata] == ["cpu"]


def test_missing_gradients_are_zeros_on_the_right_device():
    m = meta(3, 2, requires_grad=True)
    values, _ = m.max(1)
    first, _ = m.unbind(1)
    (found,) = grad([values, first], m, [gs.ones_like(values), gs.ones_like(first)], create_graph=True)
    assert (found.shape, found.device) == ((3, 2), "meta")
    (unused,) = grad(m.sum(), meta(2, requires_grad=True), materialize_grads=True)
    assert (unused.shape, unused.device) == ((2,), "meta")


def test_the_first_gradient_is_on_the_device_of_its_root():
    m, x = meta(2, requires_grad=True), gs.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device meta but got cpu"):
        (m * 2).backward(gs.ones(2))
    with pytest.raises(RuntimeError, match="invalid gradient at index 0 - expected device cpu but got meta"):
        (x * 2).backward(meta(2))
    with pytest.raises(NotImplementedError, match=NO_DATA):
        x.sum().backward(gs.ones((), device="meta"))
    m.sum().backward(gs.tensor(1.0))
    assert m.grad.is_meta
    assert x.grad is None


def function_with_gradient(gradient):
    return make(lambda ctx, x: x * 2, lambda ctx, g: gradient(), name="Given").apply


def test_a_gradient_on_another_device_is_moved_or_refused():
    x, m = gs.ones(2, requires_grad=True), meta(2, requires_grad=True)
    with pytest.raises(
        RuntimeError, match="GivenBackward returned an invalid gradient at index 0 - expected device cpu"
    ):
        function_with_gradient(lambda: meta(2))(x).sum().backward()
    with pytest.raises(RuntimeError, match="expected device meta but got cpu"):
        function_with_gradient(lambda: gs.ones(2))(m * 1).sum().backward()

    number = gs.ones((), device="meta", requires_grad=True)
    function_with_gradient(lambda: gs.tensor(1.0))(number).backward()
    assert number.grad.is_meta
    with pytest.raises(NotImplementedError, match=NO_DATA):
        function_with_gradient(lambda: gs.ones((), device="meta"))(gs.tensor(1.0, requires_grad=True)).backward()


def test_saved_tensors_are_packed_and_unpacked():
    m = meta(2, requires_grad=True)
    packed = []
    with gs.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.device) or t, lambda t: t):
        y = m.exp() * m
    y.sum().backward()
    assert set(packed) == {"meta"}
    assert m.grad.is_meta


def test_a_saved_tensor_that_was_changed_is_noticed():
    m = meta(2, requires_grad=True)
    y = m.exp()
    y.mul_(2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_forward_mode():
    with gs.autograd.forward_ad.dual_level():
        dual = gs.autograd.forward_ad.make_dual(meta(2, 3), meta(2, 3))
        tangent = gs.autograd.forward_ad.unpack_dual(gs.softmax(dual * dual, 1).cumsum(0).sum(0)).tangent
        with pytest.raises(RuntimeError, match="a tangent on cpu for a primal on meta"):
            gs.autograd.forward_ad.make_dual(meta(2), gs.ones(2))
    assert (tangent.shape, tangent.device) == ((3,), "meta")


def test_what_is_kept_has_no_bytes():
    m = meta(100, requires_grad=True)
    listing = gs.autograd.graph.list_saved((m * m).exp())
    assert [(entry.shape, entry.nbytes, entry.shared) for entry in listing] == [((100,), 0, False)] * 3
