"""Hand SciPy's solvers exact sparse Jacobians and Hessians.

    python examples/sparse_solvers.py

Three problems with a few entries in each row: a system of equations by least squares, the shape of a hanging chain by
minimization, and a front that spreads, by an implicit method for stiff equations. None of the derivatives is written
down. The exit code is 0 when all three are solved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares, minimize

import gradsmith as gs
from gradsmith import func

Array = NDArray[Any]


def of_arrays(function: Callable[[gs.Tensor], Any]) -> Callable[[Array], Any]:
    """The function as SciPy calls it: of arrays, and with an array or a sparse array as result."""

    def called(x: Array) -> Any:
        found = function(gs.tensor(x))
        return found.numpy() if isinstance(found, gs.Tensor) else found

    return called


def padded(u: gs.Tensor) -> gs.Tensor:
    """Zeros at both ends."""
    zero = gs.zeros(1, dtype=u.dtype)
    return gs.cat([zero, u, zero])


# ---- scipy.optimize.least_squares(jac=...)


def broyden(x: gs.Tensor) -> gs.Tensor:
    """Broyden's tridiagonal system, which is zero at the solution."""
    v = padded(x)
    return (3 - 2 * x) * x - v[:-2] - 2 * v[2:] + 1


def solve_broyden(size: int) -> bool:
    start = np.full(size, -1.0)
    jacobian = func.sparse_jacobian(broyden, pattern=func.jacobian_pattern(broyden)(gs.tensor(start)))
    found = least_squares(of_arrays(broyden), start, jac=of_arrays(jacobian), xtol=1e-12, ftol=1e-12)
    residual = abs(found.fun).max()
    print(f"Broyden's system of {size} equations: residual {residual:.1e} after {found.njev} Jacobians")
    return bool(residual < 1e-6)


# ---- scipy.optimize.minimize(jac=..., hess=...)


def chain(y: gs.Tensor) -> gs.Tensor:
    """Energy of springs between the heights `y`, with a weight at each."""
    v, width = padded(y), 1 / (y.numel() + 1)
    stretched = gs.sqrt(width**2 + (v[1:] - v[:-1]) ** 2) - width / 2
    return 50 / width * (stretched**2).sum() + 10 * width * y.sum()


def hang_chain(size: int) -> bool:
    start = np.zeros(size)
    hessian = func.sparse_hessian(chain, pattern=func.hessian_pattern(chain)(gs.tensor(start)))
    value, gradient = (of_arrays(function) for function in (chain, func.grad(chain)))
    found = minimize(value, start, jac=gradient, hess=of_arrays(hessian), method="trust-constr", tol=1e-10)
    slope = abs(found.grad).max()
    print(f"A chain of {size + 1} springs: hangs down by {-found.x.min():.4f}, greatest force {slope:.1e}")
    return bool(slope < 1e-6)


# ---- scipy.integrate.solve_ivp(jac=...)


def spread(u: gs.Tensor) -> gs.Tensor:
    """Fisher's equation, u' = u'' + u (1 - u): diffusion and growth on a line of length 50."""
    v = gs.cat([u[:1], u, u[-1:]])
    return (v[2:] - 2 * u + v[:-2]) * (u.numel() / 50) ** 2 + u * (1 - u)


def follow_front(size: int) -> bool:
    start = np.where(np.arange(size) < size // 10, 1.0, 0.0)
    rate = of_arrays(spread)
    jacobian = of_arrays(func.sparse_jacobian(spread, pattern=func.jacobian_pattern(spread)(gs.tensor(start))))
    found = solve_ivp(lambda t, u: rate(u), (0, 15), start, method="BDF", jac=lambda t, u: jacobian(u), t_eval=[10, 15])
    places = (found.y > 0.5).sum(axis=0) * 50 / size
    speed = (places[1] - places[0]) / 5
    print(f"A front on {size} points: speed {speed:.2f}, {found.nfev} values, {found.njev} Jacobians")
    return bool(abs(speed - 1.9) < 0.2)


def main() -> int:
    solved = [solve_broyden(10_000), hang_chain(60), follow_front(1000)]
    return 0 if all(solved) else 1


if __name__ == "__main__":
    sys.exit(main())
