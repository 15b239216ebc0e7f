"""Solutions of linear systems whose matrix is known by its products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.generated import stack
from gradsmith.generated.solvers import linalg_solve
from gradsmith.runtime.arrays.scipy_modules import scipy_module
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.graph.tensor import from_array

Map = Callable[[Any], Any]
LARGEST_MATRIX = 1000  # unknowns of which the matrix is computed column by column; 8 MB in float64


def solve_dense(matvec: Map, b: Any) -> Any:
    """Solution by the matrix itself, one product for each of its columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular.
    """
    units = np.eye(b.numel(), dtype=b.dtype)
    columns = [matvec(from_array(unit.copy())) for unit in units]
    if not columns:
        return b
    if any(map(is_batched_tensor, (*columns, b))):
        return linalg_solve(stack(columns, -1), b)
    arrays = [column.numpy() for column in columns]
    return from_array(np.linalg.solve(np.stack(arrays, -1), b.numpy()).astype(b.dtype))


def solve_gmres(matvec: Map, b: Any) -> Any:
    """Solution by GMRES of SciPy, to a relative residual of about the square root of the rounding error.

    Raises
    ------
    ImportError
        SciPy is not installed.
    numpy.linalg.LinAlgError
        The iteration does not converge.
    """
    return _iterated("gmres", matvec, b)


def solve_cg(matvec: Map, b: Any) -> Any:
    """Solution by conjugate gradients of SciPy, for symmetric positive definite matrices; see `solve_gmres`."""
    return _iterated("cg", matvec, b)


def _iterated(method: str, matvec: Map, b: Any) -> Any:
    linalg = scipy_module("sparse.linalg", f"linear_solve='{method}'", ". 'dense' needs nothing else")
    size = b.numel()
    operator = linalg.LinearOperator(
        (size, size), lambda v: matvec(from_array(np.array(v, b.dtype).reshape(size))).numpy(), dtype=b.dtype
    )
    found, status = getattr(linalg, method)(operator, b.numpy(), rtol=float(np.finfo(b.dtype).eps) ** 0.75)
    if status:
        raise np.linalg.LinAlgError(
            f"{method} did not converge for a system of {size} unknowns; give a linear_solve of your own"
        )
    return from_array(found.astype(b.dtype))


def solve_auto(matvec: Map, b: Any) -> Any:
    """`solve_dense` for up to 1,000 unknowns, `solve_gmres` for more."""
    return (solve_dense if b.numel() <= LARGEST_MATRIX else solve_gmres)(matvec, b)


SOLVERS: dict[str, Callable[[Map, Any], Any]] = {
    "auto": solve_auto, "dense": solve_dense, "gmres": solve_gmres, "cg": solve_cg,
}  # fmt: skip


def solver_of(transform: str, linear_solve: Any) -> Callable[[Map, Any], Any]:
    """The function for the argument `linear_solve` of a transform: one by name, or the user's."""
    if callable(linear_solve):
        return linear_solve  # type: ignore[no-any-return]
    if linear_solve not in SOLVERS:
        raise ValueError(
            f"{transform}(): linear_solve must be a function of (matvec, b) or one of {', '.join(map(repr, SOLVERS))}, "
            f"got {linear_solve!r}"
        )
    return SOLVERS[linear_solve]
