"""Kernels of gamma, error and Bessel functions and of inverses, beside sums in extended precision and known digits."""

import math

import numpy as np
import pytest

import gradsmith as gs

DTYPES = [np.float32, np.float64]
WIDE = np.longdouble
needs_wide = pytest.mark.skipif(
    np.finfo(WIDE).nmant <= 60, reason="there is no type wider than float64 to compare with"
)

# B(2k) / (2k)! for the derivatives of the series of digamma.
BERNOULLI = ["1/6", "-1/30", "1/42", "-1/30", "5/66", "-691/2730", "7/6", "-3617/510", "43867/798", "-174611/330"]
BEGIN = 25  # where ten terms of the series are exact to 20 digits

LOGARITHMS = [
    (5e-324, 744.44007192138126231), (1e-300, 690.77552789821370518), (0.3, 1.0957979948180755606),
    (0.999999, 5.7721648738556523794e-7), (1.0001, -0.000057713342220471268005), (2.000001, 4.227846576245292362e-7),
    (4.99, 3.1630037279519768302), (5.01, 3.1931260650573446772), (171.5, 709.14316303092824227),
    (1e300, 6.8977552789821374147e302), (-1e-300, 690.77552789821370518), (-0.3, 1.4648400508576025305),
    (-3.5, -1.3090066849930420464), (-100.25, -363.40092322782154071),
]  # fmt: skip

GAMMAS = {"digamma": 0, "trigamma": 1, "tetragamma": 2}


def gamma_function(name):
    return lambda x: gs.polygamma(GAMMAS[name], x)


def wide_polygamma(order, x):
    """By recurrence up to where the series is exact; negative numbers take the same way, if a long one."""
    x = x.astype(WIDE)
    total = np.zeros_like(x)
    for _ in range(BEGIN + math.ceil(max(0.0, -float(x.min())))):
        is_low = x < BEGIN
        step = np.where(is_low, x, 1)
        total += np.where(is_low, -((-1) ** order) * math.factorial(order) / step ** (order + 1), 0)
        x = np.where(is_low, x + 1, x)
    return total + wide_series(order, x)


def wide_series(order, x):
    found = np.log(x) if order == 0 else (-1) ** (order + 1) * WIDE(math.factorial(order - 1)) / x**order
    found = found - (-1) ** order * math.factorial(order) / (2 * x ** (order + 1))
    for k, text in enumerate(BERNOULLI, 1):
        above, below = map(int, text.split("/"))
        factor = WIDE(above) / below * math.factorial(2 * k + order - 1) / math.factorial(2 * k)
        found = found - (-1) ** order * factor / x ** (2 * k + order)
    return found


def positive_points(dtype, count=4000):
    rng = np.random.default_rng(0)
    spread = np.exp(rng.uniform(-25, 25, count))
    near_root = 1.4616321449683622 + rng.choice([-1, 1], count) * np.exp(rng.uniform(-5, 0, count))
    return np.concatenate(
        [rng.uniform(0, 8, count), spread, rng.uniform(4.9, 6.1, count), near_root, [1, 2, 5, 6]]
    ).astype(dtype)


def negative_points(dtype, count=2000):
    rng = np.random.default_rng(1)
    near_poles = -rng.integers(1, 9, count) + rng.uniform(-1, 1, count) * np.exp(rng.uniform(-14, 0, count))
    x = np.concatenate([rng.uniform(-9, 0, count), near_poles, -np.exp(rng.uniform(-25, 0, count))]).astype(dtype)
    return x[x != np.rint(x)]


def units(found, exact, size):
    return (np.abs(found.astype(WIDE) - exact) / np.spacing(np.abs(size).astype(found.dtype)).astype(WIDE)).max()


@needs_wide
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", GAMMAS)
def test_errors_of_gamma_functions(name, dtype):
    x = positive_points(dtype)
    exact = wide_polygamma(GAMMAS[name], x)
    assert units(gamma_function(name)(gs.from_numpy(x)).numpy(), exact, exact) < (0.51 if dtype == np.float32 else 6)


