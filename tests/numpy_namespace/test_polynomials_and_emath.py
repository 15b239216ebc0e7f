"""Polynomials as objects, and functions that become complex, against NumPy's."""

import numpy as onp
import pytest

import gradsmith as gs
import gradsmith.numpy as np
from gradsmith.numpy import emath

P, Q = [2.0, -3.0, 1.0, 5.0], [1.0, 4.0]


@pytest.mark.parametrize(
    "compute",
    [
        lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q, lambda p, q: p**3,
        lambda p, q: p / 2.0, lambda p, q: 3 * p, lambda p, q: 1 - p, lambda p, q: -p, lambda p, q: +p,
        lambda p, q: p(q), lambda p, q: p.deriv(2), lambda p, q: p.integ(2, [1.0, 2.0]),
        lambda p, q: p(onp.arange(3.0)),
        lambda p, q: p(2.5), lambda p, q: p[0], lambda p, q: p[7], lambda p, q: p.c,
        lambda p, q: [p.order, q.o, len(p)],
        lambda p, q: onp.sort_complex(onp.asarray(p.roots)), lambda p, q: (0.0, 1.0) * p, lambda p, q: list(p),
    ],
)  # fmt: skip
def test_polynomials_are_those_of_numpy(compute) -> None:
    found, expected = (compute(one(P), one(Q)) for one in (np.poly1d, onp.poly1d))
    found, expected = (one if isinstance(one, tuple) else (one,) for one in (found, expected))
    for ours, theirs in zip(found, expected, strict=True):
        assert isinstance(theirs, onp.poly1d) == isinstance(ours, np.poly1d)
        values = [onp.asarray(getattr(one, "coeffs", one)) for one in (ours, theirs)]
        onp.testing.assert_allclose(*values, rtol=1e-12)


def test_details_of_polynomials() -> None:
    assert str(np.poly1d(P)) == str(onp.poly1d(P)) and str(np.poly1d(P, variable="z")) == str(
        onp.poly1d(P, variable="z")
    )
    assert (
        np.poly1d([0, 0, 1, 2]).order == 1 and np.poly1d([0.0]).order == 0 and np.poly1d([2, 3], r=True)(2).item() == 0
    )
    assert np.poly1d(P) == np.poly1d([0.0, *P]) and np.poly1d(P) != np.poly1d(Q)
    p = np.poly1d(Q)
    p[3] = 7.0
    assert p.coeffs.tolist() == [7.0, 0.0, 1.0, 4.0]
    with pytest.raises(ValueError, match="1d only"):
        np.poly1d([[1.0]])
    with pytest.raises(ValueError, match="non-negative integers"):
        np.poly1d(P) ** -1


def test_polynomials_are_differentiated() -> None:
    c = gs.tensor(P, dtype=gs.float64, requires_grad=True)
    (np.poly1d(c) * np.poly1d(c))(2.0).backward()
    onp.testing.assert_allclose(c.grad, 2 * onp.polyval(P, 2.0) * 2.0 ** onp.arange(3, -1, -1))
    assert gs.autograd.gradcheck(
        lambda c, x: np.poly1d(c).deriv()(x) + np.poly1d(c).integ()(x) ** 2,
        (c, gs.tensor([0.5, -1.5], dtype=gs.float64)),
    )


@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
@pytest.mark.parametrize("values", [[0.25, 0.5], [-0.5, 2.5], [-2, 4], onp.float32([-1.5, 0.25])])
def test_functions_that_become_complex(name, values) -> None:
    with onp.errstate(all="ignore"):
        expected = getattr(onp.emath, name)(values)
    found = getattr(emath, name)(values)
    assert found.dtype.kind == expected.dtype.kind
    onp.testing.assert_allclose(found, expected, rtol=1e-6)


def test_powers_and_logarithms_of_a_base() -> None:
    for args in (([-2.0, 4.0], 0.5), ([2, 4], -2), ([1.0, 2.0], [3, -1])):
        onp.testing.assert_allclose(emath.power(*args), onp.emath.power(*args))
    onp.testing.assert_allclose(emath.logn(2, [-4.0, 8.0]), onp.emath.logn(2, [-4.0, 8.0]))
    x = gs.tensor([-4.0, 9.0], dtype=gs.float64, requires_grad=True)
    emath.sqrt(x).abs().sum().backward()  # sqrt(|x|)
    onp.testing.assert_allclose(x.grad, [-0.25, 1 / 6])
    assert np.emath is emath
    with pytest.raises(RuntimeError, match="differs from slice to slice"):
        gs.vmap(emath.sqrt)(x.detach())
