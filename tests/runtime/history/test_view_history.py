"""Views: what they require, keep and refuse, by how they were made and written since. The answers are PyTorch's."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad as fw

VIEWS = {
    "element": lambda x: x[0],
    "slice": lambda x: x[1:3],
    "view": lambda x: x.view(2, 2),
    "expand": lambda x: x.expand(2, 4),
    "all": lambda x: x[:],
    "unbind": lambda x: x.unbind()[1],
    "split": lambda x: x.split(2)[0],
}
MODES = {"no_grad": gs.no_grad, "inference_mode": gs.inference_mode}
views = pytest.mark.parametrize("view", VIEWS)
modes = pytest.mark.parametrize("mode", MODES)


def leaf():
    return gs.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)


def number():
    return gs.tensor(2.0, requires_grad=True)


def made_in(mode, view, base):
    with MODES[mode]():
        return VIEWS[view](base)


# ---- views made while nothing was recorded


@modes
@views
@pytest.mark.parametrize("base", [leaf, lambda: leaf() * 2])
def test_such_a_view_requires_grad_and_leads_nowhere(base, view, mode):
    x = base()
    w = made_in(mode, view, x)
    assert (w.requires_grad, w.is_leaf, w.grad_fn, w._is_view()) == (True, True, None, True)
    result = (w * 2).sum()
    assert result.requires_grad
    assert gs.autograd.grad(result, [x, w], allow_unused=True) == (None, None)


@modes
@views
def test_a_view_of_such_a_view_has_a_node_that_leads_nowhere(view, mode):
    x = leaf()
    inner = made_in(mode, view, x)[..., None]
    assert inner.grad_fn is not None
    assert inner.grad_fn.next_functions == ((None, 0),)


@modes
@views
def test_it_stops_requiring_grad_with_its_base(view, mode):
    x = leaf()
    w = made_in(mode, view, x)
    x.requires_grad_(False)
    assert not w.requires_grad
    y = leaf() * 1
    v = made_in(mode, view, y)
    y.detach_()
    assert not v.requires_grad


@modes
def test_it_becomes_a_leaf_when_it_is_told_to(mode):
    x = leaf()
    w = made_in(mode, "slice", x)
    assert w.requires_grad_() is w
    (w * 3).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [3, 3])
    assert x.grad is None
    w.requires_grad_(False)
    assert w.requires_grad  # its base does


@modes
@views
@pytest.mark.parametrize("base", [leaf, lambda: leaf() * 2, lambda: leaf().detach()])
def test_it_is_not_written_with_what_requires_grad(base, view, mode):
    w = made_in(mode, view, base())
    before = w.detach().numpy().copy()
    with pytest.raises(RuntimeError):
        w.mul_(number())
    np.testing.assert_array_equal(w.detach().numpy(), before)


# ---- inference tensors have no views


@pytest.mark.parametrize("mode", [gs.no_grad, gs.inference_mode, gs.enable_grad])
@views
def test_a_view_of_an_inference_tensor_is_an_inference_tensor(view, mode):
    with gs.inference_mode():
        t = leaf().detach().clone()
    with mode():
        w = VIEWS[view](t)
    assert w.is_inference()
    assert not w._is_view()
    assert w._base is None
    assert w.detach_() is w
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        w.mul_(2)
    with gs.inference_mode():
        VIEWS["slice"](t).zero_()
    np.testing.assert_array_equal(t.numpy(), [1, 0, 0, 4])


# ---- retained gradients


@pytest.mark.parametrize("write", [lambda w: w.mul_(3), lambda w: w.mul_(number()), lambda w: w.zero_()])
@pytest.mark.parametrize("view", ["element", "slice", "view", "all"])
def test_a_retained_gradient_is_of_the_view_as_it_is_now(view, write):
    y = leaf() * 2
    w = VIEWS[view](y)
    before = w * 1
    w.retain_grad()
    write(w)
    (before.sum() + y.sum()).backward()
    assert w.grad is None
    assert w.retains_grad


def test_it_is_kept_when_the_view_is_used_again():
    y = leaf() * 2
    w = y[1:3]
    before = w * 5
    w.retain_grad()
    w.mul_(3)
    (before.sum() + (w * 7).sum()).backward()
    np.testing.assert_array_equal(w.grad.numpy(), [7, 7])


# ---- a base that was detached


WRITES = {
    "add_": lambda w: w.add_(1),
    "mul_": lambda w: w.mul_(number()),
    "zero_": lambda w: w.zero_(),
    "copy_": lambda w: w.copy_(number()),
    "assignment": lambda w: w.__setitem__(..., 5.0),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", ["element", "slice", "view", "all"])
@pytest.mark.parametrize("base", [leaf, lambda: leaf() * 2])
def test_a_view_of_a_base_that_was_detached_is_not_written(base, view, write):
    y = base()
    w = VIEWS[view](y)
    y.detach_()
    assert (y.requires_grad, w.requires_grad) == (False, True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        WRITES[write](w)
    np.testing.assert_array_equal(y.numpy(), base().detach().numpy())


def test_its_gradient_goes_where_it_went_before():
    x = leaf()
    y = x * 2
    w = y[1:3]
    y.detach_()
    (w * 5).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 10, 10, 0])


def test_its_gradient_goes_nowhere_once_the_base_was_written():
    x = leaf()
    y = x * 2
    w = y[1:3]
    y.detach_()
    y.add_(1)
    assert w.requires_grad
    assert gs.autograd.grad((w * 5).sum(), x, allow_unused=True) == (None,)


def test_a_view_that_requires_grad_by_itself_is_not_written():
    w = leaf().detach()[1:3].requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        w.add_(1)


@pytest.mark.parametrize("make", [leaf, lambda: leaf() * 2, lambda: (leaf() * 2)[1:], lambda: leaf().detach()])
def test_nothing_is_detached_in_place_in_inference_mode(make):
    x = make()
    before = x.requires_grad, x.is_leaf
    with gs.inference_mode():
        assert x.detach_() is x
    assert (x.requires_grad, x.is_leaf) == before


# ---- views of constants that may not be written


class Part(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x[:2]

    @staticmethod
    def backward(ctx, grad):
        return None


class Same(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


@pytest.mark.parametrize("write", ["mul_", "copy_"])
@pytest.mark.parametrize("mode", [gs.no_grad, gs.inference_mode, gs.enable_grad])
@pytest.mark.parametrize("function", [Part, Same])
def test_a_view_that_a_function_made_of_a_constant(function, mode, write):
    x = leaf().detach()
    with mode():
        w = function.apply(x)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        WRITES[write](w)
    assert (x._version, w.requires_grad, x.requires_grad) == (0, False, False)
    w.mul_(2)  # no gradient is at stake
    np.testing.assert_array_equal(x[:2].numpy(), [2, 4])


@pytest.mark.parametrize("write", ["mul_", "copy_"])
def test_one_of_several_views_of_a_constant(write):
    x = leaf().detach()
    w = x.unbind()[1]
    with pytest.raises(RuntimeError, match="returns multiple views"):
        WRITES[write](w)
    assert not x.requires_grad


# ---- dual numbers


@pytest.mark.parametrize("tangent", [lambda dual: dual, lambda dual: dual * 2, lambda dual: dual[:].view(4)])
def test_a_tangent_has_no_tangent_at_its_level(tangent):
    x = leaf().detach()
    with fw.dual_level():
        dual = fw.make_dual(x, x)
        with pytest.raises(RuntimeError, match="the tangent has a forward gradient of its own"):
            fw.make_dual(x.clone(), tangent(dual))
        plain = fw.make_dual(x.clone(), fw.unpack_dual(dual).tangent)
        np.testing.assert_array_equal(fw.unpack_dual(plain).tangent.numpy(), x.numpy())


def test_it_may_have_one_at_another_level():
    x = leaf().detach()
    with fw.dual_level():
        outer = fw.make_dual(x, x)
        with fw.dual_level():
            inner = fw.make_dual(x.clone(), outer)
            tangent = fw.unpack_dual(inner).tangent
        np.testing.assert_array_equal(fw.unpack_dual(tangent).tangent.numpy(), x.numpy())
