"""Products and sums without NaN, by lanes: as of NumPy, whatever the layout, also beyond the range of the type."""

import numpy as np
import pytest

import gradsmith as gs

RNG = np.random.default_rng(7)
SHAPES = [(), (0,), (3, 0), (1,), (16,), (17,), (5000,), (30, 40), (3, 70, 5), (700, 3), (3, 700)]
SPECIAL = [[], [0.0], [-0.0, 0.0], [np.inf], [-np.inf, 0.0], [np.nan], [np.inf, -np.inf]]
LAYOUTS = {
    "rows": lambda x: x,
    "columns": lambda x: x.T,
    "every_second": lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x,
    "from_behind": lambda x: x[::-1] if x.ndim else x,
}


def factors(shape, special, dtype):
    x = np.asarray(RNG.uniform(0.6, 1.4, shape) * RNG.choice([-1, 1], shape))
    if x.size:
        x.flat[RNG.integers(0, x.size, len(special))] = special
    return x.astype(dtype)


def check_along_each_dim(op, x, by_numpy):
    for dim in (None, *range(x.ndim)):
        result = (getattr(gs, op)(gs.tensor(x)) if dim is None else getattr(gs, op)(gs.from_numpy(x), dim)).numpy()
        with np.errstate(all="ignore"):
            expected = np.asarray(by_numpy(x, axis=dim))
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-4 if x.dtype == np.float32 else 1e-11, atol=1e-4)
        if op == "prod":
            assert np.array_equal(np.signbit(result)[expected == 0], np.signbit(expected)[expected == 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_as_numpy(shape, layout, dtype):
    for special in SPECIAL if np.dtype(dtype).kind == "f" else [[], [0.0]]:
        x = LAYOUTS[layout](factors(shape, special, dtype))
        check_along_each_dim("prod", x, np.prod)
        check_along_each_dim("nansum", x, np.nansum)


def test_a_product_whose_parts_leave_the_range():
    x = np.array([1e30, 1e-30] * 50, np.float32)  # each lane alone overflows, or vanishes
    x = np.concatenate([x] * 20)
    np.testing.assert_allclose(gs.prod(gs.tensor(x)).item(), 1, rtol=1e-3)
    assert gs.prod(gs.full((10000,), 0.5)).item() == 0
    assert gs.prod(gs.full((10000,), 2.0)).item() == np.inf
    assert np.isnan(gs.prod(gs.cat([gs.full((10000,), 2.0), gs.zeros(1)])).item())
    assert np.isnan(gs.prod(gs.cat([gs.full((10000,), 0.5), gs.full((1,), np.inf)])).item())
    assert gs.prod(gs.cat([gs.full((10000,), 2.0), gs.full((1,), -1.0)])).item() == -np.inf


def test_a_product_that_a_chain_of_factors_would_lose():
    powers = gs.cat([gs.full((5000,), 1.25), gs.full((5000,), 0.8)])
    assert gs.prod(powers).item() == pytest.approx(1, rel=1e-3)
    assert gs.prod(powers.flip(0)).item() == pytest.approx(1, rel=1e-3)


def test_a_sum_of_both_infinities_is_no_nan_that_is_left_out():
    x = gs.tensor([[[np.inf, 1.0], [np.nan, 2.0]], [[-np.inf, 3.0], [4.0, 5.0]]])
    assert np.isnan(gs.nansum(x).item())
    np.testing.assert_array_equal(gs.nansum(x, (0, 2)).numpy(), [np.nan, 11])
    np.testing.assert_array_equal(gs.nansum(gs.full((3, 1), np.nan), 1).numpy(), [0, 0, 0])


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex128", "int64"])
def test_sums_in_a_dtype_leave_out_nan_first(dtype):
    x = gs.tensor([[1.0, np.nan], [2.0, 3.0]])
    result = gs.nansum(x, 0, dtype=getattr(gs, dtype))
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result.numpy(), [3, 3])


def test_no_gradient_goes_to_nan():
    x = gs.tensor([[1.0, np.nan], [2.0, 3.0]], requires_grad=True)
    gs.nansum(x, 0).backward(gs.tensor([2.0, 5.0]))
    np.testing.assert_array_equal(x.grad.numpy(), [[2, 0], [2, 5]])
