"""Complex functions at special points, near zero and their gradients there. Expected is PyTorch's answer."""

import cmath
import math

import numpy as np
import pytest

import gradsmith as gs

inf, nan = math.inf, math.nan


def same(found, expected, rel=1e-12):
    """Part by part, NaN like NaN, zeros of either sign alike."""
    for one, other in zip((found.real, found.imag), (expected.real, expected.imag)):
        if not ((math.isnan(one) and math.isnan(other)) or one == other or math.isclose(one, other, rel_tol=rel)):
            return False
    return True


POINTS = [
    ("log1p", 1e-30 + 0j, 1e-30 + 0j),
    ("log1p", -1e-30 + 0j, -1e-30 + 0j),
    ("log1p", complex(1e-300, 1e-200), complex(1e-300, 1e-200)),
    ("log1p", 1e-10j, complex(5e-21, 1e-10)),
    ("log1p", complex(-1.0, 0.0), complex(-inf, 0.0)),
    ("log1p", complex(-2.0, -0.0), complex(0.0, -math.pi)),
    ("log1p", complex(1e200, 1e200), complex(460.8635921890891, math.pi / 4)),
    ("log1p", complex(inf, inf), complex(inf, math.pi / 4)),
    ("log1p", complex(-inf, 0.0), complex(inf, math.pi)),
    ("log1p", complex(1.0, -inf), complex(inf, -math.pi / 2)),
    ("log1p", complex(inf, nan), complex(nan, nan)),
    ("log1p", complex(nan, 1.0), complex(nan, nan)),
    ("reciprocal", 0j, complex(inf, nan)),
    ("reciprocal", complex(-0.0, -0.0), complex(inf, nan)),
    ("reciprocal", complex(inf, 0.0), 0j),
    ("reciprocal", complex(0.0, inf), 0j),
    ("reciprocal", complex(inf, inf), complex(nan, nan)),
    ("reciprocal", complex(1e200, 1e200), complex(5e-201, -5e-201)),
    ("reciprocal", complex(1e-200, 1e-200), complex(5e199, -5e199)),
    ("expm1", complex(inf, 0.0), complex(inf, nan)),
    ("expm1", complex(inf, 1.0), complex(inf, inf)),
    ("expm1", complex(-inf, 0.0), complex(-1.0, 0.0)),
    ("expm1", complex(-inf, 1.0), complex(-1.0, 0.0)),
    ("expm1", complex(-inf, inf), complex(nan, nan)),
    ("expm1", complex(1e-20, 1e-20), complex(1e-20, 1e-20)),
    ("sgn", complex(0.0, inf), complex(0.0, nan)),
    ("sgn", complex(inf, 1.0), complex(nan, 0.0)),
    ("sgn", 0j, 0j),
    ("sgn", complex(3e-320, 0.0), complex(1.0, 0.0)),
    ("sgn", complex(1e300, -1e300), complex(math.sqrt(0.5), -math.sqrt(0.5))),
]


@pytest.mark.parametrize(("name", "point", "expected"), POINTS)
def test_points(name, point, expected):
    for count in (1, 9):
        found = getattr(gs, name)(gs.tensor([point] * count, dtype=gs.complex128)).tolist()
        assert all(same(one, expected) for one in found)


@pytest.mark.parametrize("point", [1e-30 + 0j, 3e-20 - 1e-25j, -1e-10 + 1e-5j, 0.3 - 0.4j, -0.999 + 1e-8j])
@pytest.mark.parametrize("dtype", [gs.complex64, gs.complex128], ids=str)
def test_log1p_and_its_gradient(point, dtype):
    x = gs.tensor([point], dtype=dtype, requires_grad=True)
    y = gs.log1p(x)
    y.backward(gs.ones_like(y))
    rel = 1e-6 if dtype == gs.complex64 else 1e-12
    value = x.detach().numpy()[0].astype(np.clongdouble)
    assert abs(y.item() - complex(np.log(1 + value))) < 1e-6  # right in itself
    assert same(x.grad.item(), 1 / (1 + complex(value).conjugate()), rel)
    tiny = abs(point) < 1e-15
    assert not tiny or same(y.item(), complex(value), rel)


def test_log1p_where_its_terms_cancel():
    """|1 + z| is one but for the last digits."""
    z = complex(-0.2, 0.6)
    assert gs.log1p(gs.tensor(z, dtype=gs.complex128)).item().real == pytest.approx(cmath.log(1 + z).real, abs=1e-16)


def test_gradients_at_infinity_are_those_of_the_sign():
    x = gs.tensor([complex(inf, 1.0), complex(3.0, 4.0)], dtype=gs.complex128, requires_grad=True)
    x.abs().sum().backward()
    assert math.isnan(x.grad[0].item().real)
    assert same(x.grad[1].item(), 0.6 + 0.8j)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("dim", [0, 1])
def test_running_logarithms_of_sums(dtype, dim):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5))).astype(dtype)
    found = gs.logcumsumexp(gs.tensor(x), dim).numpy()
    assert found.dtype == dtype
    np.testing.assert_allclose(np.exp(found), np.cumsum(np.exp(x), dim), rtol=2e-6 if dtype == "complex64" else 1e-13)
    large = gs.logcumsumexp(gs.tensor(x + np.asarray(1000, dtype)), dim).numpy()
    np.testing.assert_allclose(large - 1000, found, atol=2e-3 if dtype == "complex64" else 1e-12)


def test_running_logarithms_of_sums_of_special_numbers():
    """Branches are PyTorch's: each logarithm follows the one before."""
    inf = np.inf
    x = np.array([-inf + 0j, 1 + 2j, inf, 3])
    assert gs.logcumsumexp(gs.tensor(x), 0).tolist() == [-inf, 1 + 2j, inf, inf]
    found = gs.logcumsumexp(gs.tensor(np.array([1, np.nan, 1 + 2j])), 0).numpy()
    assert found[0] == 1 and np.isnan(found[1:].real).all() and np.isnan(found[1:].imag).all()
    found = gs.logcumsumexp(gs.tensor(np.array([2 + 5j, 2 + 6j])), 0).numpy()
    assert found[1] == pytest.approx(2 + 5.5j + np.log(2 * np.cos(0.5)), abs=1e-14)  # not 2 pi less
    assert gs.logcumsumexp(gs.tensor(1 + 2j), 0).item() == 1 + 2j
    assert gs.logcumsumexp(gs.zeros(3, 0, dtype=gs.complex64), 1).shape == (3, 0)
