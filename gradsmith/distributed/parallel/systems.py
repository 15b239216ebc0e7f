"""Inner products and linear systems of vectors that are divided among the ranks.

The gradients are those of the sum of all ranks' losses; see `distributed.nn.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributed.nn import functional as collectives
from gradsmith.func.implicit import custom_root
from gradsmith.generated import conj, sqrt
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import zeros_like

__all__ = ["cg", "dot", "norm"]


def dot(x: Any, y: Any, group: Any = None) -> Any:
    """Sum of the products of all elements on all ranks, which all of them get."""
    return collectives.all_reduce((x * y).sum(), group=group)


def norm(x: Any, group: Any = None) -> Any:
    """Euclidean norm of a vector over all ranks."""
    return sqrt(dot(x, conj(x), group).real if x.is_complex() else dot(x, x, group))


def cg(
    matvec: Callable[..., Any], b: Any, *args: Any, x0: Any = None, tol: float | None = None, maxiter: int | None =
    None, group: Any = None,
) -> Any:  # fmt: skip
    """Solution of a symmetric positive definite system, by conjugate gradients over all ranks.

    Parameters
    ----------
    matvec : callable
        ``matvec(x, *args)`` is this rank's part of the product with the matrix; it may exchange halos.
    b : Tensor
        This rank's part of the right side, of any shape.
    *args : Tensor
        What the matrix depends on.
    x0 : Tensor, optional
        Where to begin. Default: zeros.
    tol : float, optional
        The residual's norm relative to that of `b` at the end. Default: the square root of the resolution of the dtype
        for float32, 1e-12 for float64.
    maxiter : int, optional
        Default: ten times the number of this rank's elements, and at least 1,000.
    group : ProcessGroup, optional

    Returns
    -------
    Tensor
        This rank's part of the solution. Its gradients, by `b` and by `args`, take one more solution, and nothing of
        the iterations is kept.

    Raises
    ------
    numpy.linalg.LinAlgError
        It does not converge.
    """
    tol = (1e-12 if b.dtype == np.float64 else finfo(b.dtype).eps ** 0.5) if tol is None else tol
    limit = max(1000, 10 * b.numel()) if maxiter is None else maxiter
    start = zeros_like(b) if x0 is None else x0

    def solved(product: Callable[[Any], Any], right: Any) -> Any:
        return _iterated(product, right, zeros_like(right), tol, limit, group)

    def solve(residual: Callable[[Any], Any], begin: Any) -> Any:
        at_zero = residual(zeros_like(begin))  # the residual is b - A x
        return _iterated(lambda x: at_zero - residual(x), at_zero, begin, tol, limit, group)

    def residual(x: Any, right: Any, *parameters: Any) -> Any:
        return right - matvec(x, *parameters)

    return custom_root(residual, solve, linear_solve=solved)(start.detach(), b, *args)


def _iterated(product: Callable[[Any], Any], b: Any, x: Any, tol: float, maxiter: int, group: Any) -> Any:
    """Conjugate gradients; all ranks end after the same step, since they decide by the same numbers."""
    with no_grad():
        r = b - product(x)
        p, rr = r, float(dot(r, r, group))
        enough = tol * tol * float(dot(b, b, group))
        for _ in range(maxiter):
            if rr <= enough:
                return x
            q = product(p)
            step = rr / float(dot(p, q, group))
            x, r = x + step * p, r - step * q
            before, rr = rr, float(dot(r, r, group))
            p = r + (rr / before) * p
    raise np.linalg.LinAlgError(
        f"distributed cg: the residual is {rr**0.5:.3g} after {maxiter} steps, it should be {enough**0.5:.3g}"
    )
