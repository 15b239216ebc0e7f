"""Where tensors are PyTorch's and functions of the namespace the standard's: what docs/guide/exchange.md lists."""

import math

import pytest

import gradsmith as gs
import gradsmith.array_api as xp


def test_dtypes_of_sums_and_truths():
    x = gs.tensor([1, 2], dtype=gs.uint8)
    assert (x.sum().dtype, xp.sum(x).dtype) == (gs.int64, gs.uint64)
    assert (x.all().dtype, xp.all(x).dtype) == (x.any().dtype, xp.any(x).dtype) == (gs.uint8, gs.bool)


def test_signs_of_nan():
    x = gs.tensor(math.nan)
    assert x.sign().item() == 0 and math.isnan(xp.sign(x).item())


def test_values_without_places():
    x = gs.tensor([[3.0, 1.0]])
    assert len(x.max(1)) == len(x.sort()) == 2
    assert xp.max(x, axis=1).tolist() == [3.0] and xp.sort(x).tolist() == [[1.0, 3.0]]


def test_shapes():
    x = gs.tensor(1.0)
    assert x.mT is x
    with pytest.raises(ValueError, match=r"matrix_transpose\(\): needs at least two axes, but got 0"):
        xp.matrix_transpose(x)
    y = gs.ones(2, 3)
    assert y.squeeze(0).shape == y.shape and y.size == 6 and y.size() == (2, 3)


def test_leaves_and_division_by_zero():
    with pytest.raises(RuntimeError, match="leaf"):
        x = gs.ones(2, requires_grad=True)
        x += 1
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        xp.floor_divide(xp.asarray([1]), 0)


def test_integers_beside_one_without_dimensions():
    one, many = gs.tensor(256), gs.tensor([0], dtype=gs.uint8)
    assert (one == many).item() and not xp.equal(one, many).item()


@pytest.mark.parametrize("bounds", [(0.0, None, 2), (0, 0.0, -1), (5, 3.0), (-1.0,), (5, 3)])
def test_ranges_without_elements_have_the_dtype_of_their_bounds(bounds):
    found = xp.arange(*bounds)
    assert found.shape == (0,)
    assert found.dtype == (gs.float32 if any(isinstance(bound, float) for bound in bounds) else gs.int64)


def test_masks_without_elements():
    with pytest.raises(IndexError, match="shape of the mask"):
        gs.ones(0, 1)[gs.ones(0, 0, dtype=gs.bool)]
