"""Reading and writing by index, and gathering."""

import re

import numpy as np
import pytest
from arrays import DTYPES, assert_near, assert_same, generator

from gradsmith.runtime.arrays.functions import indexed, view_index


def test_integers_come_before_index_arrays():
    array = generator.normal(size=(2, 3, 4))
    assert_same(indexed.index_of(array, (0, slice(None), np.array([1, 2]))), array[0][:, [1, 2]])
    assert_same(indexed.index_of(array, (np.array([0, 1]), ..., 3)), array[..., 3][[0, 1]])


def test_index_backward_adds_repeated_places():
    places = (np.array([0, 2, 0]), slice(None))
    values = generator.normal(size=(3, 4))
    expected = np.zeros((3, 4))
    np.add.at(expected, places, values)
    assert_near(indexed.index_backward_of(values, (3, 4), places), expected)
    assert_near(indexed.index_backward_of(1j * values, (3, 4), places), 1j * expected)


INDICES = [
    (np.array([0, -1, 0]),),
    (slice(None), np.array([[3, 0], [-4, 1]])),
    (np.array([0, 2]), np.array([[1], [-1]])),
    (np.array([0, 2]), np.array([1, 1]), np.array([-1, 0])),
    (slice(None), np.array([0, 0]), ...),
    (slice(1, 3), np.array([0, 0])),
    (np.array([0, 2]), slice(None), np.array([1, 1])),
    (None, np.array([1])),
    (np.array(2),),
    (np.array([], np.int64),),
    (np.array([1, 1], np.uint16),),
    (np.array([True, False, True]),),
    (np.array([True, False, True]), np.array([0, 1])),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("dtype", [*DTYPES, np.float16])
def test_index_and_its_transpose(index, dtype):
    array = (generator.normal(size=(3, 4, 2)) * 4).astype(dtype)
    found = indexed.index_of(array, index)
    assert_same(found, np.asarray(array[index]))
    expected = np.zeros_like(array)
    np.add.at(expected, index, found)
    assert_near(indexed.index_backward_of(found, array.shape, index), expected)


@pytest.mark.parametrize(
    ("index", "message"),
    [((np.array([3]),), "index 3 is out of bounds for dimension 0 with size 3"),
     ((slice(None), np.array([-5])), "index -5 is out of bounds for dimension 1 with size 4"),
     ((np.array([0, 1]), np.array([0, 1, 2])), r"could not be broadcast together with shapes \[2\], \[3\]"),
     ((np.array([0]), slice(None), slice(None)), "too many indices")],
)  # fmt: skip
def test_index_out_of_bounds(index, message):
    with pytest.raises(IndexError, match=message):
        indexed.index_of(np.zeros((3, 4)), index)


@pytest.mark.parametrize("dtype", [*DTYPES, np.float16])
def test_scatter_of_every_dtype(dtype):
    array, src = (np.array([[1, 0, 1], [1, 1, 0]]).astype(dtype) for _ in range(2))
    index = np.array([[0, 0, 1], [1, 0, 0]], np.int32)
    added, written = array.copy(), array.copy()
    columns = np.broadcast_to(np.arange(3), (2, 3))
    np.add.at(added, (index, columns), src)
    written[index, columns] = src
    assert_same(indexed.scatter_add_of(array, 0, index, src), added)
    assert_same(indexed.scatter_of(array, 0, index, src), written)
    assert_same(indexed.gather_of(array, 0, index), array[index, columns])


def test_basic_index_of_one_element_is_a_view():
    array = np.zeros((2, 2))
    view_index.basic_index_of(array, (0, 1))[...] = 5
    assert array[0, 1] == 5


def test_index_put_is_checked_before_anything_is_written():
    array = np.zeros((3, 4))
    with pytest.raises(RuntimeError, match=r"values of size \[3\]"):
        indexed.index_put_of(array, (np.array([0, 1]),), np.ones(3), False)
    with pytest.raises(RuntimeError, match="complex128 cannot be written"):
        indexed.index_put_of(array, (np.array([0, 1]),), np.ones(4) * 1j, False)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_and_its_transpose(dim):
    array, index = generator.normal(size=(3, 4)), generator.integers(0, 3, size=(2, 3))
    found = indexed.gather_of(array, dim, index)
    spread = indexed.scatter_add_of(np.zeros((3, 4)), dim, index, found)
    for place in np.ndindex(2, 3):
        source = list(place)
        source[dim] = index[place]
        assert found[place] == array[tuple(source)]
    np.testing.assert_allclose((spread * array).sum(), (found * found).sum())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a, i: indexed.gather_of(a, 0, i + 3), RuntimeError, "out of bounds for dimension 0 with size 3"),
        (lambda a, i: indexed.gather_of(a, 0, -i - 1), RuntimeError, "index -"),
        (lambda a, i: indexed.gather_of(a, 0, i.astype(float)), RuntimeError, "float64"),
        (lambda a, i: indexed.gather_of(a, 0, i[0]), RuntimeError, "same number of dimensions"),
        (lambda a, i: indexed.gather_of(a, 0, np.zeros((2, 5), int)), RuntimeError, "larger in dimension 1"),
        (lambda a, i: indexed.scatter_add_of(a, 0, i, a[:1]), RuntimeError, "does not cover"),
        (lambda a, i: indexed.index_select_of(a, 0, np.array([3])), IndexError, "out of range"),
        (lambda a, i: indexed.index_select_of(a, 0, i), IndexError, "vector"),
        (lambda a, i: indexed.index_add_of(a, 0, np.array([0]), a, 1), RuntimeError, r"want \[1, 4\]"),
        (lambda a, i: indexed.masked_fill_of(a, i, 0), RuntimeError, "only supports bool"),
        (lambda a, i: indexed.masked_fill_of(a, a > 0, np.zeros(2)), RuntimeError, "0-dimensional"),
        (lambda a, i: indexed.masked_select_of(a, a[:2] > 0), RuntimeError, "do not broadcast"),
    ],
)
def test_indexing_refuses(call, error, message):
    array, index = np.zeros((3, 4)), np.array([[0, 1, 2, 0], [1, 1, 1, 1]])
    before = array.copy()
    with pytest.raises(error, match=message):
        call(array, index)
    np.testing.assert_array_equal(array, before)


