"""Elementary functions of single and double precision: errors, special values, and the same bits everywhere."""

import ctypes
import math
import subprocess
import sys
from pathlib import Path

import array_testing as kernels
import numpy as np
import pytest

import gradsmith as gs

ROOT = Path(__file__).resolve().parents[4]
DTYPES = [np.float32, np.float64]

# Extended precision, where the C library has it; of float32 also double serves.
WIDE = np.longdouble
is_wide = np.finfo(WIDE).nmant > 60

FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "atanh": np.arctanh,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}

# Where results are neither zero nor infinite, of float32 and float64.
DOMAINS = {
    "exp": ((-103.0, 88.7), (-744.0, 709.7)),
    "exp2": ((-149.0, 127.9), (-1074.0, 1023.9)),
    "expm1": ((-30.0, 88.7), (-60.0, 709.7)),
    "sinh": ((-89.4, 89.4), (-710.4, 710.4)),
    "cosh": ((-89.4, 89.4), (-710.4, 710.4)),
    "atanh": ((-1.0, 1.0), (-1.0, 1.0)),
    "log": ((0.0, 1e38), (0.0, 1e308)),
    "log1p": ((-1.0, 1e38), (-1.0, 1e308)),
    "log2": ((0.0, 1e38), (0.0, 1e308)),
    "log10": ((0.0, 1e38), (0.0, 1e308)),
    "tanh": ((-12.0, 12.0), (-25.0, 25.0)),
    "sin": ((-1e5, 1e5), (-1e5, 1e5)),
    "cos": ((-1e5, 1e5), (-1e5, 1e5)),
    "tan": ((-1e5, 1e5), (-1e5, 1e5)),
    "asin": ((-1.0, 1.0), (-1.0, 1.0)),
    "acos": ((-1.0, 1.0), (-1.0, 1.0)),
    "atan": ((-1e38, 1e38), (-8e307, 8e307)),
}


def points(name, dtype, count=20_000):
    """Evenly spread, of all magnitudes, near zero, near one, and near multiples of pi/2."""
    low, high = DOMAINS[name][DTYPES.index(dtype)]
    rng = np.random.default_rng(0)
    tiny = float(np.finfo(dtype).smallest_subnormal)
    sign = rng.choice([-1.0, 1.0], count)
    x = np.concatenate([
        rng.uniform(low, high, count), rng.uniform(low / 50, high / 50, count), rng.uniform(-2, 2, count),
        sign * np.exp(rng.uniform(np.log(tiny), np.log(high), count)),
        1 + sign * np.exp(rng.uniform(-30, 0, count)), rng.integers(-60_000, 60_000, count) * (np.pi / 2),
    ]).astype(dtype)  # fmt: skip
    return x[(x > low) & (x < high)]


def errors(found, exact):
    """In units in the last place of what is exact."""
    unit = np.spacing(np.abs(exact.astype(found.dtype))).astype(WIDE)
    return np.abs(found.astype(WIDE) - exact) / unit


@pytest.mark.skipif(not is_wide, reason="there is no type wider than float64 to compare with")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_below_one_and_a_half_units(name, dtype):
    x = points(name, dtype)
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype(WIDE))
    found = getattr(gs, name)(gs.from_numpy(x)).numpy()
    assert found.dtype == dtype
    worst = errors(found, exact)
    assert worst.max() < 1.5, x[worst.argmax()]


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_have_whole_logarithms(dtype):
    tens, twos = np.arange(-37, 39), np.arange(-126, 128)
    assert gs.log10(gs.tensor([10.0 ** int(n) for n in tens], dtype=dtype)).tolist() == list(tens)
    assert gs.log2(gs.from_numpy(2.0**twos).to(dtype)).tolist() == list(twos)


