"""Elements under masks, of every width and for masks of any kind, against NumPy's."""

import numpy as np
import pytest
from arrays import assert_same

import gradsmith as gs
from gradsmith.runtime.arrays.functions import indexed

WIDTHS = ["u1", "f2", "f4", "f8", "c16"]
SIZES = [0, 1, 7, 8, 9, 64, 5003]
DENSITIES = [0.0, 0.02, 0.5, 0.98, 1.0]


def case(size, density, dtype):
    generator = np.random.default_rng(size)
    return (generator.normal(size=size) * 9).astype(dtype), generator.random(size) < density


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("size", SIZES)
def test_elements_under_a_mask(size, density, dtype):
    array, mask = case(size, density, dtype)
    before = array.copy()
    assert_same(indexed.masked_select_of(array, mask), array[mask])
    assert_same(indexed.index_of(array, (mask,)), array[mask])
    values = np.arange(np.count_nonzero(mask)).astype(dtype)
    for put in (values, np.array(3, dtype)):
        expected = array.copy()
        expected[mask] = put
        assert_same(indexed.index_put_of(array, (mask,), put, False), expected)
    filled = array.copy()
    indexed.masked_fill_into(filled, mask, 3)
    assert_same(filled, np.where(mask, np.array(3, dtype), array))
    assert_same(array, before)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("more", [0, 1, 20])
def test_masked_scatter_takes_one_element_after_the_other(size, density, dtype, more):
    array, mask = case(size, density, dtype)
    source = np.arange(np.count_nonzero(mask) + more).astype(dtype)
    expected = array.copy()
    expected[mask] = source[: np.count_nonzero(mask)]
    x = gs.tensor(array)
    assert_same(x.masked_scatter(gs.tensor(mask), gs.tensor(source)).numpy(), expected)
    assert_same(x.numpy(), array)
    x.masked_scatter_(gs.tensor(mask), gs.tensor(source))
    assert_same(x.numpy(), expected)


@pytest.mark.parametrize("shape", [(3, 5, 4), (40, 50, 60)], ids=["small", "large"])
@pytest.mark.parametrize("mask_shape", [(-1, -1, -1), (-1, 1, 1), (1, -1, 1), (-1,), (1, 1, 1)], ids=str)
def test_fills_of_any_layout(shape, mask_shape):
    generator = np.random.default_rng(0)
    sizes = tuple(
        full if own < 0 else own for own, full in zip(mask_shape, shape[len(shape) - len(mask_shape) :], strict=True)
    )
    array, mask = generator.normal(size=shape).astype("f4"), generator.random(sizes) < 0.4
    expected = np.where(mask, np.float32(7), array)
    layouts = {
        "in order": array.copy(),
        "turned": np.asfortranarray(array),
        "swapped": array.swapaxes(0, 1).copy().swapaxes(0, 1),
        "every second": np.repeat(array, 2, axis=2)[:, :, ::2],
    }
    for name, laid in layouts.items():
        strides = laid.strides
        indexed.masked_fill_into(laid, mask, 7)
        np.testing.assert_array_equal(laid, expected, err_msg=name)
        assert laid.strides == strides
        assert_same(indexed.masked_select_of(laid, mask), expected[np.broadcast_to(mask, shape)])


def test_bytes_of_a_mask_other_than_one_are_true():
    mask = np.array([0, 2, 255, 0, 1, 128, 0, 4, 9], np.uint8).view(np.bool_)
    array = np.arange(9.0)
    assert_same(indexed.masked_select_of(array, mask), array[[1, 2, 4, 5, 7, 8]])
    x = gs.tensor(array).masked_scatter(gs.tensor(mask), gs.zeros(9, dtype=gs.float64))
    assert_same(x.numpy(), np.where(mask.view(np.uint8) != 0, 0.0, array))


def test_what_may_not_be_written_stays():
    array = np.arange(4.0)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        indexed.index_put_into(array, (np.array([True, False, True, False]),), np.zeros(2), False)
    with pytest.raises(RuntimeError, match="read-only"):
        indexed.masked_fill_into(array, np.array([True, False, True, False]), 1.0)
    assert_same(array, np.arange(4.0))


@pytest.mark.parametrize("shape", [(9,), (3, 4), (2, 3, 4), (70, 80), (5, 40, 50)], ids=str)
@pytest.mark.parametrize("dtype", ["?", "f4", "i8", "f2"])
def test_nonzero_rows(shape, dtype):
    array = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    assert_same(indexed.nonzero_rows_of(array), np.argwhere(array))


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("size", [10, 5000])
def test_places_of_every_width(size, dtype):
    array, _ = case(size, 0.5, dtype)
    places = np.random.default_rng(2).permutation(size)
    assert_same(indexed.index_of(array, (places,)), array[places])
    expected = np.empty_like(array)
    expected[places] = array
    assert_same(indexed.index_put_of(array, (places,), array, False), expected)
    rows = np.stack([array, array[::-1]])
    both = np.stack([places, places[::-1]])
    assert_same(indexed.gather_of(rows, 1, both), np.take_along_axis(rows, both, 1))
    assert_same(indexed.gather_of(rows.T.copy(), 0, both.T.copy()), np.take_along_axis(rows, both, 1).T)
    scattered = np.zeros_like(rows)
    np.put_along_axis(scattered, both, rows, 1)
    assert_same(indexed.scatter_of(np.zeros_like(rows), 1, both, rows), scattered)


@pytest.mark.parametrize("dtype", [gs.float16, gs.float32, gs.float64, gs.complex64, gs.int8, gs.int64], ids=str)
def test_numbers_of_bytes_that_are_no_truths(dtype):
    """Sums, products and conversions of a mask over foreign memory, side by side and with steps."""
    bytes_ = np.array([2, 255, 1, 128] * 10, np.uint8)
    mask = gs.from_numpy(bytes_.view(bool))
    for part in (mask, mask[::3], mask.reshape(8, 5).T):
        assert (part.to(dtype) == 1).all()
        assert part.sum().item() == part.numel() and part.prod().item() == 1
    assert mask.reshape(8, 5).sum(0).tolist() == [8] * 5
    assert mask.reshape(8, 5).prod(0).tolist() == [1] * 5
    assert gs.mean(mask, dtype=gs.float64).item() == 1
