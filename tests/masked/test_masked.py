"""`gradsmith.masked`, row by row against NumPy's functions of the elements that count."""

import math
import sys

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)
X = rng.normal(size=(4, 5))
MASK = np.array([[1, 1, 0, 1, 0], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 1, 0, 1]], bool)

REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "amax": np.max,
    "amin": np.min,
    "mean": np.mean,
    "median": lambda row: np.sort(row)[(len(row) - 1) // 2],
    "norm": np.linalg.norm,
    "logsumexp": lambda row: np.log(np.sum(np.exp(row))),
    "var": lambda row: np.var(row, ddof=1) if len(row) > 1 else math.nan,
    "std": lambda row: np.std(row, ddof=1) if len(row) > 1 else math.nan,
}
OF_NOTHING = {
    "sum": 0.0,
    "prod": 1.0,
    "amax": -math.inf,
    "amin": math.inf,
    "mean": math.nan,
    "median": math.nan,
    "norm": 0.0,
    "logsumexp": -math.inf,
    "var": math.nan,
    "std": math.nan,
}
SCALED = {
    "softmax": lambda row: np.exp(row) / np.exp(row).sum(),
    "log_softmax": lambda row: row - np.log(np.exp(row).sum()),
    "softmin": lambda row: np.exp(-row) / np.exp(-row).sum(),
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    function = getattr(gs.masked, name)
    wanted = [REDUCTIONS[name](row[mask]) for row, mask in zip(X, MASK, strict=True)]
    found = function(gs.tensor(X), dim=1, mask=gs.tensor(MASK))
    np.testing.assert_allclose(found.numpy(), wanted)
    kept = function(gs.tensor(X), dim=-1, keepdim=True, mask=gs.tensor(MASK))
    np.testing.assert_allclose(kept.numpy(), np.array(wanted)[:, None])
    of_all = [REDUCTIONS[name](row) for row in X]
    np.testing.assert_allclose(function(gs.tensor(X), dim=1).numpy(), of_all)
    np.testing.assert_allclose(function(gs.tensor(X[0]), dim=0, mask=gs.tensor(False)).item(), OF_NOTHING[name])


@pytest.mark.parametrize("name", [name for name in REDUCTIONS if name != "median"])
def test_all_dimensions(name):
    wanted = REDUCTIONS[name](X[MASK])
    for dim in (None, (), (0, 1), (-1, 0)):
        np.testing.assert_allclose(getattr(gs.masked, name)(gs.tensor(X), dim=dim, mask=gs.tensor(MASK)).item(), wanted)


@pytest.mark.parametrize("name", SCALED)
def test_along_a_dimension(name):
    found = getattr(gs.masked, name)(gs.tensor(X), 1, mask=gs.tensor(MASK)).numpy()
    for row, mask, values in zip(X, MASK, found, strict=True):
        np.testing.assert_allclose(values[mask], SCALED[name](row[mask]))


def test_normalize():
    found = gs.masked.normalize(gs.tensor(X), 2.0, 1, mask=gs.tensor(MASK)).numpy()
    inside = np.where(MASK, X, 0)
    np.testing.assert_allclose(found, inside / np.linalg.norm(inside, axis=1, keepdims=True))
    assert gs.masked.normalize(gs.zeros(2), 2.0, 0).tolist() == [0, 0]


def test_logaddexp():
    x, y = gs.tensor([1.0, 2.0, 3.0]), gs.tensor([4.0, 5.0, 6.0])
    found = gs.masked.logaddexp(
        x, y, input_mask=gs.tensor([True, True, False]), other_mask=gs.tensor([True, False, False])
    )
    np.testing.assert_allclose(found.numpy(), [np.logaddexp(1, 4), 2, -math.inf], rtol=1e-6)


def test_places_have_the_dtype_of_the_input():
    found = gs.masked.argmax(gs.tensor(X), 1, mask=gs.tensor(MASK))
    assert found.dtype == gs.float64
    assert found.tolist() == [max(np.flatnonzero(mask), key=row.__getitem__) for row, mask in zip(X, MASK, strict=True)]
    found = gs.masked.argmin(gs.tensor(X), 1, keepdim=True, dtype=gs.int64, mask=gs.tensor(MASK))
    assert found.dtype == gs.int64
    wanted = [[min(np.flatnonzero(mask), key=row.__getitem__)] for row, mask in zip(X, MASK, strict=True)]
    assert found.tolist() == wanted


# ---- gradients

FUNCTIONS = {
    **{
        name: lambda x, mask, name=name: getattr(gs.masked, name)(x, dim=1, mask=mask)
        for name in [*REDUCTIONS, *SCALED]
    },
    "norm of order 3": lambda x, mask: gs.masked.norm(x, 3.0, 1, mask=mask),
    "least magnitude": lambda x, mask: gs.masked.norm(x, -math.inf, 1, mask=mask),
    "normalize": lambda x, mask: gs.masked.normalize(x, 2.0, 1, mask=mask),
    "logaddexp": lambda x, mask: gs.masked.logaddexp(x, x.flip(1), input_mask=mask, other_mask=mask.flip(1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    """Finite differences of what is finite; a mask that has two elements in each row."""
    mask = gs.tensor(rng.permuted(np.tile([True, True, False, True, False], (4, 1)), axis=1))
    x = gs.tensor(rng.normal(size=(4, 5)), requires_grad=True)

    def finite(x):
        found = FUNCTIONS[name](x, mask)
        return gs.where(gs.isfinite(found.detach()), found, 0)

    assert gs.autograd.gradcheck(finite, (x,), check_forward_ad=True)
    assert gs.autograd.gradgradcheck(finite, (x,))


@pytest.mark.parametrize("outside", [math.nan, math.inf, -math.inf, 3.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_does_not_count_has_no_gradient(name, outside):
    """Whatever it is, and also where nothing counts."""
    mask = MASK.copy()
    mask[1] = False
    x = gs.tensor(np.where(mask, X, outside), requires_grad=True)
    (gradient,) = gs.autograd.grad(FUNCTIONS[name](x, gs.tensor(mask)).sum(), x)
    np.testing.assert_array_equal(gradient.numpy()[~mask], 0.0)


# ---- arguments


def test_masks_broadcast_and_need_not_be_bool():
    x = gs.tensor(X)
    row = gs.tensor([1, 0, 0, 2, 0])
    np.testing.assert_allclose(gs.masked.sum(x, 1, mask=row).numpy(), X[:, [0, 3]].sum(1))
    column = gs.tensor([[True], [False], [True], [True]])
    np.testing.assert_allclose(gs.masked.mean(x, 0, mask=column).numpy(), X[[0, 2, 3]].mean(0))
    assert gs.masked.sum(gs.tensor(2.0), mask=gs.tensor(False)).item() == 0


def test_dtypes():
    whole, mask = gs.tensor([1, 2, 3], dtype=gs.int32), gs.tensor([True, False, True])
    assert (gs.masked.sum(whole, mask=mask).dtype, gs.masked.prod(whole, mask=mask).item()) == (gs.int64, 3)
    assert gs.masked.amax(whole, mask=~mask).item() == 2 and gs.masked.amax(whole, mask=mask & ~mask).item() == -(2**31)
    assert gs.masked.sum(whole, dtype=gs.float64).dtype == gs.float64
    assert gs.masked.var(whole, mask=mask).dtype == gs.float32 and gs.masked.var(whole, mask=mask).item() == 2
    assert gs.masked.median(whole, mask=mask).dtype == gs.int32
    assert gs.masked.mean(whole, mask=mask, dtype=gs.float32).item() == 2
    turned = gs.tensor([1 + 1j, 5, 3 - 1j])
    assert gs.masked.mean(turned, mask=mask).item() == 2
    np.testing.assert_allclose(gs.masked.var(turned, mask=mask).item(), 4, rtol=1e-6)
    np.testing.assert_allclose(gs.masked.var(gs.tensor(X), 1, unbiased=False).numpy(), X.var(1))
    np.testing.assert_allclose(gs.masked.std(gs.tensor(X), 1, correction=2).numpy(), X.std(1, ddof=2))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: gs.masked.sum(x, mask=gs.ones(1, 1, 2)), IndexError, "mask of at most 1 dimensions"),
        (lambda x: gs.masked.sum(x, mask=[True]), TypeError, "'mask' must be Tensor, not list"),
        (lambda x: gs.masked.sum([1.0], mask=gs.ones(1)), TypeError, "'input' must be Tensor, not list"),
        (lambda x: gs.masked.sum(x, (0, -1)), RuntimeError, "appears multiple times"),
        (lambda x: gs.masked.softmax(x, 1), IndexError, r"range of \[-1, 0\], but got 1"),
        (lambda x: gs.masked.mean(x.long()), ValueError, "floating or complex dtype, got int64"),
        (lambda x: gs.masked.amax(x.bool()), NotImplementedError, "not defined for bool"),
        (lambda x: gs.masked.amin(x + 0j), NotImplementedError, "not defined for complex64"),
        (lambda x: gs.masked.var(x, 0, True, correction=1), AssertionError, "Only one of"),
        (lambda x: gs.masked.median(x.long(), mask=gs.tensor(False)), ValueError, "has no NaN"),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(gs.ones(2))


def test_tensors_that_carry_masks_are_absent():
    with pytest.raises(AttributeError, match="Tensors that carry a mask are not part of the project"):
        gs.masked.MaskedTensor  # noqa: B018
    assert "gradsmith.masked" in sys.modules and set(gs.masked.__all__) <= set(dir(gs.masked))


def test_transforms():
    mask = gs.tensor(MASK)
    each = gs.vmap(lambda x, mask: gs.masked.mean(x, mask=mask))(gs.tensor(X), mask)
    np.testing.assert_allclose(each.numpy(), [row[m].mean() for row, m in zip(X, MASK, strict=True)])
    run = gs.compile(lambda x, mask: gs.masked.softmax(x, 1, mask=mask))
    np.testing.assert_allclose(run(gs.tensor(X), mask).numpy(), gs.masked.softmax(gs.tensor(X), 1, mask=mask).numpy())