@pytest.mark.parametrize(("name", "bound"), [("erf", 1.5), ("erfc", 4.0)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_error_functions(name, bound, dtype):
    end = 9.0 if dtype == np.float32 else 26.0
    x = np.concatenate([np.linspace(-6.5, end if name == "erfc" else 6.5, 4001), np.geomspace(1e-30, 1, 500)]).astype(
        dtype
    )
    found = getattr(gs, name)(gs.from_numpy(x)).numpy()
    exact = np.array([getattr(math, name)(float(value)) for value in x])  # itself within 1 unit of double
    slack = 0 if dtype == np.float32 else 1
    assert errors(found, exact.astype(WIDE)).max() < bound + slack


def far_reference(x):
    """Sine and cosine by integers: pi has as many digits as the largest double before the point, and sixty more."""
    x = float(x)
    quarter = quarter_of_pi(1500)  # pi/4 times 2^1500
    numerator, denominator = abs(x).as_integer_ratio()
    turns, rest = divmod((numerator << 1500) // denominator, 2 * quarter)
    r = rest / (1 << 1500) if rest < quarter else -((2 * quarter - rest) / (1 << 1500))
    turns += rest >= quarter
    sine, cosine = ((math.sin(r), math.cos(r)), (math.cos(r), -math.sin(r)), (-math.sin(r), -math.cos(r)),
                    (-math.cos(r), math.sin(r)))[turns % 4]  # fmt: skip
    return (math.copysign(1, x) * sine, cosine)


def far_value(name, x):
    sine, cosine = far_reference(x)
    return {"sin": sine, "cos": cosine, "tan": sine / cosine}[name]


def quarter_of_pi(bits):
    """Machin's formula: pi/4 = 4 atan(1/5) - atan(1/239)."""
    guard = bits + 32

    def atan_of_inverse(n):
        power, total, k = (1 << guard) // n, 0, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power //= n * n
            k += 2
        return total

    return (4 * atan_of_inverse(5) - atan_of_inverse(239)) >> 32


@pytest.mark.parametrize("dtype", DTYPES)
def test_far_arguments(dtype):
    rng = np.random.default_rng(1)
    top = np.log(float(np.finfo(dtype).max))
    x = (rng.choice([-1, 1], 200) * np.exp(rng.uniform(np.log(1e5), top, 200))).astype(dtype)
    x = np.concatenate([x, np.array([np.finfo(dtype).max, 1e5, 100001, 2.0**60, 3e22], dtype)])
    for name in ("sin", "cos", "tan"):
        exact = np.array([far_value(name, value) for value in x])
        found = getattr(gs, name)(gs.from_numpy(x)).numpy()
        assert errors(found, exact.astype(WIDE)).max() < 1.5 + (dtype == np.float64) * (1 + (name == "tan"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*FUNCTIONS, "erf", "erfc"])
def test_special_values(name, dtype):
    """Zeros with their signs, infinities, NaN, the ends of the range, and outside the domain."""
    info = np.finfo(dtype)
    x = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, info.max, -info.max, info.smallest_subnormal, info.tiny], dtype
    )
    with np.errstate(all="ignore"):
        exact = [math_value(name, float(value)) for value in x]
        exact = np.array(exact).astype(dtype)
    found = getattr(gs, name)(gs.from_numpy(x)).numpy()
    np.testing.assert_allclose(found, exact, rtol=4 * info.eps, atol=0)
    numbers = ~np.isnan(exact)
    assert (np.signbit(found) == np.signbit(exact))[numbers].all()


def math_value(name, x):
    if name in ("sin", "cos", "tan") and not math.isfinite(x):
        return math.nan
    if name in ("sin", "cos", "tan"):
        return far_value(name, x) if abs(x) > 1 else getattr(math, name)(x)
    if name in ("erf", "erfc"):
        return getattr(math, name)(x)
    return float(FUNCTIONS[name](np.float64(x)))


SPECIAL = [
    "erfinv", "erfcinv", "ndtri", "erfcx", "ndtr", "log_ndtr", "digamma", "trigamma", "tetragamma", "i0", "i0e", "i1",
    "i1e", "k0", "k0e", "k1", "k1e",
]  # fmt: skip


def function_of(name):
    if name in ("trigamma", "tetragamma"):
        return lambda x: gs.polygamma(1 if name == "trigamma" else 2, x)
    return getattr(gs.special if name in SPECIAL else gs, name)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*FUNCTIONS, "erf", "erfc", "lgamma", *SPECIAL])
