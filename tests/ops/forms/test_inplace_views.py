"""In-place forms of view ops: the tensor becomes the view, and its history follows, as in PyTorch.

The tests hold PyTorch's answers: shapes, names of nodes, versions, gradients, and what is refused.
"""

import numpy as np
import pytest
from table import CASES

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradsmith.verify.calls import call, call_method
from gradsmith.verify.numeric import weights_like
from gradsmith.verify.samples import as_tensors

VIEWS = [case for case in CASES if "inplace" in case.row.forms and case.row.is_view]
every_view = pytest.mark.parametrize("case", VIEWS, ids=[case.id for case in VIEWS])

CHANGES = {
    "squeeze_": lambda x: x.squeeze_(),
    "squeeze_(0)": lambda x: x.squeeze_(0),
    "squeeze_((0, 1))": lambda x: x.squeeze_((0, 1)),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
    "transpose_": lambda x: x.transpose_(1, 2),
    "swapaxes_": lambda x: x.swapaxes_(axis0=1, axis1=2),
    "swapdims_": lambda x: x.swapdims_(1, 2),
    "as_strided_": lambda x: x.as_strided_((6,), (1,)),
}
every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())


def changed(case, tensors):
    return call_method(case.row, tensors, name=f"{case.row.base}_")


def box(requires_grad=False):
    return gs.arange(6.0).reshape(1, 2, 3).clone().requires_grad_(requires_grad)


def weighted(t):
    """A function of `t` whose gradient tells its elements apart."""
    return (t * gs.arange(1.0, 1.0 + t.numel()).reshape(t.shape)).sum()


def node(t):
    return None if t.grad_fn is None else t.grad_fn.name()


# ---- what changes


@every_view
def test_the_tensor_becomes_the_view(case):
    tensors = as_tensors(case.values())
    expected = call(case.row, as_tensors(case.values()))
    target = tensors["self"]
    assert changed(case, tensors) is target
    np.testing.assert_array_equal(target.numpy(), expected.numpy())
    assert (target.shape, target.stride()) == (expected.shape, expected.stride())
    assert target._version == 1 and not target._is_view() and target.grad_fn is None


@every_view
def test_gradients_are_those_of_the_view(case):
    def derivatives(root, leaf):
        (weights,) = weights_like([root.detach().numpy()], case.id)
        (first,) = grad(root * root, leaf, gs.tensor(weights), create_graph=True)
        return first.detach().numpy(), grad((first * first).sum(), leaf)[0].numpy()

    tensors, plain = as_tensors(case.values()), as_tensors(case.values())
    leaf, other = tensors["self"].requires_grad_(), plain["self"].requires_grad_()
    target = leaf * 1
    changed(case, {**tensors, "self": target})
    for found, expected in zip(derivatives(target, leaf), derivatives(call(case.row, plain), other)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@every_view
def test_meta_tensors_change_alike(case):
    tensors = as_tensors(case.values())
    without_data = {**tensors, "self": tensors["self"].to("meta")}
    target = changed(case, without_data)
    assert (target.shape, target.device, target._version) == (changed(case, tensors).shape, "meta", 1)


def test_a_dimension_out_of_range_changes_nothing():
    x = box()
    for refused in (lambda: x.unsqueeze_(5), lambda: x.transpose_(0, 3), lambda: x.as_strided_((9,), (1,)), x.t_):
        with pytest.raises((IndexError, RuntimeError)):
            refused()
    assert x.shape == (1, 2, 3) and x._version == 0


def test_an_expanded_tensor_may_change_its_shape():
    x = gs.ones(3, 1).expand(3, 4)
    x.t_()
    assert (x.shape, x.stride()) == ((4, 3), (0, 1))


def test_a_read_only_array_may_be_shown_otherwise():
    array = np.arange(6.0).reshape(2, 3)
    array.flags.writeable = False
    x = gs.from_numpy(array)
    x.t_()
    assert x.shape == (3, 2) and array.shape == (2, 3)
    with pytest.raises(ValueError, match="read-only"):
        x.zero_()


# ---- history


@every_change
def test_history_of_a_tensor(change):
    x = box(True)
    y = x * 1
    change(y)
    assert y._version == 1 and not y._is_view() and node(y) not in ("MulBackward0", "CopySlices")
    weighted(y).backward()
    assert x.grad.shape == x.shape
    assert sorted(x.grad.flatten().tolist()) == [1, 2, 3, 4, 5, 6]


@every_change
def test_history_of_a_view_and_of_its_base(change):
    x = gs.arange(12.0).reshape(2, 1, 2, 3).clone().requires_grad_()
    base = x * 1
    view = base[1]
    change(view)
    assert view._is_view() and view._base is base
    assert (view._version, base._version, node(base)) == (1, 1, "MulBackward0")
    assert node(view) not in ("AsStridedBackward0", "CopySlices")
    weighted(view).backward()
    found = x.grad.flatten().tolist()
    assert found[:6] == [0] * 6 and sorted(found[6:]) == [1, 2, 3, 4, 5, 6]


@every_change
def test_views_of_a_tensor_that_changes(change):
    x = box(True)
    base = x * 1
    view = base[0]
    change(base)
    assert node(view) == "AsStridedBackward0" and view.shape == (2, 3)
    (view.sum() * 2 + base.sum()).backward()
    assert x.grad.tolist() == [[[3, 3, 3], [3, 3, 3]]]


def test_writes_after_a_change():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    y.t_().mul_(2).squeeze_().add_(1)
    (y * gs.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_a_write_through_a_view_that_changed():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    view = y[0]
    view.unsqueeze_(0).mul_(3)
    assert (node(view), node(y)) == ("AsStridedBackward0", "CopySlices")
    (y * gs.arange(6.0).reshape(2, 3)).sum().backward()
    assert x.grad.tolist() == [[0, 3, 6], [3, 4, 5]]


def test_a_write_through_a_view_whose_base_changed():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    view = y.t()
    y.t_()
    view.mul_(3)
    (y * gs.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 6, 12], [3, 9, 15]]


def test_a_hook_keeps_its_history_and_a_retained_gradient_follows_the_tensor():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.shape))
    y.retain_grad()
    y.t_()
    weighted(y).backward()
    assert seen == [(2, 3)]
    assert y.grad.tolist() == [[1, 2], [3, 4], [5, 6]]  # PyTorch: the gradient of the tensor as it was


