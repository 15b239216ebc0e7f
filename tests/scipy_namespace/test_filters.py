"""Recursive filters: derivatives of every kind, slices of a `vmap`, and refusals."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.scipy import signal

pytest.importorskip("scipy")

RNG = np.random.default_rng(7)
B, A, X, ZI = RNG.normal(size=3), np.array([1.5, 0.4, -0.2, 0.1]), RNG.normal(size=(2, 6)), RNG.normal(size=(2, 3))


def doubles(*arrays):
    return [gs.tensor(one, requires_grad=True) for one in arrays]


def filtered(b, a, x, zi):
    return signal.lfilter(b, a, x, -1, zi)


def test_first_and_second_derivatives():
    assert gs.autograd.gradcheck(filtered, doubles(B, A, X, ZI), check_forward_ad=True)
    assert gs.autograd.gradgradcheck(filtered, doubles(B, A, X, ZI))


def test_complex_coefficients():
    assert gs.autograd.gradcheck(signal.lfilter, doubles(B * 1j, A + 0.1j, X + 0.5j * X[::-1]))


def test_slices_of_a_vmap():
    rows = RNG.normal(size=(3, 4)) * 0.2 + A
    found = gs.vmap(lambda a: signal.lfilter(B, a, X))(gs.tensor(rows))
    for one, row in zip(found, rows):
        np.testing.assert_allclose(one.numpy(), signal.lfilter(B, row, X).numpy())


def test_sections_have_gradients():
    sos = np.array([[0.2, 0.3, 0.1, 1.0, 0.5, 0.1], [1.2, 0.3, 0.1, 2.0, -0.3, 0.2]])
    assert gs.autograd.gradcheck(lambda s, x: signal.sosfilt(s, x), doubles(sos, X))


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"a\[0\] must not be zero"):
        signal.lfilter(B, [0.0, 1.0], X)
    with pytest.raises(ValueError, match="one dimension"):
        signal.lfilter(X, A, X)
    with pytest.raises(ValueError, match="unexpected shape for zi"):
        signal.lfilter(B, A, X, -1, ZI[:, :2])
    with pytest.raises(ValueError, match="shape .n_sections, 6"):
        signal.sosfilt(X.T, X)
