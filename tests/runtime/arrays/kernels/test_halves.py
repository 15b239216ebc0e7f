"""float16: conversions and loops that compute in float32, beside NumPy, which does so element by element."""

import numpy as np
import pytest

import gradsmith as gs

HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)
FINITE = HALVES[np.isfinite(HALVES)]
rng = np.random.default_rng(0)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def assert_same(found, expected):
    """Equal bits, but for those of NaN."""
    assert found.dtype == expected.dtype
    is_nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), is_nan)
    width = f"u{expected.dtype.itemsize}"
    np.testing.assert_array_equal(found[~is_nan].view(width), expected[~is_nan].view(width))


def between(values):
    """The middles of neighbours, which are ties, and the doubles next to them."""
    ordered = np.unique(values.astype(np.float64))
    ties = (ordered[1:] + ordered[:-1]) / 2
    return np.concatenate([ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)])


@pytest.mark.parametrize("step", [1, 3, -1])
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_every_half_is_widened(dtype, step):
    assert_same(gs.tensor(HALVES)[:: abs(step)].flip(0).to(dtype).numpy(), HALVES[:: abs(step)][::-1].astype(dtype))
    assert_same(gs.from_numpy(HALVES[::step].copy()[::1]).to(dtype).numpy(), HALVES[::step].astype(dtype))


@pytest.mark.parametrize("step", [1, 2])
def test_floats_are_rounded_to_the_nearest_half(step):
    floats = np.concatenate([
        rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32),
        between(FINITE).astype(np.float32),
        np.array([65504, 65519.99, 65520, -65520, 65536, 1e30, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45], np.float32),
    ])  # fmt: skip
    with np.errstate(all="ignore"):
        expected = floats[::step].astype(np.float16)
    assert_same(gs.from_numpy(floats)[::step].half().numpy(), expected)


@pytest.mark.parametrize("step", [1, 2])
def test_doubles_are_rounded_once(step):
    doubles = np.concatenate([
        rng.standard_normal(50_000) * 10.0 ** rng.integers(-12, 6, 50_000), between(FINITE),
        [65519.99999999999, 65520.0, 1e300, -1e300, 1e-310, 5e-324, np.inf, np.nan, -0.0],
    ])  # fmt: skip
    with np.errstate(all="ignore"):
        expected = doubles[::step].astype(np.float16)
    assert_same(gs.from_numpy(doubles)[::step].half().numpy(), expected)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.int64, np.int8])
def test_integers_become_halves(dtype):
    numbers = rng.integers(0, 100, 1000).astype(dtype)
    if dtype in (np.int32, np.int64):
        numbers = np.concatenate([numbers, np.arange(-70_000, 70_000, 7), [2**31 - 1, -(2**31), 2049, 2051]]).astype(
            dtype
        )
    with np.errstate(all="ignore"):
        assert_same(gs.from_numpy(numbers).half().numpy(), numbers.astype(np.float16))


PAIRS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
    "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "eq": np.equal, "lt": np.less, "ge": np.greater_equal,
    "copysign": np.copysign, "nextafter": np.nextafter,
}  # fmt: skip
SINGLES = {
    "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "round": np.rint, "square": np.square, "reciprocal": np.reciprocal, "isnan": np.isnan, "signbit": np.signbit,
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 512, 513, 20_000])
@pytest.mark.parametrize("name", PAIRS)
def test_what_is_rounded_right_has_numpys_bits(name, size):
    a, b = rng.choice(HALVES, (2, 2 * size))
    expected = PAIRS[name](a, b)
    op = getattr(gs, name)
    assert_same(op(gs.from_numpy(a), gs.from_numpy(b)).numpy(), expected)
    assert_same(op(gs.from_numpy(a)[::2], gs.from_numpy(b)[::2]).numpy(), expected[::2])
    assert_same(op(gs.from_numpy(a), gs.from_numpy(b[:1])).numpy(), PAIRS[name](a, b[:1]))


@pytest.mark.parametrize("name", SINGLES)
def test_functions_that_are_rounded_right_have_numpys_bits_for_every_half(name):
    expected = SINGLES[name](HALVES)
    assert_same(getattr(gs, name)(gs.from_numpy(HALVES)).numpy(), expected)
    assert_same(getattr(gs, name)(gs.from_numpy(HALVES)[::3]).numpy(), expected[::3])


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "expm1", "sigmoid", "log2", "atan"])
def test_functions_of_halves_are_those_of_float32_rounded(name):
    x = gs.from_numpy(HALVES)
    assert_same(getattr(gs, name)(x).numpy(), getattr(gs, name)(x.float()).half().numpy())


@pytest.mark.parametrize("exponent", [-2, -1, -0.5, 0.5, 1, 2, 3])
def test_small_powers_of_halves(exponent):
    x = gs.from_numpy(FINITE[FINITE > 0])
    assert_same((x**exponent).numpy(), (x.float() ** exponent).half().numpy())


@pytest.mark.parametrize("dim", [0, 1, (0, 1)])
def test_reductions_of_halves(dim):
    a = rng.standard_normal((60, 1100)).astype(np.float16)
    x = gs.from_numpy(a)
    assert_same(x.amax(dim).numpy(), a.max(dim))
    assert_same(x.amin(dim).numpy(), a.min(dim))
    np.testing.assert_array_equal(x.sum(dim).numpy(), a.astype(np.float64).sum(dim).astype(np.float16))


def test_outputs_in_steps():
    a = rng.standard_normal((20, 700)).astype(np.float16)
    out = gs.zeros(20, 1400, dtype=gs.float16)
    gs.add(gs.from_numpy(a), gs.from_numpy(a[0]), out=out[:, ::2])
    assert_same(out[:, ::2].contiguous().numpy(), a + a[0])
    assert not out[:, 1::2].any()


@pytest.mark.parametrize(
    "shapes", [((30, 40), (40, 20)), ((40,), (40, 20)), ((5, 30, 40), (40, 20)), ((3, 4), (4, 0)), ((2, 0), (0, 3))]
)
def test_products_of_halves_are_added_up_in_float32(shapes):
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in shapes)
    found = gs.from_numpy(a) @ gs.from_numpy(b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert found.dtype == gs.float16
    np.testing.assert_allclose(found.double().numpy(), exact, rtol=2**-11, atol=1e-4)
    transposed = gs.from_numpy(b.swapaxes(-1, -2).copy()).mT
    np.testing.assert_allclose((gs.from_numpy(a) @ transposed).double().numpy(), exact, rtol=2**-11, atol=1e-4)
