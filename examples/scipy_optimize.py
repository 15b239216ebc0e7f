"""Three problems for SciPy's optimizers, which get exact derivatives.

    python examples/scipy_optimize.py

A portfolio with constraints and a damped oscillation with named parameters go through `gs.optimize`, which needs no
derivatives; the shape of a film of soap goes to SciPy itself, with a gradient from `gs.value_and_grad`. SciPy is
needed. The exit code is 0 when all three have the solutions that are known.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import optimize

import gradsmith as gs

# ---- the least risk for some return: gs.optimize.minimize with constraints

RETURNS = np.array([0.02, 0.05, 0.09])
COVARIANCE = np.array([[0.01, 0.002, 0.0], [0.002, 0.04, 0.01], [0.0, 0.01, 0.09]])


def portfolio() -> bool:
    """Shares that give a return of 6 % at the least risk; Lagrange's equations give them too."""
    constraints = [
        {"type": "eq", "fun": lambda shares: np.sum(shares) - 1},
        {"type": "eq", "fun": lambda shares: RETURNS @ shares - 0.06},
    ]
    found = gs.optimize.minimize(
        lambda shares: shares @ COVARIANCE @ shares, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, constraints=constraints
    )
    sides = np.stack([np.ones(3), RETURNS])
    lagrange = np.linalg.solve(np.block([[2 * COVARIANCE, sides.T], [sides, np.zeros((2, 2))]]), [0, 0, 0, 1, 0.06])
    print(f"Portfolio: shares {np.round(found.x, 3)}, risk {np.sqrt(found.fun):.1%}, {found.nfev} evaluations")
    return bool(np.allclose(found.x, lagrange[:3], atol=1e-5))


# ---- a damped oscillation: gs.optimize.curve_fit with named parameters

TRUE = {"size": 2.0, "decay": 0.5, "frequency": 3.0}


def oscillation(t: np.ndarray, size: float, decay: float, frequency: float) -> np.ndarray:
    return size * np.exp(-decay * t) * np.cos(frequency * t)


def fit() -> bool:
    """Parameters of a model, from values with noise, with their standard errors."""
    t = np.linspace(0, 6, 120)
    seen = oscillation(t, **TRUE) + 0.05 * np.random.default_rng(0).standard_normal(t.shape)
    found, covariance = gs.optimize.curve_fit(oscillation, t, seen, {"size": 1.0, "decay": 1.0, "frequency": 2.8})
    errors = dict(zip(found, np.sqrt(np.diag(covariance))))
    print("Oscillation:", ", ".join(f"{name} {found[name]:.3f} ± {errors[name]:.3f}" for name in found))
    return all(abs(found[name] - TRUE[name]) < 4 * errors[name] for name in found)


# ---- a film of soap between two rings: scipy.optimize.minimize with jac

WIDTH, RADIUS, POINTS = 1.0, 1.0, 60


def area(inner: np.ndarray) -> float:
    """Area of the surface that a curve sweeps around an axis, from its radii at even distances."""
    radius = np.concatenate([[RADIUS], inner, [RADIUS]])
    step = WIDTH / (POINTS + 1)
    return 2 * np.pi * np.sum((radius[1:] + radius[:-1]) / 2 * np.sqrt(step**2 + (radius[1:] - radius[:-1]) ** 2))


def soap_film() -> bool:
    """The least area: a catenary, whose least radius `a` solves a * cosh(width / (2 a)) = radius of the rings."""
    start = np.full(POINTS, RADIUS)
    found = optimize.minimize(gs.value_and_grad(area), start, jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    waist = gs.optimize.root_scalar(lambda a: a * np.cosh(WIDTH / (2 * a)) - RADIUS, x0=0.9).root
    print(f"Film of soap: waist {found.x.min():.4f}, of the catenary {waist:.4f}, {found.nfev} evaluations")
    return bool(abs(found.x.min() - waist) < 1e-3)


def main(arguments: list[str] | None = None) -> int:
    solved = [portfolio(), fit(), soap_film()]
    return 0 if all(solved) else 1


if __name__ == "__main__":
    sys.exit(main())
