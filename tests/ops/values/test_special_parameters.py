"""Special functions with derivatives in their parameters: numbers of 40 digits, and the ends of their domains."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad

pytest.importorskip("scipy")

# Function, arguments, value, derivatives with respect to the arguments that are no whole numbers.
KNOWN = [
    (
        "betainc",
        (2.5, 0.75, 0.3),
        0.032807526674675375,
        (-0.042081823389202556, 0.06092096548275062, 0.2811259860203827),
    ),
    (
        "betainc",
        (0.01, 40.0, 0.002),
        0.9797583772794868,
        (-2.010678487882409, 0.00022931235245268608, 4.534290287502841),
    ),
    (
        "betainc",
        (30.0, 20.0, 0.95),
        0.9999999999999343,
        (-3.079660801638762e-14, 1.3909311234098568e-13, 2.4371713405363603e-11),
    ),
    (
        "betainc",
        (5.0, 0.001, 0.4),
        3.097450997886651e-06,
        (-3.4103422261733604e-06, 0.003102613673870046, 4.2733782707863386e-05),
    ),
    (
        "betaincc",
        (1.5, 3.0, 0.9),
        0.0021037558631157955,
        (0.0026810666658147533, -0.00457186327359024, -0.06225734143456494),
    ),
    ("jv", (0.3, 1.2), 0.7111886464520507, (-0.06317250509413813, -0.19800668962201712)),
    ("jv", (2.0, 7.5), -0.23027341052579026, (-0.24728267375935628, 0.1966546703865829)),
    ("jv", (20.0, 3.0), 1.2275946737992987e-15, (-3.2039235922001894e-15, 8.09584809519983e-15)),
    ("jv", (-1.5, 4.0), 0.36711203246093416, (-0.3771107850269434, 0.1230990645043285)),
    ("yv", (0.3, 1.2), -0.08022932823167017, (-0.9738736858155714, 0.7682946337692624)),
    ("yv", (2.0, 7.5), -0.18641422227783963, (0.29678283034586106, -0.2094180512120257)),
    ("yv", (20.0, 3.0), -13113540041757.447, (-33554435112385.348, 86381413086956.69)),
    ("yv", (-1.5, 4.0), -0.18528594835426895, (-0.7036885192438159, 0.3714027439244903)),
    ("iv", (0.3, 1.2), 1.2421327157959323, (-0.6540921141908099, 0.8246612930210648)),
    ("iv", (2.0, 7.5), 201.60548073580586, (-57.021526293541605, 195.8229038931399)),
    ("iv", (20.0, 3.0), 1.5209660019426694e-15, (-3.985120421536897e-15, 1.024788955659233e-14)),
    ("iv", (-1.5, 4.0), 8.163499628254995, (3.43576900455759, 7.833096320738077)),
    ("kv", (0.3, 1.2), 0.32769323123536503, (0.06200378299176218, -0.45333111541765125)),
    ("kv", (2.0, 7.5), 0.0003199235870561916, (7.960561928162794e-05, -0.0003506103466736073)),
    ("kv", (20.0, 3.0), 16254643952204.365, (41794426407797.766, -109639227383398.94)),
    ("kv", (-1.5, 4.0), 0.014347030720760066, (-0.004772284628092539, -0.01685776109689308)),
    ("ive", (3.5, 60.0), 0.04656392440870283, (-0.0027376655344101106, -0.00030916838715945566)),
    ("kve", (3.5, 60.0), 0.17866778724275564, (0.010331341969067548, -0.0017816028278451624)),
    ("jv", (70.0, 5.0), 5.484562820751933e-73, (-1.8307954753342977e-72, 7.659052440104399e-72)),
    ("jv", (0.3, 300.0), -0.04411862893282738, (-0.02080272423240952, 0.01332535776982877)),
    ("jv", (2.5, 2000.0), -0.01658321274159278, (-0.01032890563368008, 0.006584959978085174)),
    ("jv", (-3.0, 2.0), -0.12894324947440206, (3.3897476477798216, -0.15941915440403465)),
    ("yv", (3.5, 1e-06), -1.196826841204418e22, (-1.868463848889105e23, 4.188893944215223e28)),
    ("iv", (-30.0, 100.0), 1.2061548704498434e40, (3.583031193175877e39, 1.2537220414746812e40)),
    ("iv", (90.0, 2.0), 6.805129464019201e-139, (-3.066034526371351e-138, 3.063055985930851e-137)),
    ("kv", (150.0, 20.0), 9.748913946848493e109, (2.6411631575819163e110, -7.37682038831628e110)),
    ("kve", (0.0, 0.001), 7.030716002378251, (0.0, -993.9660185566902)),
    ("exprel", (0.01,), 1.0050167084168058, (0.5033458667362304,)),
    ("exprel", (-50.0,), 0.02, (0.0004,)),
    ("boxcox", (2.5, 0.001), 0.9167106544740824, (0.4003666842617896, 0.42005087657751067)),
    ("boxcox", (0.2, -3.0), -41.33333333333333, (624.9999999999999, 53.28213524030973)),
    ("boxcox1p", (0.01, 0.5), 0.009975124224178055, (0.9950371902099892, 4.9669044312080835e-05)),
    ("inv_boxcox", (0.7, 0.001), 2.0132596285518565, (2.0118513326190235, -0.4927886058940393)),
    ("inv_boxcox", (0.7, -1.2), 4.605039373300482, (28.781496083127994, -10.928713135059667)),
    ("inv_boxcox1p", (3.0, 0.8), 3.6168806336379493, (1.357906068717044, -3.7360164457143172)),
    ("owens_t", (0.7, 1.3), 0.10343525367898729, (-0.09948058878641683, 0.030608783766475803)),
    ("exp10", (1.5,), 31.622776601683793, (72.81413400211801,)),
    ("cosm1", (1e-05,), -4.999999999958334e-11, (-9.999999999833334e-06,)),
    ("spherical_yn", (2, 1.7), -1.0265250638988566, (1.272765447200864,)),
    ("spherical_in", (2, 1.7), 0.23577513842101913, (0.33219762582301526,)),
    ("spherical_kn", (2, 1.7), 0.6419041538657299, (-1.400864853908227,)),
]


@pytest.mark.parametrize(("name", "arguments", "value", "slopes"), KNOWN)
def test_values_and_slopes(name, arguments, value, slopes):
    tensors = [a if isinstance(a, int) else gs.tensor(a, dtype=gs.float64, requires_grad=True) for a in arguments]
    found = getattr(gs.special, name)(*tensors)
    np.testing.assert_allclose(found.item(), value, rtol=2e-14)
    leaves = [tensor for tensor in tensors if not isinstance(tensor, int)]
    np.testing.assert_allclose([slope.item() for slope in grad(found, leaves)], slopes, rtol=1e-12)


def test_slopes_in_the_tails_of_the_beta_distribution():
    """Where the value is zero or one in double precision, its slope is small, and right."""
    a, b = (gs.tensor(number, dtype=gs.float64, requires_grad=True) for number in (300.0, 2.0))
    found = grad(gs.special.betainc(a, b, gs.tensor(0.2, dtype=gs.float64)), (a, b))
    np.testing.assert_allclose([slope.item() for slope in found], [-7.884847571814348e-208, 2.4858871353548914e-207])


def test_ends_of_the_incomplete_beta_function():
    a = gs.full((4,), 2.0, dtype=gs.float64, requires_grad=True)
    x = gs.tensor([0.0, 1.0, -0.1, np.nan], dtype=gs.float64)
    found = gs.special.betainc(a, gs.full((4,), 3.0, dtype=gs.float64), x)
    assert found.tolist()[:2] == [0.0, 1.0] and found.isnan().tolist() == [False, False, True, True]
    slopes = grad(found.sum(), a)[0]
    assert slopes.tolist()[:2] == [0.0, 0.0] and slopes.isnan().tolist() == [False, False, True, True]


def test_numbers_as_parameters():
    x = gs.tensor([0.2, 0.7], dtype=gs.float64, requires_grad=True)
    slope = grad(gs.special.betainc(2, 3, x).sum(), x)[0]
    np.testing.assert_allclose(slope.numpy(), 12 * x.detach().numpy() * (1 - x.detach().numpy()) ** 2, rtol=1e-13)
    v = gs.tensor([0.5, 1.5], dtype=gs.float64, requires_grad=True)
    assert gs.autograd.gradcheck(lambda v: gs.special.jv(v, 2.5), (v,))
    assert gs.autograd.gradcheck(lambda x: gs.special.kv(1, x), (x,))


def test_bessel_functions_at_zero():
    v = gs.tensor([0.0, 0.5, 2.0], dtype=gs.float64, requires_grad=True)
    for op in (gs.special.jv, gs.special.iv, gs.special.ive):
        found = op(v, gs.tensor(0.0, dtype=gs.float64))
        assert found.tolist() == [1.0, 0.0, 0.0]
        assert grad(found.sum(), v)[0].tolist() == [-np.inf, 0.0, 0.0]


def test_large_arguments_of_modified_bessel_functions():
    v = gs.tensor([1.5], dtype=gs.float64, requires_grad=True)
    x = gs.tensor([2000.0], dtype=gs.float64, requires_grad=True)
    for op in (gs.special.ive, gs.special.kve):
        assert all(slope.isfinite().all() for slope in grad(op(v, x).sum(), (v, x)))
    assert grad(gs.special.kv(v, x).sum(), v)[0].tolist() == [0.0]


def test_large_orders_at_which_the_scaled_function_underflows():
    """SciPy's values have a dozen digits here; the slope is mpmath's."""
    v = gs.tensor(1e4, dtype=gs.float64, requires_grad=True)
    value = gs.special.iv(v, gs.tensor(6627.0, dtype=gs.float64))
    np.testing.assert_allclose(grad(value, v)[0].item(), -0.001991272884702573, rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "curve"),
    [
        ("jv", -0.7374824541235225),
        ("yv", -0.3468556916239855),
        ("iv", -0.8113141595901924),
        ("kv", 0.02739434059856277),
        ("ive", -0.06659672167351055),
        ("kve", 0.3337313888994449),
    ],
)
def test_curves_in_the_order(name, curve):
    v = gs.tensor(0.75, dtype=gs.float64, requires_grad=True)
    slope = grad(getattr(gs.special, name)(v, gs.tensor(2.5, dtype=gs.float64)), v, create_graph=True)[0]
    np.testing.assert_allclose(grad(slope, v)[0].item(), curve, rtol=1e-13)


def test_second_derivatives_in_the_order():
    v = gs.tensor([0.7, 3.2], dtype=gs.float64, requires_grad=True)
    x = gs.tensor([1.1, 4.0], dtype=gs.float64, requires_grad=True)
    for name in ("jv", "yv", "iv", "kv", "ive", "kve"):
        assert gs.autograd.gradgradcheck(getattr(gs.special, name), (v, x))


@pytest.mark.parametrize("order", [0, 1, 2, -3, 2.0, 30, np.array([0, 1, 7]), np.array([2.0, -5.0, 1.0])])
def test_whole_orders_of_the_second_kind_are_scipys(order):
    from scipy.special import yn

    x = np.array([0.3, 4.0, 25.0])
    v = gs.tensor(order) if isinstance(order, np.ndarray) else order
    at = gs.tensor(x, requires_grad=True)
    found = gs.special.yn(v, at)
    np.testing.assert_array_equal(found.detach().numpy(), yn(order, x))
    found.sum().backward()
    np.testing.assert_allclose(at.grad.numpy(), (yn(order - 1, x) - yn(order + 1, x)) / 2, rtol=1e-14)


def test_other_orders_of_the_second_kind():
    """SciPy's `yn` truncates them. Y of order 1/2 is -sqrt(2 / (pi x)) cos x; of many steps yv is quicker."""
    x = gs.tensor([0.5, 2.0], dtype=gs.float64)
    for order in (0.5, gs.tensor([0.5, 0.5], dtype=gs.float64)):
        expected = -((2 / (np.pi * x.numpy())) ** 0.5) * np.cos(x.numpy())
        np.testing.assert_allclose(gs.special.yn(order, x).numpy(), expected, rtol=1e-13)
    assert gs.special.yn(10**10, x).tolist() == gs.special.yv(10**10, x).tolist()
    v = gs.tensor([2.0, 3.0], dtype=gs.float64, requires_grad=True)
    one, other = (grad(f(v, x).sum(), v)[0].tolist() for f in (gs.special.yn, gs.special.yv))
    assert one == other
    assert gs.special.yn(x.to("meta"), x.to("meta")).is_meta


