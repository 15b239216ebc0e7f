"""Tensors as autograd sees them: leaf or not, its accumulator, its data, its hooks (R100-R121)."""

import copy
import gc

import numpy as np
import pytest

import gradsmith as gs


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def accumulator(x):
    return (x * 1).grad_fn.next_functions[0][0]


# ---- leaves and flags


def test_what_few_tensors_have_is_none_at_first():
    """R100."""
    for t in (gs.ones(2), leaf(1.0), leaf(1.0).exp().detach()):
        assert (t.grad, t.grad_fn, t._base, t._backward_hooks, t._post_accumulate_grad_hooks) == (None,) * 5
        assert (t.output_nr, t._version, t.retains_grad, t._is_view()) == (0, 0, False, False)


def test_who_is_a_leaf_and_requires_grad():
    """R102, R103."""
    x, constant = leaf(1.0), gs.ones(1)
    y = x * 2
    found = [(t.is_leaf, t.requires_grad) for t in (x, constant, y, y.detach(), constant * 2)]
    assert found == [(True, True), (True, False), (False, True), (True, False), (True, False)]


def test_views_require_grad_with_their_base():
    """R102. In PyTorch the view of what became a leaf afterwards is a leaf too, and its gradient is lost."""
    base = gs.zeros(3, dtype=gs.float64)
    view = base[:2]
    assert not view.requires_grad
    base.requires_grad_()
    assert view.requires_grad
    (view * 3).sum().backward()
    assert base.grad.tolist() == [3, 3, 0]


def test_the_flag_of_a_leaf_can_be_taken_back():
    """R103."""
    x = leaf(1.0)
    y = x * 2
    assert x.requires_grad_(False) is x and not (x * 2).requires_grad
    y.backward()
    assert x.grad is None
    x.requires_grad = True
    assert (x * 2).requires_grad


# ---- accumulators


def test_a_leaf_has_one_accumulator_which_its_graphs_keep():
    """R104."""
    x = leaf(1.0)
    y, z = x * 2, x * 3
    one = y.grad_fn.next_functions[0][0]
    assert one is z.grad_fn.next_functions[0][0] and one.variable is x
    one.metadata["seen"] = True
    del one
    gc.collect()
    assert accumulator(x).metadata == {"seen": True}
    del y, z
    gc.collect()
    assert accumulator(x).metadata == {}


# ---- versions


@pytest.mark.parametrize("recording", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.add_(1),
        lambda t: t.__setitem__(0, 5.0),
        lambda t: t[1:].mul_(2),
        lambda t: t.view(2, 1).zero_(),
        lambda t: t.detach().exp_(),
        lambda t: gs.add(gs.ones(2), 1, out=t),
    ],
)
def test_every_change_counts_once(change, recording):
    """R106: seen by all that share the memory, also where nothing is recorded."""
    t = gs.ones(2)
    view, detached, data = t[:1], t.detach(), t.data
    with gs.set_grad_enabled(recording):
        change(t)
    assert (t._version, view._version, detached._version, data._version) == (1, 1, 1, 0)
    data.add_(1)
    assert (t._version, data._version) == (1, 1)


# ---- data


def test_data_that_is_assigned_brings_no_version():
    """R119: the tensor goes on counting its own changes, and what it saved stays as it was."""
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    with gs.no_grad():
        x.add_(1)
    data = gs.full((2,), 5.0, dtype=gs.float64)
    data.add_(1)
    data.add_(1)
    x.data = data
    assert (x._version, data._version) == (1, 2) and x.data_ptr() == data.data_ptr()
    with pytest.raises(RuntimeError, match="version 1; expected version 0"):
        y.backward()


def test_gradients_follow_the_data():
    """R119: of another shape or dtype. A graph over the old data has no place for its gradient any more."""
    x = leaf(1.0, 2.0)
    before = accumulator(x)
    old = (x * 2).sum()
    x.data = gs.ones(3)
    (x * 2).sum().backward()
    assert x.grad.shape == (3,) and x.grad.dtype == gs.float32
    with pytest.raises(RuntimeError, match=r"got \[2\] but expected shape compatible with \[3\]"):
        old.backward()
    assert before.variable is x


