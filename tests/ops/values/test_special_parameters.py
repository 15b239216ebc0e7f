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
