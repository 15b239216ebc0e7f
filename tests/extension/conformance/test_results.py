"""Results of several kinds: the family `results` of the conformance table."""

import numpy as np
import pytest
from outside_tables import leaf

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad

pytestmark = pytest.mark.compiles


def tangents(results):
    return [None if part is None else forward_ad.unpack_dual(part).tangent for part in results]


# ---- absent


def test_a_result_that_is_absent(ops):
    x = leaf(1.0, 2.0)
    results = ops.with_square(x)
    assert results.square is None and results._fields == ("twice", "square")
    assert grad(results.twice.sum(), x)[0].tolist() == [2, 2]
    results = x.with_square(True)
    assert grad((results.twice + results.square).sum(), x)[0].tolist() == [4, 6]
    assert grad(x.with_square(True).square.sum(), x)[0].tolist() == [2, 4]
    assert grad(x.with_square(True).twice.sum(), x)[0].tolist() == [2, 2]


def test_what_is_absent_is_not_kept(ops):
    x = leaf(1.0, 2.0)
    assert ops.with_exponential(x).twice.grad_fn._saved_exponential is None
    node = ops.with_exponential(x, True).twice.grad_fn
    np.testing.assert_allclose(node._saved_exponential.detach(), np.exp([1, 2]))


@pytest.mark.parametrize("name", ["with_square", "with_exponential"])
def test_tangents_of_what_may_be_absent(ops, name):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 10.0]))
        first, second = tangents(getattr(ops, name)(dual))
        assert first.tolist() == [2, 20] and second is None
        first, second = tangents(getattr(ops, name)(dual, True))
        slope = [2, 4] if name == "with_square" else np.exp([1, 2])
        np.testing.assert_allclose(second, np.multiply(slope, [1, 10]), rtol=1e-6)


def test_nothing_on_the_meta_device(ops):
    found = ops.with_square(gs.zeros(2, device="meta"))
    assert found.twice.is_meta and found.square is None


def test_second_derivatives_through_an_optional_result(ops):
    x = leaf(1.0, 2.0)
    (first,) = grad(ops.with_exponential(x, True).exponential.sum(), x, create_graph=True)
    np.testing.assert_allclose(grad(first.sum(), x)[0], np.exp([1, 2]))


# ---- a list beside other results


def test_a_list_beside_another_result(ops):
    x = leaf(1.0, 2.0, 3.0)
    pieces, total = results = ops.parted(x, 2)
    assert isinstance(results.pieces, tuple) and [p.tolist() for p in pieces] == [[3, 6], [9]]
    assert [t.output_nr for t in (total, *pieces)] == [0, 1, 2] and total.grad_fn is pieces[1].grad_fn
    assert grad(pieces[1].sum(), x, retain_graph=True)[0].tolist() == [0, 0, 3]
    assert grad(total, x, retain_graph=True)[0].tolist() == [1, 1, 1]
    assert grad(total + pieces[0].sum(), x)[0].tolist() == [4, 4, 1]


def test_a_list_of_none(ops):
    first, others = ops.first_and_others([leaf(1.0)])
    assert others == () and first.tolist() == [2]
    x = leaf(3.0)
    assert grad(ops.first_and_others([x]).first.sum(), x)[0].tolist() == [2]


def test_tangents_of_a_list_beside_another_result(ops):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([1.0, 2.0, 3.0]), gs.tensor([1.0, 10.0, 100.0]))
        pieces, total = ops.parted(x, 2)
        assert [t.tolist() for t in tangents(pieces)] == [[3, 30], [300]]
        assert tangents([total])[0].tolist() == 111
        y = gs.tensor([4.0])
        first, others = ops.first_and_others([y, x])
        assert tangents([first])[0].tolist() == [0] and tangents(others)[0].tolist() == [2, 40, 600]


# ---- a view beside a value


@pytest.mark.parametrize(("name", "value"), [("headed", "square"), ("copied_and_headed", "copied")])
def test_a_view_beside_a_value(ops, name, value):
    y = leaf(1.0, 2.0) * 1
    results = getattr(ops, name)(y)
    assert results.head._is_view() and results.head._base is y
    assert not getattr(results, value)._is_view()
    assert np.shares_memory(results.head.detach().numpy(), y.detach().numpy())
    assert not np.shares_memory(getattr(results, value).detach().numpy(), y.detach().numpy())
    getattr(results, value).mul_(2)
    assert y._version == results.head._version == 0 and y.tolist() == [1, 2]


def test_a_write_to_a_view_beside_a_value(ops):
    x = leaf(1.0, 2.0)
    y = x * 1
    head, square = ops.headed(y)
    kept = ops.copied_and_headed(y).copied
    head.mul_(3)
    assert y.tolist() == [3, 2] and y._version == head._version == 1 and square._version == 0
    assert grad(y.sum(), x, retain_graph=True)[0].tolist() == [3, 1]
    assert grad(head.sum(), x, retain_graph=True)[0].tolist() == [3, 0]
    assert grad(kept.sum(), x, retain_graph=True)[0].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        grad(square.sum(), x)


@pytest.mark.parametrize("name", ["headed", "copied_and_headed"])
def test_tangents_of_a_view_beside_a_value(ops, name):
    with forward_ad.dual_level():
        along = gs.tensor([1.0, 10.0])
        dual = forward_ad.make_dual(gs.tensor([1.0, 2.0]), along)
        results = getattr(ops, name)(dual)
        other = results.square if name == "headed" else results.copied
        assert tangents([results.head])[0].tolist() == [1]
        assert tangents([other])[0].tolist() == ([2, 40] if name == "headed" else [1, 10])
        assert along._version == 0 and along.tolist() == [1, 10]
        results.head.mul_(2)
        assert forward_ad.unpack_dual(dual).tangent.tolist() == [2, 10]


def test_an_index_that_is_out_of_range(ops):
    with pytest.raises(RuntimeError, match="a dimension is wanted"):
        ops.parted(gs.tensor(1.0), 2)