def test_index_add():
    array, source = generator.normal(size=(3, 4)), generator.normal(size=(3, 2))
    expected = array.copy()
    np.add.at(expected, (slice(None), np.array([3, 3])), 2 * source)
    assert_near(indexed.index_add_of(array, -1, np.array([3, 3]), source, 2), expected)


PLACES = {
    "rows": (np.array([0, 1, 1, 3]),),
    "columns": (slice(None), np.array([2, 0, 2])),
    "both": (np.array([-1, -1, 0]), np.array([0, 0, 2])),
    "steps between": (slice(1, None, 2), np.array([1, 1])),
    "apart": (np.array([0, 0, 2]), slice(None), np.array([1, 1, 1])),
    "in a table": (..., np.array([[0, 1], [1, 0]])),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "?"])
@pytest.mark.parametrize("index", PLACES.values(), ids=PLACES)
def test_repeated_places_add_up_in_every_dtype(index, dtype):
    """Also in memory that is not in order."""
    random = np.random.default_rng(0)
    array = random.integers(0, 3, size=(4, 3, 5)).astype(dtype)
    for a in (array, array.transpose(2, 1, 0)[::-1]):
        values = random.integers(0, 3, size=a[index].shape).astype(dtype)
        expected = a.copy()
        np.add.at(expected, index, values)
        found = indexed.index_put_of(a, index, values, True)
        np.testing.assert_array_equal(found, expected, strict=True)


MASKS = {
    "rows": (np.array([True, False, True, True]),),
    "columns": (slice(None), np.array([False, True, True])),
    "after an ellipsis": (..., np.array([True, False, True, False, True])),
    "of two dimensions": (np.arange(12).reshape(4, 3) % 5 < 2,),
    "of elements": (np.arange(60).reshape(4, 3, 5) % 7 == 0,),
    "none": (np.zeros(4, bool),),
    "with integers": (np.array([True, False, False, True]), np.array([2, 0])),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "i8", "u1"])
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("index", MASKS.values(), ids=MASKS)
def test_values_under_masks(index, accumulate, dtype):
    random = np.random.default_rng(0)
    array = random.integers(1, 9, size=(4, 3, 5)).astype(dtype)
    for a in (array, array[::-1].copy()[::-1]):
        values = random.integers(1, 9, size=a[index].shape).astype(dtype)
        expected = a.copy()
        expected[index] = a[index] + values if accumulate else values
        np.testing.assert_array_equal(indexed.index_put_of(a, index, values, accumulate), expected, strict=True)
        assert indexed.index_put_into(a, index, values, accumulate) == 0
        np.testing.assert_array_equal(a, expected, strict=True)


