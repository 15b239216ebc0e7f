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
