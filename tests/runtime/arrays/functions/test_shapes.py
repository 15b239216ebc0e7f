"""Reshaping, reordering, expanding and splitting: what shares memory, and what is refused."""

import itertools

import numpy as np
import pytest
from arrays import LAYOUTS, assert_same, axes_of, generator

from gradsmith.runtime.arrays.functions import reductions, shapes


def factorisations(total):
    sizes = [0, 1, 2, 3, 4, 6, 8, 12, 24]
    for length in (1, 2, 3):
        yield from (shape for shape in itertools.product(sizes, repeat=length) if np.prod(shape) == total)


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_reshape_shares_memory_exactly_when_numpy_does(array):
    for shape in factorisations(array.size):
        expected = array.reshape(shape)
        found = shapes.reshape_of(array, shape)
        assert_same(found, expected)
        if array.size:
            assert np.shares_memory(found, array) == np.shares_memory(expected, array)


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_reshape_that_copies_owns_its_memory_and_view_refuses(array):
    for shape in factorisations(array.size):
        found = shapes.reshape_of(array, shape)
        if np.shares_memory(found, array) or not array.size:
            assert_same(shapes.view_of(array, shape), array.reshape(shape))
            continue
        assert found.flags.owndata
        with pytest.raises(RuntimeError, match=r"Use \.reshape"):
            shapes.view_of(array, shape)


def test_reshape_infers_one_size():
    assert shapes.reshape_of(np.zeros((3, 4)), (2, -1)).shape == (2, 6)
    assert shapes.reshape_of(np.zeros((0, 4)), (-1, 2)).shape == (0, 2)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((5, 2), r"shape '\[5, 2\]' is invalid for input of size 12"),
        ((5, -1), r"shape '\[5, -1\]' is invalid for input of size 12"),
        ((-1, -1), "only one dimension can be inferred"),
        ((-2, 6), r"invalid shape dimension -2 at index 0 of shape \[-2, 6\]"),
        ((0, -1), r"shape '\[0, -1\]' is invalid for input of size 12"),
    ],
)
def test_reshape_refuses(shape, message):
    with pytest.raises(RuntimeError, match=message):
        shapes.reshape_of(np.zeros((3, 4)), shape)


def test_reshape_of_nothing_is_ambiguous():
    with pytest.raises(RuntimeError, match="ambiguous"):
        shapes.reshape_of(np.zeros((0, 4)), (0, -1))


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_orders_of_dimensions(array):
    assert_same(shapes.T_of(array), array.T)
    for one, other in itertools.product(range(-array.ndim, array.ndim), repeat=2):
        assert_same(shapes.transpose_of(array, one, other), np.swapaxes(array, one, other))
    for order in itertools.permutations(range(array.ndim)):
        assert_same(shapes.permute_of(array, order), array.transpose(order))


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_dimensions_of_size_one(array):
    assert_same(shapes.squeeze_of(array, None), array.squeeze())
    for dim in range(-array.ndim - 1, array.ndim + 1):
        assert_same(shapes.unsqueeze_of(array, dim), np.expand_dims(array, dim))
    for dim in range(-array.ndim, array.ndim):
        expected = array.squeeze(dim) if array.shape[dim] == 1 else array
        assert_same(shapes.squeeze_of(array, (dim,)), expected)


@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_restored_dimensions_are_those_of_keepdims(array):
    for axes in axes_of(array):
        for keep in (False, True):
            reduced = np.asarray(array.sum(axis=axes or None, keepdims=keep))
            found = shapes.restore_dims_of(reduced, array.ndim, axes, keep)
            assert found.shape == array.sum(axis=axes or None, keepdims=True).shape
            assert np.shares_memory(found, reduced) or not reduced.size


def test_expand():
    array = generator.normal(size=(3, 1))
    assert_same(shapes.expand_of(array, (2, -1, 4)), np.broadcast_to(array, (2, 3, 4)))
    assert_same(shapes.expand_of(np.array(1.0), (2, 2)), np.ones((2, 2)))
    assert shapes.expand_of(array, (3, 0)).shape == (3, 0)