OVERLAPPING = {
    "values behind": (lambda x: (x[1:5],), lambda x: x[:4]),
    "values before": (lambda x: (x[:4],), lambda x: x[4:8]),
    "values the other way round": (lambda x: (np.arange(8),), lambda x: x[::-1]),
    "all": (lambda x: (x,), lambda x: x),
    "places alone": (lambda x: (x[:4],), lambda x: np.array([5, 5, 6, 6])),
    "one value": (lambda x: (x[2:6],), lambda x: x[3:4]),
    "under a mask": (lambda x: (np.array([True] * 4 + [False] * 4),), lambda x: x[1:5]),
}


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("case", OVERLAPPING)
def test_places_and_values_that_lie_in_what_is_written(case, accumulate):
    """They are what they were before the write."""
    index, values = OVERLAPPING[case]
    start = np.array([3, 1, 0, 2, 7, 6, 4, 5])
    expected, places, given = start.copy(), index(start), values(start)
    if accumulate:
        np.add.at(expected, places, given)
    else:
        expected[places] = given
    for memory in (start.copy(), np.repeat(start, 2)[::2], start[::-1].copy()[::-1]):
        indexed.index_put_into(memory, index(memory), values(memory), accumulate)
        np.testing.assert_array_equal(memory, expected)


VIEW_INDICES = [
    1, -1, slice(None), slice(1, None), slice(None, None, -1), slice(5, 1), slice(-2, None), slice(2, 0, -2), ..., None,
    (), (0, 1, 2), (-1, -2, -3), (slice(None), 1), (..., 0), (0, ...), (0, ..., 1), (None, 1, None, ..., slice(0, 2)),
    (slice(None, None, 2), slice(3, None), None, 0), (slice(0, 0), 1), (..., None), (1, 2, 3, ...),
    (np.int64(1), slice(None)), (slice(np.int64(1), None),),
]  # fmt: skip


@pytest.mark.parametrize("index", VIEW_INDICES, ids=str)
@pytest.mark.parametrize("array", [generator.normal(size=(2, 3, 4)), generator.normal(size=(4, 3, 2)).T[:, ::-1]])
def test_basic_index_selects_what_numpy_does(array, index):
    whole = index if isinstance(index, tuple) and ... in index else (*index, ...) if isinstance(index, tuple) else index
    expected = array[whole]
    found = view_index.basic_index_of(array, index)
    assert_same(found, expected)
    assert found.strides == expected.strides and found.flags.writeable
    assert found.ctypes.data == expected.ctypes.data


@pytest.mark.parametrize("index", VIEW_INDICES, ids=str)
@pytest.mark.parametrize("shape", [(2, 3, 4), (40, 50, 60)], ids=["small", "large"])
def test_basic_index_backward_is_zero_elsewhere(shape, index):
    expected = np.zeros(shape)
    expected[index] = values = generator.normal(size=np.shape(expected[index]))
    assert_same(view_index.basic_index_backward_of(np.asarray(values), shape, index), expected)


@pytest.mark.parametrize("index", [5, (0, 0, 0, 0), (slice(None), 10**30), slice(None, None, 0), 1.5, "a"])
def test_an_index_that_numpy_refuses_is_refused_in_its_words(index):
    array = generator.normal(size=(2, 3, 4))
    with pytest.raises((IndexError, ValueError)) as expected:
        array[index]
    with pytest.raises(expected.type, match=re.escape(str(expected.value))):
        view_index.basic_index_of(array, index)


@pytest.mark.parametrize("index", [45, -45, (0, 50), (slice(None), -51), 10**12, (0, 0, 0, 0)])
def test_basic_index_backward_refuses_places_outside(index):
    """Of a large array, whose zeros are written before the place is."""
    with pytest.raises(IndexError):
        view_index.basic_index_backward_of(np.zeros(()), (40, 50, 60), index)
