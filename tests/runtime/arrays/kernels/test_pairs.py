"""Functions of two numbers that have loops of our own: exact ones against NumPy's, others against a wider type."""

import array_testing as kernels
import numpy as np
import pytest

DTYPES = [np.float32, np.float64]
WIDE = np.longdouble
is_wide = np.finfo(WIDE).nmant > 60

EXACT = ["MAXIMUM", "MINIMUM", "FMAX", "FMIN", "COPYSIGN", "FMOD", "REMAINDER", "FLOOR_DIVIDE", "NEXTAFTER"]
ROUNDED = ["HYPOT", "ARCTAN2", "LOGADDEXP", "LOGADDEXP2"]


def numbers(dtype, seed, count=3000):
    """Of all magnitudes, usual ones, whole ones, multiples of a tenth, and special ones."""
    rng, info = np.random.default_rng(seed), np.finfo(dtype)
    anywhere = np.ldexp(rng.uniform(0.5, 1, count), rng.integers(info.minexp - 20, info.maxexp, count))
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, info.max, info.smallest_subnormal], count)
    kinds = [
        anywhere * rng.choice([-1, 1], count), rng.standard_normal(count), rng.integers(-20, 20, count),
        rng.integers(-2000, 2000, count) * 0.1, special,
    ]  # fmt: skip
    with np.errstate(over="ignore"):
        return np.choose(rng.integers(0, len(kinds), count), kinds).astype(dtype)


def by_numpy(name, *operands):
    with np.errstate(all="ignore"):
        return getattr(np, name.lower())(*operands)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_exact_functions(name, dtype):
    """With arrays, with a number on either side, and the other way round."""
    x, y = numbers(dtype, 1), numbers(dtype, 2)
    operands = [(x, y), (x[::-1], y), (x, y[:1])]
    operands += [(x, np.asarray(c, dtype)) for c in (0.1, -3.0, 2.5e-30, 0.0, np.inf, np.nan)]
    for left, right in operands:
        for pair in ((left, right), (right, left)):
            np.testing.assert_array_equal(kernels.apply_binary(name, *pair), by_numpy(name, *pair))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT + ROUNDED)
def test_special_numbers_by_themselves(name, dtype):
    """A block of them has no neighbour that would send it the long way."""
    info = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, info.tiny, info.max, -info.max, info.smallest_subnormal]
    for left in special:
        for right in special:
            x, y = np.full(40, left, dtype), np.full(40, right, dtype)
            found, expected = kernels.apply_binary(name, x, y), by_numpy(name, x, y)
            np.testing.assert_allclose(found, expected, rtol=4 * info.eps if name in ROUNDED else 0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_remainders_of_zero_have_a_sign(dtype):
    x = np.array([6.0, -6.0, 0.0, -0.0, 0.3, -0.3], dtype)
    y = np.array([3.0, 3.0, -2.0, 2.0, -0.1, 0.3], dtype)
    for name in ("FMOD", "REMAINDER", "FLOOR_DIVIDE"):
        found, expected = kernels.apply_binary(name, x, y), by_numpy(name, x, y)
        assert found.tobytes() == expected.tobytes()


@pytest.mark.skipif(not is_wide, reason="there is no type wider than float64 to compare with")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ROUNDED)
def test_errors(name, dtype):
    """Of sums of logarithms in units of the greater term, as the parts of a sum may cancel."""
    x, y = numbers(dtype, 3), numbers(dtype, 4)
    with np.errstate(all="ignore"):
        exact = by_numpy(name, x.astype(WIDE), y.astype(WIDE))
        found = kernels.apply_binary(name, x, y)
        size = (
            np.abs(exact)
            if name in ("HYPOT", "ARCTAN2")
            else np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(exact))
        )
        unit = np.spacing(size.astype(dtype)).astype(WIDE)
        error = np.abs(found.astype(WIDE) - exact) / unit
    is_number = np.isfinite(exact)
    assert error[is_number & (size < np.finfo(dtype).max / 2)].max() < 1.5
    np.testing.assert_array_equal(found[~is_number], exact[~is_number].astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT + ROUNDED)
def test_bits_depend_on_the_two_numbers_alone(name, dtype):
    rng = np.random.default_rng(5)
    x, y = (rng.uniform(0.1, 5, 301).astype(dtype) for _ in range(2))
    whole = kernels.apply_binary(name, x, y)
    alone = np.array([kernels.apply_binary(name, x[i : i + 1], y[i : i + 1])[0] for i in range(301)])
    spread = kernels.apply_binary(name, np.repeat(x, 2)[::2], np.repeat(y, 3)[::3])
    for other in (alone, spread):
        assert whole.tobytes() == other.tobytes()
    for unusual in (np.nan, np.inf, 0.0, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal):
        mixed = x.copy()
        mixed[::50] = unusual
        found = kernels.apply_binary(name, mixed, y)
        found[::50] = whole[::50]
        assert found.tobytes() == whole.tobytes()


@pytest.mark.parametrize("name", EXACT + ROUNDED)
@pytest.mark.parametrize("step", [1, 2, -1])
def test_results_in_the_place_of_an_operand(name, step):
    rng = np.random.default_rng(6)
    x, y = rng.uniform(0.1, 5, 1500), rng.uniform(0.1, 5, 1500)
    expected = kernels.apply_binary(name, x[::step].copy(), y[::step].copy())
    for place in (0, 1):
        both = [x.copy()[::step], y.copy()[::step]]
        kernels.apply_binary(name, *both, both[place])
        np.testing.assert_array_equal(both[place], expected)
