"""Riccati's equations against SciPy and differences, and decompositions of values alone."""

import importlib

import numpy as np
import pytest

import gradsmith as gs

pytest.importorskip("scipy")
linalg = importlib.import_module("scipy.linalg")


class TestRiccati:
    """Riccati's equations with and without the further arguments, against SciPy and differences."""

    RNG = np.random.default_rng(0)
    A, B, E = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2)), np.eye(3) + 0.1 * RNG.normal(size=(3, 3))
    Q, R, S = np.diag([1.0, 2.0, 0.5]), np.array([[2.0, 0.3], [0.3, 1.0]]), 0.1 * RNG.normal(size=(3, 2))

    @pytest.mark.parametrize("options", [{}, {"e": E}, {"s": S}, {"e": E, "s": S}], ids=["plain", "e", "s", "es"])
    @pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
    def test_values_and_derivatives(self, name, options):
        own, scipys = getattr(gs.scipy.linalg, name), getattr(linalg, name)
        found = own(self.A, self.B, self.Q, self.R, **options)
        np.testing.assert_allclose(found, scipys(self.A, self.B, self.Q, self.R, **options), rtol=1e-9)
        arguments = [gs.tensor(one, requires_grad=True) for one in (self.A, self.B, self.Q, self.R)]

        def solved(a, b, q, r):
            return own(a, b, q @ q.mT, r @ r.mT, **options)

        assert gs.autograd.gradcheck(solved, arguments, check_forward_ad=True)

    def test_errors(self):
        with pytest.raises(ValueError, match="Matrix q should be symmetric/hermitian"):
            gs.scipy.linalg.solve_discrete_are(self.A, self.B, self.A, self.R)
        with pytest.raises(ValueError, match="complex"):
            gs.scipy.linalg.solve_continuous_are(self.A * 1j, self.B, self.Q, self.R)
        with pytest.raises(RuntimeError, match="expected B to be 3 by 2, but its size is"):
            gs.linalg.solve_continuous_are(self.A, self.B[:2], self.Q, self.R)


def test_schur_and_others_take_values_alone():
    matrix = np.arange(9.0).reshape(3, 3)
    triangle, basis = gs.scipy.linalg.schur(gs.tensor(matrix))
    np.testing.assert_allclose(basis @ triangle @ basis.mT, matrix, atol=1e-12)
    assert gs.scipy.linalg.issymmetric(gs.tensor(matrix)) is False
    with pytest.raises(RuntimeError, match=r"linalg.schur\(\) has no derivative"):
        gs.scipy.linalg.schur(gs.tensor(matrix, requires_grad=True))