def test_bits_do_not_depend_on_the_place_of_an_element(name, dtype):
    low, high = DOMAINS.get(name, ((-5.0, 5.0),) * 2)[DTYPES.index(dtype)]
    x = np.random.default_rng(2).uniform(max(low, -50), min(high, 50), 300).astype(dtype)
    x[7] = 1e6  # far, for sines
    function = function_of(name)
    whole = function(gs.from_numpy(x)).numpy()
    alone = np.array([function(gs.tensor(value, dtype=gs.from_numpy(x).dtype)).item() for value in x], dtype)
    spread = function(gs.from_numpy(np.repeat(x, 3)[::3])).numpy()
    parts = np.concatenate(
        [function(gs.from_numpy(x[first : first + 13].copy())).numpy() for first in range(0, 300, 13)]
    )
    for other in (alone, spread, parts):
        assert whole.tobytes() == other.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_do_not_depend_on_neighbours(name, dtype):
    """A NaN, a zero or a huge number sends its block the long way."""
    function = getattr(gs, name)
    x = np.random.default_rng(1).permutation(points(name, dtype))
    alone = function(gs.tensor(x)).numpy()
    for unusual in (np.nan, 0.0, -np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal):
        mixed = x.copy()
        mixed[::100] = unusual
        found = function(gs.tensor(mixed)).numpy()
        found[::100] = alone[::100]
        assert found.tobytes() == alone.tobytes()


@pytest.mark.parametrize("name", ["EXP", "LOG", "SIN", "TANH"])
@pytest.mark.parametrize("step", [1, 2, -1, 5])
def test_steps_of_operand_and_result(name, step):
    x = np.random.default_rng(3).uniform(0.5, 2, 2000)
    out = np.zeros(2000)
    kernels.apply_unary(name, x[::step], out[::step])
    np.testing.assert_allclose(out[::step], getattr(np, name.lower())(x[::step]), rtol=1e-15)
    untouched = np.ones(2000, bool)
    untouched[::step] = False
    assert not out[untouched].any()


def test_gradients_of_far_and_near_arguments():
    x = gs.tensor([1.0, 1e6, -3e10, 0.25] * 100, dtype=gs.float64, requires_grad=True)
    (sine,) = gs.autograd.grad(gs.sin(x).sum(), x)
    (cosine,) = gs.autograd.grad(gs.cos(x).sum(), x)
    exact = np.array([far_reference(value) for value in x.tolist()])
    np.testing.assert_allclose(sine.numpy(), exact[:, 1], rtol=1e-14)
    np.testing.assert_allclose(cosine.numpy(), -exact[:, 0], rtol=1e-14)


# ---- angles of points


def sides(dtype, count=20_000):
    """Of all directions, and of all ratios and sizes."""
    rng = np.random.default_rng(5)
    least, most = np.log(float(np.finfo(dtype).tiny)), np.log(float(np.finfo(dtype).max))
    y, x = (rng.choice([-1, 1], count) * np.exp(rng.uniform(least, most, count)) for _ in range(2))
    turned = rng.uniform(-np.pi, np.pi, count)
    near = rng.choice([-1, 1], count) * np.exp(rng.uniform(-5, 5, count))
    return (
        np.concatenate([y, np.sin(turned), near * rng.uniform(0.3, 3, count)]).astype(dtype),
        np.concatenate([x, np.cos(turned), near]).astype(dtype),
    )


