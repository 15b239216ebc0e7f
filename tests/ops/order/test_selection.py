"""The first few elements, running extremes and searches: by their definitions, for all real dtypes."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.verify.references import ordered

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "longlong", "ulonglong"]
REAL = ["float16", "float32", "float64", "bool", *INTEGERS]


def array_of(dtype, shape, ties):
    """Elements many of which are equal, or of the whole range; of floats, with NaN, infinities and both zeros."""
    rng = np.random.default_rng(11)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu" and not ties:
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    if dtype.kind != "f":
        return rng.integers(0, 2 if dtype.kind == "b" else 5, shape).astype(dtype)
    array = np.round(rng.standard_normal(shape), 0 if ties else 9).astype(dtype)
    special = rng.random(shape)
    for number, value in enumerate((np.nan, np.inf, -np.inf, 0.0, -0.0)):
        array[(special > number / 10) & (special < (number + 1) / 10)] = value
    return array


def check(found, expected):
    values, places = (one.numpy() for one in found)
    np.testing.assert_array_equal(places, expected[1])
    np.testing.assert_array_equal(values, expected[0])
    assert values.dtype == expected[0].dtype and places.flags.c_contiguous


SHAPES = [((7,), 0), ((3, 1), 1), ((4, 33), -1), ((33, 4), 0), ((2, 70, 3), 1)]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_few_of_many_and_running_extremes(dtype, ties, shape, dim):
    array = array_of(dtype, shape, ties)
    for x in (array, array[::-1]):
        for k in sorted({0, 1, min(3, x.shape[dim]), min(64, x.shape[dim])}):
            for largest in (False, True):
                check(gs.topk(gs.tensor(x), k, dim, largest), ordered.topk(x, k, dim, largest))
        check(gs.cummax(gs.tensor(x), dim), ordered.cummax(x, dim))
        check(gs.cummin(gs.tensor(x), dim), ordered.cummin(x, dim))


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64"])
@pytest.mark.parametrize("ties", [False, True])
def test_long_rows(dtype, ties):
    x = array_of(dtype, 2500, ties)
    for largest in (False, True):
        check(gs.topk(gs.tensor(x), 40, 0, largest), ordered.topk(x, 40, 0, largest))


@pytest.mark.parametrize("order", ["ascending", "descending", "equal", "missing"])
def test_long_rows_in_order(order):
    """Each element of a row in order would be the best so far, or none of them."""
    x = np.arange(9000.0)
    x = {"ascending": x, "descending": x[::-1], "equal": x * 0, "missing": x * np.nan}[order]
    for largest in (False, True):
        check(gs.topk(gs.tensor(x), 40, 0, largest), ordered.topk(x, 40, 0, largest))


def test_a_transposed_tensor_and_one_without_elements():
    x = np.random.default_rng(3).standard_normal((40, 30))
    check(gs.topk(gs.tensor(x).T, 3, 1), ordered.topk(x.T, 3, 1))
    check(gs.cummax(gs.tensor(x).T, 0), ordered.cummax(x.T, 0))
    empty = gs.zeros(3, 0)
    assert gs.topk(empty, 0).indices.shape == gs.cummin(empty, 1).values.shape == (3, 0)
    assert gs.topk(empty, 2, 0).values.shape == (2, 0)
    assert gs.topk(gs.tensor(2.0), 1).indices.item() == gs.cummax(gs.tensor(2.0), 0).indices.item() == 0


def test_rows_and_columns_for_several_threads():
    x = np.round(np.random.default_rng(4).standard_normal((300, 400)), 1)
    queries, row = gs.tensor(x), np.sort(x[0])
    before = gs.get_num_threads()
    gs.set_num_threads(3)
    try:
        check(gs.topk(queries, 4), [part[:, :4] for part in ordered.sort(x, 1, True)])
        places = gs.cummax(queries, 0).indices.numpy()
        np.testing.assert_array_equal(np.take_along_axis(x, places, 0), np.maximum.accumulate(x, 0))
        np.testing.assert_array_equal(gs.bucketize(queries, gs.tensor(row)).numpy(), np.searchsorted(row, x))
    finally:
        gs.set_num_threads(before)


# ---- searches

PAIRS = [(dtype, dtype) for dtype in REAL] + [
    ("float32", "float64"), ("int64", "float32"), ("uint64", "int64"), ("float16", "int8"), ("bool", "float32"),
    ("uint8", "int8"),
]  # fmt: skip


@pytest.mark.parametrize(("of_row", "of_queries"), PAIRS, ids=str)
@pytest.mark.parametrize("length", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searches_as_numpy_has_them(of_row, of_queries, length, side):
    rows = np.sort(array_of(of_row, (3, length), True), 1)
    queries = array_of(of_queries, (3, 37), True)
    found = gs.bucketize(gs.tensor(queries), gs.tensor(rows[0]), right=side == "right", out_int32=True)
    np.testing.assert_array_equal(found.numpy(), np.searchsorted(rows[0], queries, side))
    assert found.dtype == gs.int32
    found = gs.searchsorted(gs.tensor(rows), gs.tensor(queries), side=side)
    np.testing.assert_array_equal(found.numpy(), [np.searchsorted(*pair, side) for pair in zip(rows, queries)])
    assert found.dtype == gs.int64


def test_searches_through_an_order():
    rng = np.random.default_rng(6)
    rows, queries = rng.standard_normal((3, 20)), rng.standard_normal((3, 5))
    order = np.argsort(rows, 1)
    found = gs.searchsorted(gs.tensor(rows), gs.tensor(queries), sorter=gs.tensor(order))
    expected = [np.searchsorted(row, one, sorter=places) for row, one, places in zip(rows, queries, order)]
    np.testing.assert_array_equal(found.numpy(), expected)
    order[1, 2] = 20
    with pytest.raises(ValueError, match="places from 0 to 19"):
        gs.searchsorted(gs.tensor(rows), gs.tensor(queries), sorter=gs.tensor(order))


def test_queries_in_order_and_strided_ones():
    rng = np.random.default_rng(7)
    row, queries = np.sort(rng.standard_normal(1000)), np.sort(rng.standard_normal(5000))
    x, boundaries = gs.tensor(queries), gs.tensor(row)
    for found, one in ((x, queries), (x.flip(0), queries[::-1]), (x[::3], queries[::3])):
        np.testing.assert_array_equal(gs.bucketize(found, boundaries).numpy(), np.searchsorted(row, one))
    assert gs.bucketize(0.3, gs.tensor([0.1, 0.2, 0.3])).item() == 2


# ---- ranks


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("length", [1, 2, 33, 300, 512, 513, 3000])
@pytest.mark.parametrize("dtype", REAL)
def test_ranks(dtype, length, ties):
    """Also of rows long enough to be made shorter, and in which a number comes again and again."""
    array = array_of(dtype, (3, length), ties)
    order = array.argsort(-1, kind="stable")
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    rows = np.arange(3)
    for k in sorted({1, length // 3 + 1, (length + 1) // 2, length}):
        places = order[:, k - 1]
        check(gs.kthvalue(gs.from_numpy(array), k), (array[rows, places], places))
        check(gs.kthvalue(gs.from_numpy(np.ascontiguousarray(array.T)), k, 0), (array[rows, places], places))
    places = np.where(missing.any(-1), missing.argmax(-1), order[:, (length - 1) // 2])
    check(gs.median(gs.from_numpy(array), 1), (array[rows, places], places))
    numbers = length - missing.sum(-1)
    places = order[rows, np.maximum(numbers - 1, 0) // 2]
    check(gs.nanmedian(gs.from_numpy(array), 1), (array[rows, places], places))
    for row in range(3):
        one = gs.from_numpy(array[row])
        middle = np.nan if missing[row].any() else array[row, order[row, (length - 1) // 2]]
        np.testing.assert_array_equal(gs.median(one).numpy(), middle)
        np.testing.assert_array_equal(gs.nanmedian(one).numpy(), array[row, places[row]])


@pytest.mark.parametrize("shape", ["ascending", "descending", "organ pipe", "one number", "one of many"])
def test_ranks_of_rows_in_order(shape):
    n = 20000
    row = np.arange(n, dtype=np.float64)
    row = {
        "ascending": row,
        "descending": -row,
        "organ pipe": np.minimum(row, n - row),
        "one number": row * 0,
        "one of many": np.where(row == 7, -1e300, 1e300 + row * 1e290),
    }[shape]
    order = row.argsort(kind="stable")
    for k in (1, 2, n // 2, n - 1, n):
        value, place = gs.kthvalue(gs.from_numpy(row), k)
        assert (value.item(), place.item()) == (row[order[k - 1]], order[k - 1])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8"])
def test_medians_of_few_elements(dtype):
    """The lower one of rows of every length, with ties, and the place of NaN."""
    rng = np.random.default_rng(3)
    for n in range(1, 40):
        x = rng.integers(0, 6, (30, n)).astype(dtype)
        if x.dtype.kind == "f":
            x[rng.random(x.shape) < 0.03] = np.nan
        values, places = (found.numpy() for found in gs.median(gs.tensor(x), 1))
        expected = np.sort(x, 1)[:, (n - 1) // 2]
        if x.dtype.kind == "f":
            expected[np.isnan(x).any(1)] = np.nan
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(np.take_along_axis(x, places[:, None], 1)[:, 0], values)


@pytest.mark.parametrize("median", [gs.median, gs.nanmedian])
@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
def test_medians_of_all_integers(median, dtype):
    """The lower one of two; of none the least integer that there is, as a NaN that is cast to a wide one."""
    for n in range(1, 9):
        x = np.random.default_rng(n).permutation(3 * n).astype(dtype)
        found = median(gs.tensor(x))
        assert found.dtype == gs.tensor(x).dtype
        assert found.item() == np.sort(x)[(x.size - 1) // 2]
        assert median(gs.tensor(x), 0)[0].item() == found.item()
    if dtype in ("int64", "int32"):
        assert median(gs.tensor(x[:0])).item() == np.iinfo(dtype).min
