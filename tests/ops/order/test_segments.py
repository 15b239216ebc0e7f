"""Reductions of segments of consecutive slices, against NumPy segment by segment."""

import itertools
import math

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)
OF_NUMPY = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}
OF_NOTHING = {"sum": 0.0, "mean": math.nan, "prod": 1.0, "max": -math.inf, "min": math.inf}


def by_parts(data, ends, reduce):
    parts = [data[start:stop] for start, stop in itertools.pairwise(ends)]
    of_nothing = np.full(data.shape[1:], OF_NOTHING[reduce])
    return np.stack([OF_NUMPY[reduce](part, 0) if len(part) else of_nothing for part in parts])


@pytest.mark.parametrize("reduce", OF_NUMPY)
@pytest.mark.parametrize("shape", [(6,), (6, 2)])
def test_values(reduce, shape):
    data, ends = rng.normal(size=shape), [0, 2, 2, 5, 6]
    wanted = by_parts(data, ends, reduce)
    for segments in ({"lengths": gs.tensor(np.diff(ends))}, {"offsets": gs.tensor(ends, dtype=gs.int32)}):
        np.testing.assert_allclose(gs.segment_reduce(gs.tensor(data), reduce, **segments).numpy(), wanted)
    if reduce in ("max", "min"):
        again = gs.segment_reduce(gs.tensor(data), f"a{reduce}", offsets=gs.tensor(ends))
        np.testing.assert_allclose(again.numpy(), wanted)


@pytest.mark.parametrize("reduce", OF_NUMPY)
def test_segments_of_each_row(reduce):
    data, ends = rng.normal(size=(2, 4, 3)), [[0, 1, 4], [0, 4, 4]]
    lengths = gs.tensor(np.diff(ends))
    wanted = np.stack([by_parts(rows, places, reduce) for rows, places in zip(data, ends, strict=True)])
    np.testing.assert_allclose(gs.segment_reduce(gs.tensor(data), reduce, lengths=lengths, axis=1).numpy(), wanted)
    np.testing.assert_allclose(
        gs.segment_reduce(gs.tensor(data), reduce, offsets=gs.tensor(ends), axis=-2).numpy(), wanted
    )


@pytest.mark.parametrize("reduce", OF_NUMPY)
@pytest.mark.parametrize("initial", [None, 0.5])
def test_gradients(reduce, initial):
    data = gs.tensor(rng.normal(size=(5, 2)), requires_grad=True)
    offsets = gs.tensor([0, 2, 5])
    function = lambda x: gs.segment_reduce(x, reduce, offsets=offsets, initial=initial)  # noqa: E731
    assert gs.autograd.gradcheck(function, (data,), check_forward_ad=True, check_batched_grad=True)
    assert gs.autograd.gradgradcheck(function, (data,))


def test_what_reductions_begin_with():
    data, lengths = gs.tensor([1.0, 5.0, 2.0]), gs.tensor([2, 0, 1])
    found = {reduce: gs.segment_reduce(data, reduce, lengths=lengths, initial=3.0).tolist() for reduce in OF_NUMPY}
    assert found == {"sum": [9, 3, 5], "mean": [4.5, 3, 5], "prod": [15, 3, 6], "max": [5, 3, 3], "min": [1, 3, 2]}


def test_equal_extrema_share_and_segments_leave_out():
    data = gs.tensor([1.0, 2.0, 2.0, 7.0], requires_grad=True)
    (gradient,) = gs.autograd.grad(gs.segment_reduce(data, "max", offsets=gs.tensor([0, 3])).sum(), data)
    assert gradient.tolist() == [0, 0.5, 0.5, 0]
    assert gs.segment_reduce(data, "sum", offsets=gs.tensor([1, 2])).tolist() == [2]
    assert gs.segment_reduce(data, "sum", lengths=gs.tensor([1, 1]), unsafe=True).tolist() == [1, 2]
    assert gs.segment_reduce(gs.tensor([1.0, math.nan]), "max", lengths=gs.tensor([2]), initial=2.0).isnan().all()


def test_modes():
    data, lengths = gs.tensor(rng.normal(size=(3, 5))), gs.tensor([2, 3])
    each = gs.vmap(lambda x: gs.segment_reduce(x, "mean", lengths=lengths))(data)
    wanted = np.stack([by_parts(row, [0, 2, 5], "mean") for row in data.numpy()])
    np.testing.assert_allclose(each.numpy(), wanted)
    meta = gs.segment_reduce(data[0].to("meta"), "sum", lengths=lengths.to("meta"))
    assert meta.is_meta and meta.shape == (2,)


@pytest.mark.parametrize(
    ("named", "error", "text"),
    [
        ({}, RuntimeError, "Either lengths or offsets"),
        ({"lengths": gs.tensor([2, 2])}, RuntimeError, r"sum to 3.*got 4"),
        ({"lengths": gs.tensor([4, -1])}, RuntimeError, "negative"),
        ({"lengths": gs.tensor([3.0])}, RuntimeError, "int32 or int64, got float32"),
        ({"lengths": gs.tensor([[3]])}, RuntimeError, "expected lengths of shape"),
        ({"lengths": gs.tensor([3]), "axis": 1}, IndexError, "out of range"),
        ({"lengths": gs.tensor([3]), "indices": gs.tensor([0])}, RuntimeError, "indices based"),
        ({"offsets": gs.tensor([], dtype=gs.int64)}, RuntimeError, "at least one place"),
    ],
)
def test_refused(named, error, text):
    with pytest.raises(error, match=text):
        gs.segment_reduce(gs.ones(3), "sum", **named)


def test_refused_data():
    with pytest.raises(RuntimeError, match="floating dtype, got int64"):
        gs.segment_reduce(gs.arange(3), "sum", lengths=gs.tensor([3]))
    with pytest.raises(RuntimeError, match="must be either sum, prod, mean, max or min, got median"):
        gs.segment_reduce(gs.ones(3), "median", lengths=gs.tensor([3]))