def test_a_view_that_changed_belongs_to_a_base_that_comes_to_require_grad():
    base = gs.ones(2, 3)
    view = base[0]
    view.unsqueeze_(0)
    base.requires_grad_()
    assert view.requires_grad and node(view) == "AsStridedBackward0"


# ---- what is refused


@every_change
def test_a_leaf_that_requires_grad_is_refused(change):
    x = box(True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used in an in-place operation"):
        change(x)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        change(x[:])
    assert x.shape == (1, 2, 3) and x._version == 0


@every_change
def test_what_a_graph_saved_is_not_used_in_another_shape(change):
    x, constant = box(True), box()
    product = x * constant
    change(constant)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    result = x.exp()
    change(result)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()
    inner = x * 1
    square = inner * inner
    change(inner)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()


def test_views_that_may_not_be_changed():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    with pytest.raises(RuntimeError, match="returns multiple views"):
        y.unbind()[0].unsqueeze_(0)
    with gs.no_grad():
        view = y[0]
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        view.unsqueeze_(0)


@every_change
def test_inference_tensors(change):
    with gs.inference_mode():
        x = box()
        change(x)
        other = box()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        change(other)
    assert other.shape == (1, 2, 3)


def test_a_view_outside_of_its_base_has_no_gradient():
    """In PyTorch it is zero, and a write through the view raises."""
    leaf = gs.arange(6.0, requires_grad=True)
    y = leaf * 1
    view = y[:2]
    y.as_strided_((2,), (1,), 3)
    with pytest.raises(RuntimeError, match="shows memory outside of its base"):
        view.sum().backward()
    with pytest.raises(RuntimeError, match="shows memory outside of its base"):
        view.mul_(2)
    gaps = leaf * 1
    between = gaps[1:4:2]
    gaps.as_strided_((3,), (2,))
    with pytest.raises(RuntimeError, match="shows memory outside of its base"):
        between.sum().backward()


# ---- without recording


def test_a_leaf_changes_under_no_grad():
    x = gs.ones(2, 3, requires_grad=True)
    with gs.no_grad():
        x.t_()
    assert (x.shape, x._version, x.is_leaf) == ((3, 2), 1, True)
    (x * gs.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_a_graph_from_before_gives_no_gradient_of_another_shape():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 2
    with gs.no_grad():
        x.t_()
    with pytest.raises(RuntimeError, match="invalid gradient"):
        y.sum().backward()
    inner = gs.ones(2, 3, requires_grad=True) * 1
    with gs.no_grad():
        inner.t_()
    assert node(inner) == "MulBackward0"
    with pytest.raises(RuntimeError, match="invalid gradient"):
        inner.sum().backward()


def test_a_view_changes_under_no_grad():
    x = gs.ones(2, 3, requires_grad=True)
    y = x * 1
    view = y[0]
    with gs.no_grad():
        view.unsqueeze_(0)
    assert (node(view), view.shape) == ("AsStridedBackward0", (1, 3))
    weighted(view).backward()
    assert x.grad.tolist() == [[1, 2, 3], [0, 0, 0]]


# ---- forward mode


@every_change
def test_tangents_change_with_the_tensor(change):
    with dual_level():
        primal, tangent = box(), box() * 10
        dual = make_dual(primal, tangent)
        change(dual)
        unpacked = unpack_dual(dual)
        assert unpacked.tangent.shape == dual.shape
        np.testing.assert_array_equal(unpacked.tangent.numpy(), dual.detach().numpy() * 10)
        assert primal.shape == (1, 2, 3)
        dual.mul_(2)
        np.testing.assert_array_equal(unpack_dual(dual).tangent.numpy(), unpack_dual(dual).primal.numpy() * 10)


def test_tangents_of_a_view_that_changes():
    with dual_level():
        dual = make_dual(gs.arange(6.0).reshape(2, 3), gs.arange(6.0).reshape(2, 3) * 10)
        view = dual[1]
        view.unsqueeze_(1)
        assert unpack_dual(view).tangent.tolist() == [[30], [40], [50]]
        dual.t_()
        assert unpack_dual(view).tangent.tolist() == [[30], [40], [50]]
        view.mul_(2)
        assert unpack_dual(dual).tangent.tolist() == [[0, 60], [10, 80], [20, 100]]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("op", "expected"), [(lambda x: x[gs.tensor(True)], 1.0), (lambda x: x * 2, 2.0)])
def test_a_root_of_another_shape_than_its_graph_has_recorded(op, expected, create_graph):
    x = gs.tensor(3.0, requires_grad=True)
    y = op(x)
    with gs.no_grad():
        y.unsqueeze_(0).unsqueeze_(0)
    (grad,) = gs.autograd.grad(y, x, gs.ones(y.shape), create_graph=create_graph)
    assert grad.item() == expected and grad.shape == ()

    z = gs.tensor([3.0, 4.0], requires_grad=True)[gs.tensor([True, True])]
    with gs.no_grad():
        z.unsqueeze_(1)
    with pytest.raises(RuntimeError, match=r"got \[2, 1\] but expected shape compatible with \[2\]"):
        z.backward(gs.ones(2, 1))