def test_data_of_an_intermediate():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.data = gs.full((2,), 5.0, dtype=gs.float64)
    assert y.grad_fn.name() == "MulBackward0"
    (y * y).sum().backward()
    assert x.grad.tolist() == [20, 20]


# ---- copies and conversions


def test_deep_copies_of_leaves():
    """R121."""
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    twin = copy.deepcopy(x)
    assert twin.is_leaf and twin.requires_grad and twin.grad.tolist() == [2, 4]
    (twin * 3).sum().backward()
    assert twin.grad.tolist() == [5, 7] and x.grad.tolist() == [2, 4]


def test_numbers_of_what_requires_grad():
    """R121: without a warning, which PyTorch gives."""
    assert float(leaf(2.0)[0]) == leaf(2.0).item() == 2.0
    np.testing.assert_array_equal(leaf(2.0).numpy(force=True), [2.0])


@pytest.mark.parametrize("convert", (float, int, complex))
def test_several_elements_are_no_python_number(convert):
    """A ValueError, as Python has it; `item` raises RuntimeError, as PyTorch's does."""
    with pytest.raises(ValueError, match=r"only one element tensors can be converted to Python scalars.*\[2\]"):
        convert(leaf(1.0, 2.0).detach())
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        leaf(1.0, 2.0).item()


@pytest.mark.parametrize("value", (True, False))
def test_the_flag_of_a_result_cannot_be_set(value):
    """Not even to what it is, while the method accepts that."""
    x = leaf(1.0, 2.0)
    for result in (x * 2, x[0], x.view(2)):
        with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf variables"):
            result.requires_grad = value
        assert result.requires_grad_() is result
    constant = gs.ones(3)[1:]
    constant.requires_grad = False
    constant.requires_grad = True
    assert constant.is_leaf and constant.requires_grad


# ---- hooks


def test_hooks_can_be_looked_at():
    x = leaf(1.0)
    first = x.register_hook(print)
    x.register_hook(repr)
    x.register_post_accumulate_grad_hook(len)
    assert list(x._backward_hooks.values()) == [print, repr]
    first.remove()
    assert list(x._backward_hooks.values()) == [repr]
    assert list(x._post_accumulate_grad_hooks.values()) == [len]
    low, high = (leaf(1.0, 2.0) * 1).split(1)
    high.register_hook(print)
    assert low._backward_hooks is None and list(high._backward_hooks.values()) == [print]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_deep_copies_share_what_was_shared(order):
    x = gs.arange(6.0).reshape(2, 3)
    own = (x, x[1:], x.T)
    found = copy.deepcopy(copy.deepcopy([own[place] for place in order]))
    whole, part, columns = (found[order.index(place)] for place in range(3))
    part.fill_(9.0)
    assert whole.tolist() == [[0, 1, 2], [9, 9, 9]] and columns[:, 1].tolist() == [9, 9, 9]
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (columns.stride(), part.storage_offset()) == ((1, 3), 3)


def test_deep_copies_of_parts():
    x = gs.arange(4.0)
    found = copy.deepcopy({"leaf": x.clone().requires_grad_(), "bits": x.view(gs.int32)[1:], "same": x.expand(2, 4)})
    assert found["bits"].tolist() == x.view(gs.int32)[1:].tolist() and found["same"].stride() == (0, 1)
    found["bits"].zero_()
    assert found["same"].tolist() == [[0, 0, 0, 0]] * 2 and found["leaf"].tolist() == x.tolist() == [0, 1, 2, 3]
    for empty in (gs.empty(0, 3), gs.ones(3)[:0], gs.tensor(1.0)[None]):
        assert copy.deepcopy(empty).equal(empty)


def test_elements_are_not_deleted():
    x = gs.ones(3)
    with pytest.raises(TypeError, match="does not support deleting items"):
        del x[0]
