"""mode() against counting by hand."""

import numpy as np
import pytest

import gradsmith as gs

TYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]


def mode_by_hand(row):
    """The smallest of the most frequent elements, and its last place; no NaN equals another."""
    numbers = [x for x in row if x == x]
    counts = {x: numbers.count(x) for x in numbers}
    if not counts or (row[0] != row[0] and max(counts.values()) == 1):
        return 0
    value = min(x for x in counts if counts[x] == max(counts.values()))
    return max(place for place, x in enumerate(row) if x == value)


def rows_of(dtype, shape, kinds):
    rng = np.random.default_rng(kinds + len(shape))
    found = (rng.integers(0, kinds, shape) - (kinds // 2 if dtype[0] in "if" else 0)).astype(dtype)
    if dtype[0] == "f":
        found[rng.random(shape) < 0.2] = np.nan
        found[found == 0] *= -1  # a zero of one sign equals that of the other
    return found


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1,), (5,), (3, 1), (3, 4), (2, 33), (2, 100), (4, 2, 5), (2, 3, 4, 5), (0, 3)])
@pytest.mark.parametrize("kinds", [2, 7, 100])
def test_by_hand(dtype, shape, kinds):
    a = rows_of(dtype, shape, kinds)
    for dim in range(len(shape)):
        if shape[dim] == 0:
            continue
        places = np.apply_along_axis(mode_by_hand, dim, a) if a.size else np.zeros(shape[:dim] + shape[dim + 1 :], int)
        expected = np.take_along_axis(a, np.expand_dims(places, dim), dim)
        for x in (a, np.asfortranarray(a)):
            found = gs.mode(gs.from_numpy(x), dim, keepdim=True)
            np.testing.assert_array_equal(found.indices, np.expand_dims(places, dim))
            assert found.values.numpy().tobytes() == expected.tobytes()
            found = gs.mode(gs.from_numpy(x), dim - len(shape))
            np.testing.assert_array_equal(found.indices, places)
            assert found.values.shape == found.indices.shape == places.shape and found.values.dtype == a.dtype


def test_rows_of_nan():
    x = gs.full((2, 40), float("nan"))
    assert gs.mode(x).indices.tolist() == [0, 0] and gs.mode(x).values.isnan().all()


def test_no_row_and_no_element():
    assert gs.mode(gs.tensor(3.0)).indices.item() == 0
    assert gs.mode(gs.zeros(3, 4, device="meta"), 0).values.shape == (4,)
    with pytest.raises(IndexError, match="non-zero size"):
        gs.mode(gs.zeros(3, 0))
