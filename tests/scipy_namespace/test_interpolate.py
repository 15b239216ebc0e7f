"""Interpolation: SciPy's values, and derivatives by the given points and by where it is evaluated."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.scipy import interpolate as ours

theirs = pytest.importorskip("scipy.interpolate")

RNG = np.random.default_rng(0)
X, Y = np.sort(RNG.uniform(0, 5, 8)), RNG.normal(size=(8, 2))
RING = np.concatenate([Y[:-1], Y[:1]])
FLAT = np.array([0.0, 0, 1, 1, 1, 3, 2, 2])
INNER = np.concatenate([RNG.uniform(X[0], X[-1], 20), X])
PLACES = np.concatenate([INNER, [X[0] - 0.5, X[-1] + 0.5]])
ENDS = ((1, np.array([0.3, 0.4])), (2, np.array([0.5, 0.1])))

MADE = {
    **{
        f"cubic, {str(kind)[:14]}": lambda m, x, y, kind=kind: m.CubicSpline(x, y, bc_type=kind)
        for kind in ("not-a-knot", "natural", "clamped", ("natural", "not-a-knot"), ENDS)
    },
    "cubic, of 4": lambda m, x, y: m.CubicSpline(x[:4], y[:4]),
    "cubic, of 3": lambda m, x, y: m.CubicSpline(x[:3], y[:3]),
    "cubic, of 2": lambda m, x, y: m.CubicSpline(x[:2], y[:2]),
    "cubic, within": lambda m, x, y: m.CubicSpline(x, y, extrapolate=False),
    "cubic, second axis": lambda m, x, y: m.CubicSpline(x, y.T, axis=1),
    "pchip": lambda m, x, y: m.PchipInterpolator(x, y),
    "pchip, of 2": lambda m, x, y: m.PchipInterpolator(x[:2], y[:2]),
    "hermite": lambda m, x, y: m.CubicHermiteSpline(x, y, y * 2),
    "akima": lambda m, x, y: m.Akima1DInterpolator(x, y),
    "makima": lambda m, x, y: m.Akima1DInterpolator(x, y, method="makima"),
    **{f"spline of degree {k}": lambda m, x, y, k=k: m.make_interp_spline(x, y, k) for k in (1, 2, 3, 4, 5)},
    "derivative": lambda m, x, y: m.CubicSpline(x, y).derivative(),
    "antiderivative": lambda m, x, y: m.CubicSpline(x, y).antiderivative(),
    "derivative of a spline": lambda m, x, y: m.make_interp_spline(x, y).derivative(2),
}
OTHERS = {
    "periodic": lambda m, x, y: m.CubicSpline(X, RING, bc_type="periodic"),
    "flat pchip": lambda m, x, y: m.PchipInterpolator(X, FLAT),
    "flat akima": lambda m, x, y: m.Akima1DInterpolator(X, FLAT),
    "flat makima": lambda m, x, y: m.Akima1DInterpolator(X, FLAT, method="makima"),
    "steps": lambda m, x, y: m.make_interp_spline(x, y, 0),
}
KINDS = ("linear", "slinear", "nearest", "nearest-up", "zero", "previous", "next", "quadratic", "cubic", 0, 1, 2, 5)


def assert_same(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", [*MADE, *OTHERS])
def test_values(name):
    make = {**MADE, **OTHERS}[name]
    found, expected = make(ours, X, Y), make(theirs, X, Y)
    for places in (PLACES, PLACES.reshape(5, 6), PLACES[0]):
        assert_same(found(places), expected(places))
    for nu in (1, 2):
        if name != "steps":
            assert_same(found(PLACES, nu), expected(PLACES, nu))


@pytest.mark.parametrize("name", MADE)
def test_derivatives(name):
    given = [gs.tensor(one, requires_grad=True) for one in (X, Y, RNG.uniform(X[0], X[1], 4))]
    assert gs.autograd.gradcheck(lambda x, y, places: MADE[name](ours, x, y)(places), given)


def test_second_derivatives():
    given = [gs.tensor(one, requires_grad=True) for one in (X, Y, INNER[:5])]
    assert gs.autograd.gradgradcheck(lambda x, y, places: ours.CubicSpline(x, y)(places), given)


def test_gradients_where_points_turn_are_finite():
    y = gs.tensor(FLAT, requires_grad=True)
    ours.PchipInterpolator(X, y)(INNER).sum().backward()
    assert y.grad.isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_interp1d(kind):
    assert_same(ours.interp1d(X, Y, kind, axis=0)(INNER), theirs.interp1d(X, Y, kind, axis=0)(INNER))
    for fill in ("extrapolate", (-1.0, 7.0), 3.0):
        options = {} if fill == "extrapolate" else {"bounds_error": False}
        found, expected = (m.interp1d(X[::-1], Y.T, kind, fill_value=fill, **options) for m in (ours, theirs))
        assert_same(found(PLACES.reshape(5, 6)), expected(PLACES.reshape(5, 6)))
    values = gs.tensor(Y, requires_grad=True)
    assert gs.autograd.gradcheck(lambda y: ours.interp1d(X, y, kind, axis=0)(INNER[:5]), values)


def test_integrals():
    found, expected = ours.CubicSpline(X, Y).integrate(0.5, 4.0), theirs.CubicSpline(X, Y).integrate(0.5, 4.0)
    assert_same(found, expected)


@pytest.mark.parametrize("name", ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "make_interp_spline"])
def test_slices_of_a_vmap(name):
    make = getattr(ours, name)
    rows = gs.tensor(RNG.normal(size=(3, 8)))
    for one, row in zip(gs.vmap(lambda y: make(X, y)(INNER))(rows), rows):
        np.testing.assert_allclose(one.numpy(), make(X, row)(INNER).numpy())


def test_what_is_refused():
    for make in (ours.CubicSpline, ours.PchipInterpolator, ours.make_interp_spline):
        with pytest.raises(ValueError, match="strictly increasing"):
            make(X[::-1], Y)
        with pytest.raises(ValueError, match="same length"):
            make(X[1:], Y)
    with pytest.raises(ValueError, match="bc_type=open is not allowed"):
        ours.CubicSpline(X, Y, bc_type="open")
    with pytest.raises(ValueError, match="must be identical"):
        ours.CubicSpline(X, Y, bc_type="periodic")
    with pytest.raises(ValueError, match=r"is above the interpolation range's maximum value"):
        ours.interp1d(X, Y, axis=0)(9.0)
    with pytest.raises(NotImplementedError, match="CubicSpline has others"):
        ours.make_interp_spline(X, Y, bc_type="natural")