def test_other_names_and_dtypes():
    x = gs.tensor([1.5, 2.5])
    for name, other in (("jv", "jn"), ("yv", "yn"), ("kv", "kn"), ("jv", "jve"), ("yv", "yve")):
        assert getattr(gs.special, name)(2, x).tolist() == getattr(gs.special, other)(2, x).tolist()
    assert gs.special.jv(gs.tensor([1, 2]), gs.tensor([3, 4])).dtype == gs.float32
    assert gs.special.betainc(x.half(), x.half(), gs.tensor(0.5).half()).dtype == gs.float16
    assert gs.special.jv(gs.zeros(0), gs.zeros(3, 0)).shape == (3, 0)
    assert gs.special.betainc(x.to("meta"), x.to("meta"), x.to("meta")).is_meta


@pytest.mark.parametrize(
    "kind", ["chebyshev_polynomial_t", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
)
@pytest.mark.parametrize("dtype", [gs.float64, gs.float32])
def test_polynomials_side_by_side_are_those_of_one_element(kind, dtype):
    """Elements of one degree are computed together, others one by one; all by the same steps."""
    polynomial = getattr(gs.special, kind)
    rng = np.random.default_rng(0)
    x = gs.tensor([*rng.standard_normal(130), np.nan, np.inf, -np.inf, -0.0, 1e30]).to(dtype)
    degrees = gs.tensor(np.repeat([5.0, 0.0, 1.0, -1.0, 3.7, np.nan], [70, 20, 1, 3, 40, 1])).to(dtype)
    alone = [polynomial(one, degree).item() for one, degree in zip(x, degrees, strict=True)]
    np.testing.assert_array_equal(polynomial(x, degrees).numpy(), np.array(alone, dtype))
    for degree in (0, 1, 6):
        alone = [polynomial(one, degree).item() for one in x]
        np.testing.assert_array_equal(polynomial(x, degree).numpy(), np.array(alone, dtype))
        table = polynomial(x[:4].reshape(4, 1), gs.tensor([degree + 1.0]).to(dtype))
        assert table.shape == (4, 1)
    assert polynomial(x[:4], gs.tensor([[2.0], [3.0]]).to(dtype)).shape == (2, 4)
