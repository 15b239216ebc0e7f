"""Ops that change several arguments: the family `changes` of the conformance table."""

import numpy as np
import pytest
from outside_tables import leaf

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad, gradcheck

pytestmark = pytest.mark.compiles


def test_both_are_changed_and_given_back(ops):
    a, b = gs.tensor([1.0, 2.0]), gs.tensor([3.0, 4.0])
    results = ops.exchanged_(a, b)
    assert results[0] is a and results[1] is b
    assert (a.tolist(), b.tolist()) == ([3, 4], [1, 2]) and a._version == b._version == 1
    one, two = a.rotated_(b, 0.5)
    assert one is a and two is b and a._version == 2


def test_gradients_of_both(ops):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    a, b = x * 1, y * 1
    ops.exchanged_(a, b)
    found = grad((a * a).sum() + b.sum(), (x, y))
    assert [g.tolist() for g in found] == [[1, 1], [6, 8]]


def rotated(ops, x, y):
    a, b = x * 1, y * 1
    ops.rotated_(a, b, 0.4)
    return a.sin() + b.cos()


def test_against_differences(ops):
    x, y = leaf(0.3, 0.7), leaf(-0.2, 0.5)
    assert gradcheck(lambda x, y: rotated(ops, x, y), (x, y), check_forward_ad=True)
    (first,) = grad(rotated(ops, x, y).sum(), x, create_graph=True)
    assert first.requires_grad
    assert gradcheck(lambda x: rotated(ops, x, y.detach()), (x,))


def test_one_of_two_has_a_history(ops):
    x, b = leaf(1.0), gs.tensor([2.0], dtype=gs.float64)
    a = x * 1
    ops.exchanged_(a, b)
    assert b.requires_grad and a.requires_grad
    assert grad(b.sum(), x)[0].tolist() == [1]


def test_through_views(ops):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    ops.exchanged_(y[:2], y[2:])
    assert y.tolist() == [3, 4, 1, 2]
    assert grad((y * gs.tensor([1.0, 2.0, 3.0, 4.0])).sum(), x)[0].tolist() == [3, 4, 1, 2]


def test_tangents_of_both(ops):
    with forward_ad.dual_level():
        a = forward_ad.make_dual(gs.tensor([1.0]), gs.tensor([10.0]))
        b = forward_ad.make_dual(gs.tensor([2.0]), gs.tensor([20.0]))
        ops.exchanged_(a, b)
        assert [forward_ad.unpack_dual(t).tangent.tolist() for t in (a, b)] == [[20], [10]]
        c = gs.tensor([5.0])
        ops.exchanged_(a, c)
        assert forward_ad.unpack_dual(c).tangent.tolist() == [20]
        found = forward_ad.unpack_dual(a).tangent
        assert found is None or found.tolist() == [0]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_is_refused_changes_nothing(ops, device):
    a, b = gs.ones(2, device=device), gs.zeros(3, device=device)
    with pytest.raises(RuntimeError, match="tensors of one shape are wanted"):
        ops.exchanged_(a, b)
    assert a._version == b._version == 0


def test_shared_memory_is_refused(ops):
    a = gs.tensor([1.0, 2.0, 3.0])
    for one, other in ((a, a), (a[:2], a[1:])):
        with pytest.raises(RuntimeError, match="'self' and 'other' share memory, but each is to be changed"):
            ops.exchanged_(one, other)
    assert a.tolist() == [1, 2, 3] and a._version == 0


def test_what_cannot_be_written_leaves_both_as_they_were(ops):
    a, b = gs.tensor([1.0]), gs.tensor([2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        ops.exchanged_(a, b)
    c = gs.tensor([3])
    with pytest.raises(RuntimeError, match="can't be cast"):
        ops.exchanged_(c, a)
    assert (a.tolist(), b.tolist(), c.tolist(), a._version, c._version) == ([1], [2], [3], 0, 0)


def test_what_was_saved_before_is_noticed(ops):
    x = leaf(1.0, 2.0)
    a, b = x * 1, gs.tensor(np.ones(2))
    square = a * a
    ops.exchanged_(a, b)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        grad(square.sum(), x)