@needs_wide
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", GAMMAS)
def test_errors_of_reflected_gamma_functions(name, dtype):
    """Next to a root they are relative to what is subtracted there."""
    x = negative_points(dtype)
    exact = wide_polygamma(GAMMAS[name], x)
    mirrored = np.abs(wide_polygamma(GAMMAS[name], 1 - x.astype(WIDE)))
    size = np.abs(exact) + np.where(x < -1 if name == "digamma" else x < 0, mirrored, 0)
    assert units(gamma_function(name)(gs.from_numpy(x)).numpy(), exact, size) < (0.51 if dtype == np.float32 else 6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithm_of_gamma_beside_that_of_python(dtype):
    """Which errs by up to 7 units, and more next to the roots: known values are compared too."""
    rng = np.random.default_rng(2)
    near_roots = rng.integers(1, 3, 2000) + rng.choice([-1, 1], 2000) * np.exp(rng.uniform(-14, 0, 2000))
    x = np.concatenate([positive_points(dtype), near_roots.astype(dtype), negative_points(dtype)])
    exact = np.array([math.lgamma(float(value)) for value in x])
    mirrored = np.array([abs(math.lgamma(1 - float(value))) if value < 0 else 0 for value in x])
    found = gs.lgamma(gs.from_numpy(x)).numpy()
    assert found.dtype == dtype
    size = np.maximum(np.abs(exact), np.maximum(mirrored, 0 if dtype == np.float32 else 1))
    assert units(found, exact.astype(WIDE), size) < (0.53 if dtype == np.float32 else 12)


def test_known_values_of_the_logarithm_of_gamma():
    """Computed to 60 digits."""
    x, exact = map(np.array, zip(*LOGARITHMS, strict=True))
    np.testing.assert_allclose(gs.lgamma(gs.from_numpy(x)).numpy(), exact, rtol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_logarithm_of_gamma_at_roots_poles_and_infinities(dtype):
    x = gs.from_numpy(np.array([1, 2, 0.0, -0.0, -1, -2, -1e30, -np.inf, np.inf, np.nan], dtype))
    found = gs.lgamma(x).numpy()
    np.testing.assert_array_equal(found, [0, 0, *[np.inf] * 7, np.nan])
    assert not np.signbit(found[:2]).any()


def test_digamma_next_to_its_roots():
    """Computed to 40 digits."""
    x = [1.4616321449683622, 1.4616321, 1.46, -0.5040830082644554, -0.504083, -0.51]
    exact = [
        -9.2412655217294275168e-17, -4.3514636958769773704e-8, -0.0015805619870834521062, 7.2897639029768949445e-17,
        7.3882566968426153335e-8, -0.052931736969635927023,
    ]  # fmt: skip
    np.testing.assert_allclose(gs.digamma(gs.tensor(x, dtype=gs.float64)), exact, rtol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gamma_functions_at_poles_and_infinity(dtype):
    x = gs.from_numpy(np.array([0.0, -0.0, -1, -2, -1e30, np.inf, np.nan], dtype))
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(gs.digamma(x), [-inf, inf, nan, nan, nan, inf, nan])
    np.testing.assert_array_equal(gs.polygamma(1, x), [inf, inf, inf, inf, inf, 0, nan])
    np.testing.assert_array_equal(gs.polygamma(2, x), [-inf, -inf, -inf, -inf, -inf, 0, nan])


# Computed to 40 digits.
INVERSES = {
    "erfinv": [
        (1e-300, 8.8622692545275803586e-301), (1e-9, 8.8622692545275806908e-10), (0.25, 0.22531205501217810473),
        (-0.7, -0.73286907795921678488), (0.9966, 2.0711509399065526918), (0.9967, 2.0777034861650990984),
        (-0.999999, -3.4589107372754987775), (1 - 2.0**-53, 5.8635847487551679272),
    ],
    "ndtri": [
        (5e-324, -38.467405617144346251), (1e-300, -37.047096299361199237), (1e-16, -8.2220822161304356152),
        (1e-15, -7.9413453261709967713), (0.001, -3.0902323061678135354), (0.3, -0.52440051270804081597),
        (0.5 + 2.0**-52, 5.5658328493435338445e-16), (0.9999, 3.7190164854557083867),
        (1 - 2.0**-53, 8.2095361516013868556),
    ],
    "erfcinv": [
        (5e-324, 27.213293210812948815), (1e-300, 26.209469960516123886), (1e-15, 5.6758463474676469783),
        (0.3, 0.73286907795921686905), (1.5, -0.47693627620446987338), (1.9999, -2.7510639057120796917),
        (2 - 2.0**-52, -5.8050186831934533002),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", INVERSES)
def test_known_values_of_inverses(name):
    x, exact = map(np.array, zip(*INVERSES[name], strict=True))
    np.testing.assert_allclose(getattr(gs.special, name)(gs.from_numpy(x)).numpy(), exact, rtol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", INVERSES)
def test_inverses_beside_those_of_scipy(name, dtype):
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(3)
    low, high = {"erfinv": (-1, 1), "ndtri": (0, 1), "erfcinv": (0, 2)}[name]
    tiny = np.exp(rng.uniform(math.log(np.finfo(dtype).tiny), 0, 3000))
    x = np.concatenate([rng.uniform(low, high, 3000), tiny, high - tiny * 0.01]).astype(dtype)
    x = x[(x > low) & (x < high)]
    if name == "erfinv":  # SciPy's has a dozen digits where it switches to another formula
        x = x[np.abs(x) > 1e-6]
    found = getattr(gs.special, name)(gs.from_numpy(x)).numpy()
    exact = getattr(special, name)(x.astype(float))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, exact, rtol=6.1e-8 if dtype == np.float32 else 3e-15, atol=1e-300)


@pytest.mark.parametrize("dtype", DTYPES)
def test_inverses_at_the_ends_and_outside(dtype):
    x = gs.from_numpy(np.array([-1.0, 0.0, -0.0, 1.0, 2.0, 3.0, -np.inf, np.inf, np.nan], dtype))
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(gs.erfinv(x), [-inf, 0, 0, inf, nan, nan, nan, nan, nan])
    assert np.signbit(gs.erfinv(x).numpy()).tolist()[1:3] == [False, True]
    np.testing.assert_array_equal(gs.special.ndtri(x), [nan, -inf, -inf, inf, nan, nan, nan, nan, nan])
    np.testing.assert_array_equal(gs.special.erfcinv(x), [nan, inf, inf, 0, -inf, nan, nan, nan, nan])


# Computed to 400 digits.
NORMAL = {
    "erfcx": [
        (-26.5, 1.9245531624185688092e305), (-5.3, 3164914574749.3398176), (-1.0, 5.0089800807622834663),
        (-1e-9, 1.0000000011283791681), (0.3, 0.73459933456765514992), (0.9, 0.45653165132311703252),
        (4.0, 0.13699945762506138989), (27.9, 0.020208884621282616655), (28.1, 0.020065231377197208914),
        (1e5, 5.6418958351954680777e-6), (1e200, 5.6418958354775630402e-201),
    ],
    "ndtr": [
        (-36.62374916611074, 5.9902685264467266062e-294), (-20.0, 2.7536241186062336951e-89),
        (-5.0, 2.8665157187919391167e-7), (-0.51, 0.30502573089751941428), (-0.49, 0.31206694941739054927),
        (1e-10, 0.50000000003989422804), (0.7, 0.75803634777692697138), (3.0, 0.99865010196836990547),
        (8.0, 0.9999999999999993779),
    ],
    "log_ndtr": [
        (-1e100, -5.000000000000000159e199), (-40.5, -824.74584924403801836), (-39.0, -765.0831565643775444),
        (-5.0, -15.064998393988725736), (-1.1, -1.997558846986297077), (-0.9, -1.6924928065613382014),
        (0.3, -0.48141016158848120517), (3.0, -0.0013508099647481937988), (9.0, -1.1285884059538406478e-19),
        (30.0, -4.9067139271481870595e-198),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", NORMAL)
def test_known_values_of_the_normal_distribution(name):
    x, exact = map(np.array, zip(*NORMAL[name], strict=True))
    np.testing.assert_allclose(getattr(gs.special, name)(gs.from_numpy(x)).numpy(), exact, rtol=1.2e-15)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NORMAL)
def test_normal_distribution_beside_that_of_scipy(name, dtype):
    """Whose errors in the tails are the larger ones."""
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-9, 12, 3000), rng.uniform(-1.5, 1.5, 2000), 10 ** rng.uniform(-8, 3, 500)])
    x = x.astype(dtype)
    exact = getattr(special, name)(x.astype(float))
    numbers = np.abs(exact) > np.finfo(dtype).tiny
    found = getattr(gs.special, name)(gs.from_numpy(x)).numpy()
    assert found.dtype == dtype
    rtol = 6.1e-8 if dtype == np.float32 else 2e-13
    np.testing.assert_allclose(found[numbers], exact[numbers], rtol=rtol)
    np.testing.assert_allclose(found[~numbers], exact[~numbers], atol=np.finfo(dtype).tiny)


@pytest.mark.parametrize("dtype", DTYPES)
def test_normal_distribution_at_its_ends(dtype):
    x = gs.from_numpy(np.array([-np.inf, -1e30, -0.0, 0.0, 1e30, np.inf, np.nan], dtype))
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(gs.special.ndtr(x), [0, 0, 0.5, 0.5, 1, 1, nan])
    np.testing.assert_array_equal(gs.special.erfcx(x)[[0, 1, 2, 3, 5, 6]], [inf, inf, 1, 1, 0, nan])
    np.testing.assert_allclose(gs.special.log_ndtr(x)[[0, 2, 4, 5, 6]], [-inf, -math.log(2), 0, 0, nan], rtol=1e-7)


# Computed to 60 digits.
BESSEL = {
    "i0": [
        (-713.9, 1.6481551866951378088e308), (-30.0, 781672297823.97748972), (1e-9, 1.0000000000000000002),
        (0.5, 1.0634833707413235193), (7.99, 423.58420367467368597), (8.01, 431.5817860520923996),
    ],
    "i0e": [
        (-1e200, 3.9894228040143268398e-101), (-30.0, 0.073145946482237293929), (-0.5, 0.64503527044915006811),
        (1e-9, 0.99999999900000000075), (7.99, 0.14352476537933484729), (8.01, 0.14333897941113851025),
    ],
    "i1": [
        (-713.9, -1.6470004499232343763e308), (-30.0, -768532038938.95699949), (-0.5, -0.25789430539089631636),
        (1e-300, 5.0000000000000001253e-301), (7.99, 396.1152262074012714), (8.01, 403.66693999770412268),
    ],
    "i1e": [
        (-1e200, -3.9894228040143268398e-101), (-30.0, -0.071916330598647554706), (1e-300, 5.0000000000000001253e-301),
        (0.5, 0.15642080318487169714), (7.99, 0.13421733957828099261), (8.01, 0.13406776900984483122),
    ],
}  # fmt: skip
SECOND_BESSEL = {
    "k0": [
        (1e-300, 690.89145941387211763), (0.3, 1.3724600605442974106), (0.9, 0.48673030816290050567),
        (1.1, 0.36560239154318583529), (7.0, 0.00042479574186923180685), (400.0, 1.1997800432009760003e-175),
    ],
    "k0e": [
        (1e-300, 690.89145941387211763), (0.3, 1.8526273007720143077), (0.9, 1.1971633802518509633),
        (1.1, 1.0983302829475997303), (7.0, 0.46584509609301588792), (400.0, 0.062646151299578113829),
    ],
    "k1": [
        (1e-300, 9.9999999999999997494e299), (0.3, 3.0559920334573251072), (0.9, 0.7165335787760190463),
        (1.1, 0.50976002716702697519), (7.0, 0.00045418248688489697124), (400.0, 1.2012788332610325652e-175),
    ],
    "k1e": [
        (1e-300, 9.9999999999999997494e299), (0.3, 4.1251577622444698058), (0.9, 1.7623882196059197619),
        (1.1, 1.5314037539811932897), (7.0, 0.49807157509547654022), (400.0, 0.062724410168277165176),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", [*BESSEL, *SECOND_BESSEL])
def test_known_values_of_bessel_functions(name):
    x, exact = map(np.array, zip(*(BESSEL | SECOND_BESSEL)[name], strict=True))
    np.testing.assert_allclose(getattr(gs.special, name)(gs.from_numpy(x)).numpy(), exact, rtol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*BESSEL, *SECOND_BESSEL])
def test_bessel_functions_beside_those_of_scipy(name, dtype):
    special = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(5)
    far = 88 if dtype == np.float32 else 708
    x = np.concatenate([rng.uniform(-12, 12, 3000), rng.uniform(-far, far, 1000), np.exp(rng.uniform(-80, 4, 1000))])
    x = (np.abs(x) if name in SECOND_BESSEL else x).astype(dtype)
    exact = getattr(special, name)(x.astype(float))
    found = getattr(gs.special, name)(gs.from_numpy(x)).numpy()
    assert found.dtype == dtype
    rtol = 6.1e-8 if dtype == np.float32 else 4e-15
    np.testing.assert_allclose(found, exact, rtol=rtol, atol=np.finfo(dtype).smallest_subnormal)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bessel_functions_at_zero_and_infinity(dtype):
    x = gs.from_numpy(np.array([-np.inf, -1e30, -0.0, 0.0, 1e30, np.inf, np.nan], dtype))
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(gs.special.i0(x), [inf, inf, 1, 1, inf, inf, nan])
    np.testing.assert_array_equal(gs.special.i1(x), [-inf, -inf, 0, 0, inf, inf, nan])
    np.testing.assert_array_equal(gs.special.i0e(x)[[0, 2, 3, 5, 6]], [0, 1, 1, 0, nan])
    np.testing.assert_array_equal(gs.special.i1e(x)[[0, 2, 3, 5, 6]], [0, 0, 0, 0, nan])
    for function in (gs.special.i1, gs.special.i1e):
        assert np.signbit(function(x).numpy()).tolist()[:6] == [True, True, True, False, False, False]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SECOND_BESSEL)
def test_second_bessel_functions_at_zero_and_infinity_and_of_negative_numbers(name, dtype):
    x = gs.from_numpy(np.array([0.0, -0.0, np.inf, -1e-3, -2, -1e30, -np.inf, np.nan], dtype))
    np.testing.assert_array_equal(getattr(gs.special, name)(x), [np.inf, np.inf, 0, *[np.nan] * 5])


def test_float32_of_erfc_is_rounded_once():
    x = np.concatenate([np.linspace(-6, 10.2, 20_001), [np.inf, -np.inf, np.nan]]).astype(np.float32)
    exact = np.array([math.erfc(float(value)) for value in x])
    numbers = exact > np.finfo(np.float32).tiny
    found = gs.erfc(gs.from_numpy(x)).numpy()
    assert units(found[numbers], exact[numbers].astype(WIDE), exact[numbers]) < 0.51
    np.testing.assert_array_equal(found[-3:], exact[-3:])
    np.testing.assert_array_equal(found[exact == 0], 0)


@pytest.mark.parametrize("name", [*INVERSES, *NORMAL, *BESSEL, *SECOND_BESSEL, *GAMMAS])
def test_dtypes_sizes_and_strides(name):
    function = gamma_function(name) if name in GAMMAS else getattr(gs.special, name)
    x = np.random.default_rng(4).uniform(0.05, 0.95, (7, 6))
    expected = function(gs.from_numpy(x)).numpy()
    np.testing.assert_array_equal(function(gs.from_numpy(x.T)).numpy(), expected.T)
    np.testing.assert_array_equal(function(gs.from_numpy(x)[::3, 1::2]), expected[::3, 1::2])
    assert function(gs.zeros(0, 3)).shape == (0, 3)
    assert (
        function(gs.tensor(0.5, dtype=gs.float64)).item() == function(gs.tensor([0.5] * 9, dtype=gs.float64))[5].item()
    )


@pytest.mark.parametrize("name", [*INVERSES, *NORMAL, *BESSEL, *SECOND_BESSEL, *GAMMAS])
def test_other_dtypes_take_the_long_way(name):
    pytest.importorskip("scipy")
    function = gamma_function(name) if name in GAMMAS else getattr(gs.special, name)
    half = function(gs.tensor([0.25, 0.5], dtype=gs.float16))
    assert half.dtype == gs.float16
    np.testing.assert_allclose(half, function(gs.tensor([0.25, 0.5])), rtol=2e-3)
    assert function(gs.tensor([1])).dtype == gs.float32


def test_derivatives_of_log_gamma_of_any_order():
    x = gs.tensor([0.3, 2.5, 7.0], dtype=gs.float64, requires_grad=True)
    y = gs.lgamma(x).sum()
    for order in range(4):
        (y,) = gs.autograd.grad(y, x, create_graph=True)
        exact = wide_polygamma(order, x.detach().numpy()).astype(float)
        np.testing.assert_allclose(y.detach(), exact, rtol=1e-13)
        y = y.sum()
