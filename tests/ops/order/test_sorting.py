"""Sorting, selection and scans: ties, NaN, empty and integer inputs as in PyTorch."""

import math

import numpy as np
import pytest

import gradsmith as gs

nan = float("nan")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, np.float16])
@pytest.mark.parametrize("size", [10, 300, 5000])
@pytest.mark.parametrize("descending", [False, True])
def test_equal_elements_keep_their_order(dtype, size, descending):
    for highest in (3, size * 4):
        array = np.random.default_rng(size).integers(0, highest, size).astype(dtype)
        values, indices = gs.sort(gs.tensor(array), descending=descending)
        places = np.lexsort((np.arange(size), -array.astype(np.int64) if descending else array))
        np.testing.assert_array_equal(indices.numpy(), places)
        np.testing.assert_array_equal(values.numpy(), array[places])


@pytest.mark.parametrize("size", [4, 20, 50, 100, 1000])
def test_nan_is_the_greatest(size):
    array = np.random.default_rng(0).standard_normal(size)
    array[[1, 3]] = nan
    x = gs.tensor(array)
    assert gs.sort(x).indices[-2:].tolist() == [1, 3]
    assert gs.sort(x, descending=True).indices[:2].tolist() == [1, 3]
    assert sorted(gs.topk(x, 2).indices.tolist()) == [1, 3]
    assert gs.median(x).isnan() and x.median(0).indices.item() == 1
    assert gs.nanmedian(x).item() == np.sort(array[~np.isnan(array)])[(size - 3) // 2]


@pytest.mark.parametrize(
    ("elements", "value", "place"),
    [
        ([math.nan, 1, 2], math.nan, 0),
        ([1, math.nan, 2], 1, 0),
        ([math.nan, math.nan], math.nan, 0),
        ([math.nan, 1, 1], 1, 2),
        ([2, math.nan, math.nan, 2], 2, 3),
    ],
)
def test_no_nan_is_as_frequent_as_an_element_that_is_there_twice(elements, value, place):
    x = gs.tensor(elements, requires_grad=True)
    found = x.mode()
    np.testing.assert_array_equal(found.values.item(), value)
    assert found.indices.item() == place
    rows = gs.stack([x.detach(), x.detach()]).mode(1)
    np.testing.assert_array_equal(rows.values.numpy(), [value, value])
    found.values.backward()
    assert x.grad.tolist() == [float(n == place) for n in range(len(elements))]


def test_mode_and_running_extremes_name_the_last_of_equal_elements():
    x = gs.tensor([3, 1, 3, 1, 2])
    assert [one.item() for one in gs.mode(x)] == [1, 3]
    assert gs.cummax(x, 0).indices.tolist() == [0, 0, 2, 2, 2]
    assert gs.cummin(x, 0).indices.tolist() == [0, 1, 1, 3, 3]


def test_sums_that_leave_nan_out():
    x = gs.tensor([[1.0, nan], [2.0, 3.0]], requires_grad=True)
    assert gs.nansum(x, 0).tolist() == [3.0, 3.0] and gs.nanmean(x).item() == 2.0
    gs.nanmean(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[1 / 3, 0.0], [1 / 3, 1 / 3]])


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [("linear", 2.2), ("lower", 2.0), ("higher", 3.0), ("midpoint", 2.5), ("nearest", 2.0)],
)
def test_quantile(interpolation, expected):
    x = gs.tensor([4.0, 1.0, 3.0, 2.0], dtype=gs.float64)
    assert gs.quantile(x, 0.4, interpolation=interpolation).item() == pytest.approx(expected)
    assert gs.quantile(x.view(2, 2), gs.tensor([0.0, 1.0], dtype=gs.float64), dim=1).tolist() == [
        [1.0, 2.0],
        [4.0, 3.0],
    ]