@pytest.mark.skipif(not is_wide, reason="there is no type wider than float64 to compare with")
@pytest.mark.parametrize("dtype", DTYPES)
def test_angles(dtype):
    y, x = sides(dtype)
    found = gs.atan2(gs.from_numpy(y), gs.from_numpy(x)).numpy()
    exact = np.arctan2(y.astype(WIDE), x.astype(WIDE))
    normal = np.abs(exact) > np.finfo(dtype).tiny  # smaller ones are rounded once more
    worst = errors(found[normal], exact[normal])
    assert worst.max() < 1.5, (y[normal][worst.argmax()], x[normal][worst.argmax()])
    np.testing.assert_allclose(
        found[~normal], exact[~normal].astype(dtype), rtol=0, atol=np.finfo(dtype).smallest_subnormal
    )


# ---- levels of instruction sets

SOURCE = """
#include "elementary/elementary.h"
#define LOOP(name, function, real)                       \\
    void name(const real *x, real *out, long n)          \\
    {                                                    \\
        GS_IVDEP                                         \\
        for (long i = 0; i < n; i++) {                   \\
            out[i] = function(x[i]);                     \\
        }                                                \\
    }
#define BOTH(name) LOOP(name##_of_floats, gs_##name##f, float) LOOP(name##_of_doubles, gs_##name, double)
BOTH(exp) BOTH(expm1) BOTH(log) BOTH(log1p) BOTH(tanh) BOTH(erf) BOTH(erfc) BOTH(sin) BOTH(cos)
BOTH(exp2) BOTH(sinh) BOTH(cosh) BOTH(atanh) BOTH(tan) BOTH(asin) BOTH(acos) BOTH(atan) BOTH(log2) BOTH(log10)
BOTH(erfinv) BOTH(erfcinv) BOTH(ndtri) BOTH(erfcx) BOTH(ndtr) BOTH(log_ndtr)
BOTH(lgamma) BOTH(digamma) BOTH(trigamma) BOTH(tetragamma)
BOTH(i0) BOTH(i0e) BOTH(i1) BOTH(i1e)
BOTH(k0) BOTH(k0e) BOTH(k1) BOTH(k1e)
"""


@pytest.fixture(scope="module")
def levels(tmp_path_factory):
    """The functions compiled for each instruction set that this machine has, by the compiler's name for it."""
    from compiling.toolchain import Toolchain

    toolchain = Toolchain()
    folder = tmp_path_factory.mktemp("levels")
    (folder / "functions.c").write_text(SOURCE)
    flags = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC", f"-I{ROOT}/runtime/arrays/kernels"]
    libraries = {}
    for level in ("x86-64-v3", "x86-64-v4") if has_avx2() else ():
        target = folder / f"{level}.so"
        command = [*toolchain.command.split(), *flags, f"-march={level}", "-o", target, folder / "functions.c", "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        if level == "x86-64-v3" or has_avx512():
            libraries[level] = ctypes.CDLL(str(target))
    return libraries


def flags_of_processor():
    path = Path("/proc/cpuinfo")
    return set(path.read_text().split()) if sys.platform == "linux" and path.exists() else set()


def has_avx2():
    return {"avx2", "fma"} <= flags_of_processor()


def has_avx512():
    return {"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= flags_of_processor()


@pytest.mark.compiles
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*FUNCTIONS, "erf", "erfc", "lgamma", *SPECIAL])
def test_levels_give_the_same_bits_as_this_build(name, dtype, levels):
    x = points(name if name in DOMAINS else "sin", dtype, 2000)
    expected = function_of(name)(gs.from_numpy(x)).numpy()
    suffix = "_of_floats" if dtype == np.float32 else "_of_doubles"
    for library in levels.values():
        found = np.empty_like(x)
        pointers = (ctypes.c_void_p(array.ctypes.data) for array in (x, found))
        getattr(library, name + suffix)(*pointers, ctypes.c_long(x.size))
        assert found.tobytes() == expected.tobytes()
