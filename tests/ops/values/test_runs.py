"""Indices that name neighbours one after the other, and ops made of few passes: as NumPy's."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.nn import functional as F

RNG = np.random.default_rng(3)
DTYPES = ["float32", "float64", "float16", "complex128", "int64", "int8", "bool"]
INDICES = {
    "one_run": np.arange(3, 90),
    "mirrored": np.abs(np.arange(-3, 95)),
    "clipped": np.clip(np.arange(-4, 105), 0, 99),
    "around": np.arange(-5, 110) % 100,
    "many_runs": np.arange(2000) % 10,
    "short_runs": np.repeat(np.arange(50), 2),
    "random": RNG.integers(0, 100, 300),
    "one": np.array([7]),
    "none": np.zeros(0, np.int64),
}


def elements(shape, dtype):
    return (RNG.integers(-5, 6, shape) if dtype != "bool" else RNG.integers(0, 2, shape)).astype(dtype)


# ---- index_select and index_add


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize(("shape", "dim"), [((100,), 0), ((100, 3), 0), ((4, 100), 1), ((2, 100, 3), 1), ((0, 100), 1)])
def test_selected_as_by_numpy(shape, dim, index, dtype):
    x = elements(shape, dtype)
    places = INDICES[index]
    for array in (x, np.repeat(x, 2, -1)[..., ::2], np.asfortranarray(x)):
        result = gs.index_select(gs.from_numpy(array), dim, gs.tensor(places))
        np.testing.assert_array_equal(result.numpy(), np.take(x, places, dim))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize(("shape", "dim"), [((100,), 0), ((100, 3), 0), ((4, 100), 1), ((2, 100, 3), 1)])
def test_added_as_by_numpy(shape, dim, index, dtype):
    x, places = elements(shape, dtype), INDICES[index]
    added = elements((*shape[:dim], len(places), *shape[dim + 1 :]), dtype)
    expected = x.copy()
    np.add.at(expected, (slice(None),) * dim + (places,), added)
    result = gs.index_add(gs.tensor(x), dim, gs.tensor(places), gs.tensor(added))
    np.testing.assert_array_equal(result.numpy(), expected)


def test_an_index_out_of_range_among_neighbours():
    with pytest.raises(IndexError, match="out of range"):
        gs.index_select(gs.zeros(3, 50), 1, gs.arange(10, 60))


# ---- padding


@pytest.mark.parametrize(("mode", "by_numpy"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_padded_as_by_numpy(mode, by_numpy, dtype):
    x = RNG.standard_normal((2, 3, 20, 31)).astype(dtype)
    result = F.pad(gs.tensor(x), (3, 2, 1, 4), mode=mode)
    expected = np.pad(x, [(0, 0), (0, 0), (1, 4), (3, 2)], mode=by_numpy)
    np.testing.assert_array_equal(result.numpy(), expected)


# ---- diagonals


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [-2, 0, 3])
def test_diagonals_as_by_numpy(offset, dtype):
    x = elements(9, dtype)
    np.testing.assert_array_equal(gs.diag(gs.tensor(x), offset).numpy(), np.diag(x, offset))
    np.testing.assert_array_equal(gs.diag(gs.tensor(np.repeat(x, 2))[::2], offset).numpy(), np.diag(x, offset))
    np.testing.assert_array_equal(gs.diag(gs.tensor(x[:0]), offset).numpy(), np.diag(x[:0], offset))
    rows = elements((2, 3, 4), dtype)
    result = gs.diag_embed(gs.tensor(rows), offset, 0, 2).numpy()
    assert result.dtype == rows.dtype
    np.testing.assert_array_equal(np.diagonal(result, offset, 0, 2), rows)
    assert np.count_nonzero(result) == np.count_nonzero(rows)


# ---- integrals


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex128", "int64"])
@pytest.mark.parametrize("dx", [1, 2.5, 0.25, -3, 0])
@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (50,), (7, 30), (30, 1), (2, 2), (3, 4, 5), (0, 3), (3, 0)])
def test_integrals_as_by_numpy(shape, dx, dtype):
    x = elements(shape, dtype)
    for dim in range(len(shape)):
        for array in (x, np.repeat(x, 2, -1)[..., ::2], np.asfortranarray(x)):
            result = gs.trapezoid(gs.from_numpy(array), dx=dx, dim=dim).numpy()
            np.testing.assert_allclose(result, np.trapezoid(x, dx=dx, axis=dim), rtol=1e-3, atol=1e-3)


def test_integrals_of_huge_and_infinite_values():
    assert gs.trapezoid(gs.full((100,), 1e38), dx=0.001).item() == pytest.approx(99e35, rel=1e-5)
    assert gs.trapezoid(gs.full((3, 100), 1e38), dx=0.001).numpy() == pytest.approx(99e35, rel=1e-5)
    for shape in ((4,), (1, 4)):
        values = gs.tensor([1.0, np.inf, 2.0, 3.0]).reshape(shape)
        assert gs.trapezoid(values).numpy() == np.inf
        assert np.isnan(gs.trapezoid(values, dx=0).numpy()).all()
        assert np.isnan(gs.trapezoid(gs.zeros(shape), dx=np.inf).numpy()).all()