def test_cumprod_through_zeros():
    x = gs.tensor([2.0, 0.0, 3.0, 0.0], dtype=gs.float64, requires_grad=True)
    (gradient,) = gs.autograd.grad(x.cumprod(0).sum(), x, create_graph=True)
    assert gradient.tolist() == [1.0, 8.0, 0.0, 0.0]
    assert gs.autograd.grad(gradient[1], x)[0].tolist() == [4.0, 0.0, 2.0, 6.0]


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_gradients_of_quantiles_of_rows_with_nan(interpolation):
    """NaN is the last element of its row, and the quantile; `nanquantile` takes it only where there is no other."""
    x = gs.tensor([[1.0, nan, 3.0, 2.0], [nan, nan, nan, nan], [4.0, 1.0, 2.0, 7.0]], requires_grad=True)
    found = gs.quantile(x, 1 / 3, dim=1, interpolation=interpolation)
    (slope,) = gs.autograd.grad(found.sum(), x)
    assert found.isnan().tolist() == [True, True, False]
    assert slope.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    found = gs.nanquantile(x, 0.5, dim=1, interpolation=interpolation)
    (slope,) = gs.autograd.grad(found.sum(), x)
    assert found.isnan().tolist() == [False, True, False]
    assert slope[0].tolist() == [0, 0, 0, 1] and slope.sum(1).tolist() == [1, 1, 1]


