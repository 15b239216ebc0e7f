"""Constraints of `minimize`, with their derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradsmith.optimize.functions import VectorFunction
from gradsmith.optimize.parameters import Parameters
from gradsmith.optimize.solvers import Watched, scipy_optimize


def with_derivatives(parameters: Parameters, constraints: Any, second: bool, watched: Watched) -> Any:
    """The constraints as SciPy takes them, functions of a vector; one or several. `second`: with second derivatives."""
    if isinstance(constraints, Mapping) or not isinstance(constraints, (list, tuple)):
        return _one(parameters, constraints, second, watched)
    return [_one(parameters, constraint, second, watched) for constraint in constraints]


def _one(parameters: Parameters, constraint: Any, second: bool, watched: Watched) -> Any:
    optimize = scipy_optimize(parameters.where)
    if isinstance(constraint, Mapping):
        return _of_dict(parameters, constraint, watched)
    if isinstance(constraint, optimize.NonlinearConstraint):
        return _of_nonlinear(parameters, constraint, second, watched)
    if isinstance(constraint, (optimize.LinearConstraint, optimize.Bounds)):
        return constraint  # about the vector of all parameters
    raise TypeError(
        f"{parameters.where}(): constraints must be dicts, NonlinearConstraint or LinearConstraint, got "
        f"{type(constraint).__name__}"
    )


def _of_dict(parameters: Parameters, constraint: Mapping[str, Any], watched: Watched) -> dict[str, Any]:
    """``{"type": "eq" or "ineq", "fun": ..., "args": ...}`` with a "jac"."""
    if "fun" not in constraint or "type" not in constraint:
        raise ValueError(f"{parameters.where}(): a constraint must have 'type' and 'fun', got {sorted(constraint)}")
    function = VectorFunction(parameters, constraint["fun"], constraint.get("args", ()), "a constraint")
    jacobian = function.jacobian("auto", function.first_value().size)
    return {"type": constraint["type"], "fun": watched(function.value), "jac": watched(jacobian)}


def _of_nonlinear(parameters: Parameters, constraint: Any, second: bool, watched: Watched) -> Any:
    """The Jacobian in place of differences, and the Hessian of the weighted sum in place of approximations."""
    function = VectorFunction(parameters, constraint.fun, (), "a constraint")
    jacobian = function.jacobian("auto", function.first_value().size)
    return type(constraint)(
        watched(function.value),
        constraint.lb,
        constraint.ub,
        jac=watched(jacobian),
        hess=watched(function.weighted_hessian) if second else constraint.hess,
        keep_feasible=constraint.keep_feasible,
    )