@pytest.mark.parametrize(
    ("size", "message"),
    [((3,), r"sizes provided \(1\)"), ((4, 1), r"expanded size of the tensor \(4\)"), ((-1, 3, 1), "leading")],
)
def test_expand_refuses(size, message):
    with pytest.raises(RuntimeError, match=message):
        shapes.expand_of(np.zeros((3, 1)), size)


@pytest.mark.parametrize("array", [a for a in LAYOUTS if a.ndim], ids=str)
def test_parts_are_views(array):
    for dim in range(-array.ndim, array.ndim):
        length = array.shape[dim]
        assert_same(np.concatenate(shapes.split_of(array, 2, dim), dim), array)
        assert [part.shape[dim] for part in shapes.split_of(array, (length, 0), dim)] == [length, 0]
        slices = shapes.unbind_of(array, dim)
        assert len(slices) == length
        for index, found in enumerate(slices):
            assert_same(found, array.take(index, dim))
            assert np.shares_memory(found, array) or not array.size
        if length > 1:
            assert_same(shapes.narrow_of(array, dim, -2, 1), array.take([length - 2], dim))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: shapes.select_of(a, 0, 3), IndexError, r"index 3 out of range for tensor of size \[3, 4\]"),
        (lambda a: shapes.select_of(a, 2, 0), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
        (lambda a: shapes.select_of(np.array(1.0), 0, 0), IndexError, "0-dim"),
        (lambda a: shapes.narrow_of(a, 0, 1, 3), RuntimeError, r"start \(1\) \+ length \(3\) exceeds"),
        (lambda a: shapes.narrow_of(a, 0, 5, 0), IndexError, "start out of range"),
        (lambda a: shapes.narrow_of(a, 0, 0, -1), RuntimeError, "non-negative"),
        (lambda a: shapes.split_of(a, 0, 0), RuntimeError, "can only be 0"),
        (lambda a: shapes.split_of(a, (1, 1), 0), RuntimeError, "sum exactly to 3"),
        (lambda a: shapes.permute_of(a, (0, 0)), RuntimeError, "appears multiple times"),
        (lambda a: shapes.permute_of(a, (0,)), RuntimeError, "2 dimensions"),
        (lambda a: shapes.mT_of(a[0]), RuntimeError, "1-D"),
        (lambda a: shapes.t_of(a[None]), RuntimeError, "<= 2"),
    ],
)
def test_views_refuse(call, error, message):
    with pytest.raises(error, match=message):
        call(np.zeros((3, 4)))


def test_views_of_read_only_memory_are_read_only():
    array = np.zeros((3, 4))
    array.flags.writeable = False
    assert not shapes.T_of(array).flags.writeable


def test_more_dimensions_than_numpy_has():
    array = np.zeros((1,) * 64)
    with pytest.raises(RuntimeError, match="at most 64"):
        shapes.unsqueeze_of(array, 0)


# ---- dimensions


@pytest.mark.parametrize("dim", [2, -3, 100])
def test_dimension_out_of_range(dim):
    with pytest.raises(IndexError, match=rf"expected to be in range of \[-2, 1\], but got {dim}"):
        reductions.sum_of(np.zeros((3, 4)), (dim,), False, None)


def test_dimension_given_twice():
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times"):
        reductions.sum_of(np.zeros((3, 4)), (1, -1), False, None)


def test_a_number_accepts_the_dimension_it_could_have():
    assert reductions.sum_of(np.array(3.0), (-1,), False, None) == 3
    with pytest.raises(IndexError, match=r"\[-1, 0\], but got 1"):
        reductions.sum_of(np.array(3.0), (1,), False, None)


def test_a_number_is_its_own_transpose():
    number = np.array(2.0)
    assert shapes.mT_of(number).shape == () and np.shares_memory(shapes.mT_of(number), number)


@pytest.mark.parametrize(
    ("shape", "ndim", "dim"),
    [((3,), 2, None), ((3,), 200, None), ((3,), 200, 1), ((3,), -5, None), ((3,), 1, 0), ((2, 3), 2, 0), ((), 3, 1)],
)
def test_dimensions_that_a_result_has_not_lost_are_not_put_back(shape, ndim, dim):
    with pytest.raises((RuntimeError, IndexError), match="restore_dims|dimension"):
        shapes.restore_dims_of(np.ones(shape), ndim, dim, False)