@pytest.mark.parametrize("p", ["fro", 1, 2, 3, float("inf"), 0])
def test_norm(p):
    x = gs.tensor([[3.0, -4.0], [0.0, 0.0]], requires_grad=True)
    expected = {
        "fro": [5.0, 0.0],
        1: [7.0, 0.0],
        2: [5.0, 0.0],
        3: [91 ** (1 / 3), 0.0],
        float("inf"): [4.0, 0.0],
        0: [2.0, 0.0],
    }
    found = x.norm(p, dim=1)
    np.testing.assert_allclose(found.detach().numpy(), expected[p], rtol=1e-6)
    found.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.sort(2), IndexError, "Dimension out of range"),
        (lambda x: x.topk(4), RuntimeError, "k is 4"),
        (lambda x: x.kthvalue(0), RuntimeError, "out of range"),
        (lambda x: gs.quantile(x, 1.5), RuntimeError, "range"),
        (lambda x: gs.searchsorted(x[0], x, side="middle"), RuntimeError, "side"),
        (lambda x: x.norm("nuclear"), RuntimeError, "nuc"),
        (lambda x: x.int().norm(), RuntimeError, "floating"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(gs.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("kind", ["distinct", "equal", "missing", "missing at the end", "integers"])
def test_few_of_very_many(kind, largest):
    """Against the whole order; NaN is the greatest of all."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 20_011))
    if kind == "equal":
        x = np.round(x)
    elif kind == "missing":
        x[0, [3, 700]] = np.nan
    elif kind == "missing at the end":
        x[1, -1] = np.nan
    elif kind == "integers":
        x = rng.integers(-1000, 1000, x.shape)
    for k in (1, 2, 100):
        values, indices = gs.topk(gs.tensor(x), k, largest=largest)
        expected = np.sort(x, axis=-1)
        expected = expected[:, ::-1][:, :k] if largest else expected[:, :k]
        np.testing.assert_array_equal(values.numpy(), expected)
        np.testing.assert_array_equal(np.take_along_axis(x, indices.numpy(), -1), expected)
        assert all(len(set(row)) == k for row in indices.tolist())


# ---- long rows, which are sorted by digits


def long_rows(dtype, rng):
    """Rows with ties, the extremes of the dtype and, of floats, infinities, both zeros and NaN of both signs."""
    if np.dtype(dtype).kind == "f":
        rows = rng.standard_normal((3, 5000)).astype(dtype)
        rows[0, ::7] = np.round(rows[0, ::7])
        rows[1, :9] = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 0.0, np.finfo(dtype).tiny / 2, -0.0]
        rows[2] *= np.array(10.0, dtype) ** rng.integers(-3, 3, 5000)
        return rows
    limits = np.iinfo(dtype)
    rows = rng.integers(limits.min, limits.max, (3, 5000), dtype, endpoint=True)
    rows[0] = rng.integers(0, 50, 5000)
    rows[1, :4] = [limits.max, limits.min, limits.max, limits.min]
    return rows


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64", "float16", "int8"])
@pytest.mark.parametrize("descending", [False, True])
def test_long_rows(dtype, descending):
    rows = (
        long_rows(dtype, np.random.default_rng(8)) if dtype != "int8" else np.arange(15_000).astype("i1").reshape(3, -1)
    )
    values, places = gs.tensor(rows).sort(1, descending=descending)
    order = np.argsort(rows, axis=1, kind="stable")
    if descending:
        order = 4999 - np.argsort(rows[:, ::-1], axis=1, kind="stable")[:, ::-1]
    np.testing.assert_array_equal(places.numpy(), order)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(rows, order, 1))
    columns = gs.tensor(rows.T.copy())
    np.testing.assert_array_equal(gs.argsort(columns, 0, descending=descending).numpy(), order.T)


@pytest.mark.parametrize("length", [511, 512, 1023, 1024, 2047, 2048])
def test_both_sides_of_the_length_at_which_the_sort_changes(length):
    x = np.random.default_rng(length).integers(-100, 100, (2, length))
    for dtype in ("float32", "float64", "int64"):
        np.testing.assert_array_equal(
            gs.argsort(gs.tensor(x.astype(dtype))).numpy(), np.argsort(x, axis=1, kind="stable")
        )


def test_which_rows_are_sorted_by_digits():
    from gradsmith.runtime.arrays.functions.counting.radix import is_sorted_by_digits

    assert all(is_sorted_by_digits(np.dtype(dtype), 5000) for dtype in ("f4", "f8", "i4", "i8", "u4", "u8"))
    assert not any(is_sorted_by_digits(np.dtype(dtype), 5000) for dtype in ("f2", "i1", "?", "c8", "c16", ">f8"))
    assert not is_sorted_by_digits(np.dtype("f4"), 1 << 32)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
@pytest.mark.parametrize("length", [0, 1, 5, 6, 8, 9, 16, 17, 32, 33, 64, 65, 127, 128, 129])
def test_short_rows_along_every_dimension(dtype, length):
    array = np.random.default_rng(length).integers(0, 4, (3, length, 2)).astype(dtype)
    for axis, x in ((1, array), (0, np.moveaxis(array, 1, 0)), (2, np.moveaxis(array, 1, 2))):
        ascending = np.argsort(x, axis=axis, kind="stable")
        backwards = length - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
        for descending, places in ((False, ascending), (True, backwards)):
            values, indices = gs.sort(gs.tensor(x), axis, descending)
            np.testing.assert_array_equal(indices.numpy(), places)
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, places, axis))
            np.testing.assert_array_equal(gs.argsort(gs.tensor(x), axis, descending).numpy(), places)


@pytest.mark.parametrize("function", [gs.quantile, gs.nanquantile])
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_are_the_same_with_a_history(function, interpolation):
    array = np.random.default_rng(2).standard_normal((4, 7)).astype(np.float32)
    array[0, 2], array[1] = nan, nan
    for dim, keepdim in ((None, False), (0, True), (1, False)):
        for q in (0.0, 0.3, 1.0, [0.25, 0.9]):
            plain = function(gs.tensor(array), q, dim, keepdim, interpolation=interpolation)
            recorded = function(gs.tensor(array, requires_grad=True), q, dim, keepdim, interpolation=interpolation)
            np.testing.assert_array_equal(plain.numpy(), recorded.detach().numpy())


def test_running_logarithms_of_sums_are_those_of_numpy():
    array = np.random.default_rng(3).standard_normal((3, 50)) * 100
    array[0, 3], array[1, :2], array[2, 9] = nan, -np.inf, np.inf
    for dtype in (np.float32, np.float64):
        for axis in (0, 1):
            found = gs.logcumsumexp(gs.tensor(array.astype(dtype)), axis).numpy()
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(found, np.logaddexp.accumulate(array.astype(dtype), axis))
