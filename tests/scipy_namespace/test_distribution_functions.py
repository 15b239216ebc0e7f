"""Distribution functions and their inverses against SciPy and differences."""

import importlib

import numpy as np
import pytest

import gradsmith as gs

pytest.importorskip("scipy")
special = importlib.import_module("scipy.special")


X = np.array([0.1, 0.3, 0.55, 0.8])
DISTRIBUTION_FUNCTIONS = {
    "chdtr": (3.0, X * 5), "chdtrc": (3.0, X * 5), "chdtri": (3.0, X), "gdtr": (1.5, 2.5, X * 3),
    "gdtrc": (1.5, 2.5, X * 3), "gdtrix": (1.5, 2.5, X), "pdtr": (2.0, X * 5), "pdtrc": (2.0, X * 5),
    "pdtri": (2, X), "fdtr": (3.0, 5.0, X * 3), "fdtrc": (3, 5, X * 3), "fdtri": (3.0, 5.0, X), "bdtr": (2.0, 5, X),
    "bdtrc": (2.0, 5, X), "nbdtr": (2, 5, X), "nbdtrc": (2, 5, X), "stdtr": (3.0, X - 0.4), "stdtrit": (3.0, X),
    "gammaincinv": (2.0, X), "gammainccinv": (2.0, X), "betaincinv": (2.0, 3.0, X), "betainccinv": (2.0, 3.0, X),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTION_FUNCTIONS)
def test_distribution_functions(name):
    arguments = DISTRIBUTION_FUNCTIONS[name]
    own, scipys = getattr(gs.scipy.special, name), getattr(special, name)
    np.testing.assert_allclose(own(*arguments), scipys(*arguments), rtol=1e-12)
    at = gs.tensor(arguments[-1], requires_grad=True)
    own(*arguments[:-1], at).sum().backward()
    near = [scipys(*arguments[:-1], arguments[-1] + step) for step in (-1e-6, 1e-6)]
    np.testing.assert_allclose(at.grad, (near[1] - near[0]) / 2e-6, rtol=1e-5)
