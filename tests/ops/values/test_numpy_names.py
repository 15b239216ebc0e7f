"""Ops that NumPy has and PyTorch has not, against NumPy: what the proofs of their entries do not reach."""

import math

import numpy as np
import pytest

import gradsmith as gs

NAN = math.nan
HOLES = np.array([[1.0, NAN, 3.0, -2.0], [NAN, NAN, 0.5, 4.0], [2.0, 7.0, NAN, 1.5]])


@pytest.mark.parametrize("op", ["nanmax", "nanmin", "nanprod", "nanvar", "nanstd"])
@pytest.mark.parametrize("arguments", [{}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": (0, 1)}])
def test_reductions_leave_nan_out(op, arguments):
    found = getattr(gs, op)(gs.tensor(HOLES), **arguments)
    np.testing.assert_allclose(found.numpy(), getattr(np, op)(HOLES, **arguments), rtol=1e-12)


@pytest.mark.parametrize("op", ["nancumsum", "nancumprod"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_running_sums_leave_nan_out(op, axis):
    found = getattr(gs, op)(gs.tensor(HOLES), axis)
    np.testing.assert_allclose(found.numpy(), getattr(np, op)(HOLES, axis), rtol=1e-12)


def test_gradients_of_nan_are_zero():
    for op in (gs.nanmax, gs.nanprod, gs.nanvar, gs.nanstd, gs.nancumsum):
        x = gs.tensor(HOLES, requires_grad=True)
        op(x).sum().backward()
        assert not x.grad.isnan().any()
        assert (x.grad[x.isnan()] == 0).all()


def test_nothing_but_nan():
    row = gs.tensor([[NAN, NAN], [1.0, NAN]], requires_grad=True)
    np.testing.assert_array_equal(gs.nanmax(row, 1).detach().numpy(), [NAN, 1.0])
    np.testing.assert_array_equal(gs.nanvar(row, 1).detach().numpy(), [NAN, 0.0])
    gs.nanmin(row, 1).sum().backward()
    assert row.grad.tolist() == [[0.0, 0.0], [1.0, 0.0]]


# ---- interpolated, padded, chosen

PLACES = np.array([-1.0, 0.0, 0.3, 1.0, 1.7, 2.0, 5.0, NAN])
COORDINATES, HEIGHTS = np.array([0.0, 1.0, 1.5, 2.0]), np.array([1.0, -1.0, 3.0, 0.5])


@pytest.mark.parametrize(
    "arguments", [{}, {"left": -7.0}, {"right": 9.0}, {"period": 1.25}, {"period": -3.0, "left": 1.0}]
)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_interpolation(arguments, count):
    xp, fp = COORDINATES[:count], HEIGHTS[:count]
    x = PLACES[: -1 if count == 1 else None]  # of one point NumPy gives the value at NaN, too
    found = gs.interp(gs.tensor(x), gs.tensor(xp), gs.tensor(fp), **arguments)
    np.testing.assert_allclose(found.numpy(), np.interp(x, xp, fp, **arguments), rtol=1e-13)


def test_interpolation_of_integers_and_its_refusals():
    found = gs.interp(gs.tensor([0, 3]), gs.tensor([0, 2, 4]), gs.tensor([1, 5, 0]))
    assert found.dtype == gs.float32 and found.tolist() == [1.0, 2.5]
    x = gs.tensor([1.0, 2.0])
    for xp, fp, words in ((x, x[:1], "not of the same length"), (x[:0], x[:0], "empty"), (x[None], x[None], "vectors")):
        with pytest.raises(ValueError, match=words):
            gs.interp(x, xp, fp)
    with pytest.raises(ValueError, match="non-zero"):
        gs.interp(x, x, x, period=0)


PADDED = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])
WAYS = [
    (2, {"mode": "constant"}), (((1, 0), (0, 3)), {"mode": "constant", "constant_values": ((5, 6), (7, 8))}),
    ({-1: (1, 2)}, {"mode": "edge"}), ((3, 4), {"mode": "linear_ramp", "end_values": (2, -7)}),
    ((2, 1), {"mode": "maximum"}), ((2, 1), {"mode": "minimum", "stat_length": 2}), (1, {"mode": "mean"}),
    ((2, 1), {"mode": "median"}), (2, {"mode": "median", "stat_length": ((2, 1), (3, 2))}),
    (9, {"mode": "reflect"}), (9, {"mode": "reflect", "reflect_type": "odd"}), ((7, 2), {"mode": "symmetric"}),
    ((2, 9), {"mode": "symmetric", "reflect_type": "odd"}), ((9, 10), {"mode": "wrap"}), (0, {"mode": "wrap"}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
@pytest.mark.parametrize(("width", "arguments"), WAYS)
def test_padding(width, arguments, dtype):
    array = PADDED.astype(dtype)
    pairs = [(0, 0), width[-1]] if isinstance(width, dict) else width
    expected = np.pad(array, pairs, **arguments)
    found = gs.pad(gs.tensor(array), width, **arguments).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


REFUSED_PADS = [
    ({"mode": "empty"}, ValueError, "mode 'empty' is not supported"),
    ({"mode": "edge", "constant_values": 1}, ValueError, "unsupported arguments for mode 'edge': constant_values"),
    ({"pad_width": -1}, ValueError, "can't contain negative values"),
    ({"pad_width": 1.5}, TypeError, "must be of integers"),
    ({"pad_width": ((1, 2), (1, 2), (3, 4))}, ValueError, "a pair for each of the 2 dimensions"),
    ({"mode": "maximum", "stat_length": 0}, ValueError, "yields no value"),
    ({"mode": "reflect", "reflect_type": "strange"}, ValueError, "'even' or 'odd'"),
]


@pytest.mark.parametrize(("arguments", "error", "words"), REFUSED_PADS)
def test_refused_padding(arguments, error, words):
    with pytest.raises(error, match=words):
        gs.pad(gs.ones(2, 3), **{"pad_width": 1, **arguments})


def test_padding_of_nothing():
    assert gs.pad(gs.ones(0), 2, constant_values=3).tolist() == [3.0] * 4
    with pytest.raises(ValueError, match="empty dimension 0"):
        gs.pad(gs.ones(0), 2, mode="edge")


def test_gradient_of_the_value_that_pads():
    value = gs.tensor(2.0, requires_grad=True)
    gs.pad(gs.ones(2, 2), 1, constant_values=value).sum().backward()
    assert value.grad.item() == 12.0


def test_elements_put_along_a_dimension():
    array = np.arange(12.0).reshape(3, 4)
    x = gs.tensor(array.copy())
    places = np.array([[1], [-1], [0]])
    np.put_along_axis(array, places, [[100.0]], 1)
    assert gs.put_along_axis(x, gs.tensor(places), gs.tensor([[100.0]]), 1) is None
    assert x.tolist() == array.tolist()
    assert gs.put_along_dim(x, gs.tensor([0]), -1.0)[0, 0].item() == -1.0 and x[0, 0].item() == 0.0
    with pytest.raises(IndexError, match="do not broadcast"):
        x.put_along_dim(gs.zeros(2, 1, dtype=gs.int64), 1.0, 1)


def test_choices():
    number, choices = np.array([[0, 2], [1, 0]]), [np.array([1.0, 2.0]), np.array(7.0), np.array([[4.0], [5.0]])]
    tensors = [gs.tensor(choice) for choice in choices]
    assert gs.choose(gs.tensor(number), tensors).tolist() == np.choose(number, choices).tolist()
    for mode in ("wrap", "clip"):
        found = gs.choose(gs.tensor(number * 3 - 1), tensors, mode=mode)
        assert found.tolist() == np.choose(number * 3 - 1, choices, mode=mode).tolist()
    with pytest.raises((IndexError, RuntimeError), match="out of"):
        gs.choose(gs.tensor([3]), tensors)


def test_fractions_and_quotients():
    x = gs.tensor([1.25, -2.5, math.inf, 3.0])
    fraction, whole = gs.modf(x)
    assert fraction.tolist() == [0.25, -0.5, 0.0, 0.0] and whole.tolist() == [1.0, -2.0, math.inf, 3.0]
    quotient, remainder = gs.divmod(gs.tensor([7, -7]), 3)
    assert quotient.tolist() == [2, -3] and remainder.tolist() == [1, 2]


def test_places_and_indices():
    x = np.array([[0, 3, 0], [4, 0, 5]])
    assert gs.flatnonzero(gs.tensor(x)).tolist() == np.flatnonzero(x).tolist()
    square = gs.arange(9).reshape(3, 3)
    assert square[gs.diag_indices(3)].tolist() == square[gs.diag_indices_from(square)].tolist() == [0, 4, 8]
    assert square[gs.tril_indices_from(square, -1)].tolist() == [3, 6, 7]
    assert square[gs.triu_indices_from(square, 1)].tolist() == [1, 2, 5]
    assert square[gs.ix_([0, 2], gs.tensor([True, False, True]))].tolist() == [[0, 2], [6, 8]]
    assert gs.indices((2, 3)).tolist() == np.indices((2, 3)).tolist()
    places = gs.ravel_multi_index((gs.tensor([0, 1]), gs.tensor([2, 0])), (2, 3))
    assert places.tolist() == [2, 3]
    with pytest.raises(ValueError, match="dimension 1 is not from 0 to 2"):
        gs.ravel_multi_index((gs.tensor([0]), gs.tensor([3])), (2, 3))


def test_new_tensors():
    assert gs.tri(2, 3, 1).tolist() == np.tri(2, 3, 1).tolist() and gs.tri(2).dtype == gs.float32
    np.testing.assert_allclose(gs.geomspace(1, 1000, 4).numpy(), [1, 10, 100, 1000])
    np.testing.assert_allclose(gs.geomspace(1, 16, 4, endpoint=False).numpy(), [1, 2, 4, 8])
    assert gs.geomspace(1j, 16j, 3).dtype == gs.complex64
    assert gs.identity(2).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_writes_in_place():
    x = gs.zeros(2, 3)
    gs.fill_diagonal(x, 2.0)
    gs.copyto(x, [5.0, 6.0, 7.0], where=[[False, True, False], [False, False, True]])
    assert x.tolist() == [[2.0, 5.0 + 1, 0.0], [0.0, 2.0, 7.0]]
    mask, array = np.array([[True, True, True], [False, True, False]]), np.zeros((2, 3))
    for ours, theirs in ((gs.place, np.place), (gs.putmask, np.putmask)):
        ours(x, gs.tensor(mask), gs.tensor([8.0, 9.0]))
        theirs(array, mask, [8.0, 9.0])
        assert x[gs.tensor(mask)].tolist() == array[mask].tolist()


def test_questions_and_other_names():
    x = gs.tensor([[1.0, -2.0, 3.0]])
    assert gs.ndim(x) == 2 and gs.shape(x) == (1, 3) and gs.size(x) == 3 and gs.size(x, 1) == 3
    assert gs.iscomplex(gs.tensor([1j, 2])).tolist() == [True, False]
    assert gs.copy(x) is not x and gs.astype(x, gs.float64).dtype == gs.float64
    assert gs.digitize(x, gs.tensor([0.0, 1.0, 2.0])).tolist() == np.digitize(x.numpy(), [0.0, 1.0, 2.0]).tolist()
    assert gs.extract(x > 0, x).tolist() == [1.0, 3.0]
    assert gs.compress([True, False], x, axis=1).tolist() == [[1.0]] and gs.compress([False, True], x).tolist() == [
        -2.0
    ]
    assert [part.tolist() for part in gs.broadcast_arrays(x, gs.tensor([[0.0]]))] == [x.tolist(), [[0.0] * 3]]


def test_integers():
    numbers = gs.tensor([[1, 5], [3, 2]])
    assert gs.nanmax(numbers).item() == 5
    assert gs.nanmin(numbers, 1).tolist() == [1, 2]
    assert gs.nanprod(numbers).item() == 30
    assert gs.nanvar(numbers).item() == pytest.approx(2.1875)
    assert gs.average(numbers).item() == pytest.approx(2.75)
    assert gs.cumulative_sum(numbers[0], include_initial=True).tolist() == [0, 1, 6]
    assert gs.ediff1d(numbers).tolist() == [4, -2, -1]
    assert gs.cbrt(gs.tensor([8, -27])).tolist() == pytest.approx([2.0, -3.0])


def test_averages():
    x, weights = gs.tensor(np.arange(6.0).reshape(2, 3)), gs.tensor([0.25, 0.75], dtype=gs.float64)
    assert gs.average(x, axis=0, weights=weights).tolist() == np.average(x.numpy(), 0, weights.numpy()).tolist()
    with pytest.raises(TypeError, match="axis"):
        gs.average(x, weights=weights)
    with pytest.raises(ValueError, match="weights"):
        gs.average(x, axis=1, weights=weights)


def test_percentiles():
    x = gs.tensor([1.0, 2.0, 4.0, NAN])
    assert gs.nanpercentile(x, 50).item() == 2.0
    assert gs.percentile(x, [0, 50]).isnan().all()
    assert gs.percentile(x[:3], [0, 50, 100]).tolist() == [1.0, 2.0, 4.0]
    with pytest.raises(RuntimeError, match=r"range \[0, 1\]"):
        gs.percentile(x, 101)


@pytest.mark.parametrize("arguments", [{}, {"period": 2.0}, {"discont": 4.0}, {"axis": 0}])
def test_unwrapped_phases(arguments):
    phases = np.cumsum(np.random.default_rng(0).normal(size=(5, 7)) * 4, -1)
    np.testing.assert_allclose(gs.unwrap(gs.tensor(phases), **arguments).numpy(), np.unwrap(phases, **arguments))


def test_cumulative_axis():
    with pytest.raises(ValueError, match="axis"):
        gs.cumulative_sum(gs.ones(2, 2))
    assert gs.cumulative_prod(gs.tensor([2.0, 3.0]), include_initial=True).tolist() == [1.0, 2.0, 6.0]


def test_places_along_an_axis():
    x = gs.tensor([[3.0, 1.0, 2.0]])
    assert gs.take_along_axis(x, x.argsort(-1), -1).tolist() == [[1.0, 2.0, 3.0]]
    assert gs.take_along_axis(x, gs.tensor([2, 0]), None).tolist() == [2.0, 3.0]
    assert gs.vecdot(gs.tensor([1j, 2.0]), gs.tensor([1j, 1.0])).item() == 3.0


# ---- PyTorch's, recorded


def test_sums_to_a_size():
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum_to_size(1, 2).tolist() == [[4.0, 6.0]]
    assert x.sum_to_size([2]).tolist() == [4.0, 6.0]
    assert x.sum_to_size(()).item() == 10.0
    for size in ((3,), (1, 2, 2)):
        with pytest.raises(RuntimeError, match="not expandable"):
            x.sum_to_size(size)
