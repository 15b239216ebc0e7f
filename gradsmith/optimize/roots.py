"""`root` and `root_scalar`: where functions are zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.func import grad
from gradsmith.optimize import callbacks
from gradsmith.optimize.functions import Objective, VectorFunction
from gradsmith.optimize.parameters import Parameters
from gradsmith.optimize.solvers import Watched, scipy_optimize
from gradsmith.runtime.tensors.factories.creation import tensor as new_tensor

WITH_JACOBIAN = ("hybr", "lm")


def root(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    *,
    jac: str = "auto",
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """Solve equations by `scipy.optimize.root`, with their Jacobian for the methods that take it, "hybr" and "lm".

    Parameters
    ----------
    fun : callable
        Called as ``fun(x, *args)`` with the structure of `x0`, in which every leaf is a tensor of float64. Gives as
        many numbers: a tensor, or a tree of them.
    x0 : tree of Tensor, array_like and numbers
        Where the search starts; see `minimize`.
    args : tuple
        Further arguments of `fun`.
    method, tol, options
        See SciPy.
    jac : {"auto", "forward", "reverse"}
        How the Jacobian is computed; see `least_squares`.
    callback : callable, optional
        Called as ``callback(x, values)`` by the methods that know no Jacobian.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` has the structure, types and dtypes of `x0`; ``flat_x`` is the vector that the other arrays are about.

    Raises
    ------
    ModuleNotFoundError
        SciPy is not installed.
    TypeError
        A leaf of `x0` is no real number or array, or `fun` gives what does not depend on `x` by operators of gradsmith.
    ValueError
        `fun` gives fewer numbers than `x0` has, or something that is not finite at `x0`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> def equations(p):
    ...     return p["x"] ** 2 + p["y"] ** 2 - 4, p["x"] - p["y"]
    >>> found = gs.optimize.root(equations, {"x": 1.0, "y": 2.0})
    >>> round(found.x["x"], 6)
    1.414214
    """
    watched = Watched()
    optimize = scipy_optimize("root")
    parameters = Parameters(x0, "root")
    function = VectorFunction(parameters, fun, args)
    count = function.first_value().size
    if count < parameters.size or (count > parameters.size and method != "lm"):
        raise ValueError(f"root(): fun gives {count} numbers, but x0 has {parameters.size} elements")
    given: dict[str, Any] = {"tol": tol, "options": options}
    jacobian = function.jacobian(jac, count)
    if method in WITH_JACOBIAN:
        given["jac"] = watched(jacobian)
    given["callback"] = callbacks.of_root(parameters, callback, watched)
    with watched.reporting():
        found = optimize.root(watched(function.value), parameters.start, method=method, **given)
    found.flat_x = np.array(found.x, np.float64).ravel()
    found.x = parameters.given_back(found.flat_x)
    return found


def root_scalar(
    f: Any,
    args: Any = (),
    method: str | None = None,
    bracket: Any = None,
    x0: Any = None,
    x1: Any = None,
    *,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
    options: Any = None,
) -> Any:
    """Find a root of a function of one number by `scipy.optimize.root_scalar`, with its derivatives.

    Parameters
    ----------
    f : callable
        Called as ``f(x, *args)`` with a tensor of float64 without dimensions; gives one number.
    args, method, bracket, x1, xtol, rtol, maxiter, options
        See SciPy. "newton" gets the first derivative, and "halley" the first two; with `x0` alone it is "newton".
    x0 : number, or Tensor or array with one element, optional
        Where the search starts.

    Returns
    -------
    scipy.optimize.RootResults
        ``root`` is a float.

    Raises
    ------
    ModuleNotFoundError
        SciPy is not installed.
    TypeError, ValueError
        `f` gives something else than one real number, or is not finite at the start.

    Examples
    --------
    >>> import gradsmith as gs
    >>> found = gs.optimize.root_scalar(lambda x: x.cos() - x, x0=1.0)
    >>> round(found.root, 6), found.method
    (0.739085, 'newton')
    """
    watched = Watched()
    optimize = scipy_optimize("root_scalar")
    parameters = Parameters(0.0 if x0 is None else x0, "root_scalar", "the first point" if x0 is None else "x0")
    if parameters.size != 1:
        raise ValueError(f"root_scalar(): x0 must be one number, got {parameters.size}; root() takes several")
    objective = Objective(parameters, f, args)
    if method is None and bracket is None and x1 is None and x0 is not None:
        method = "newton"
    given: dict[str, Any] = {"bracket": bracket, "x1": x1, "xtol": xtol, "rtol": rtol, "maxiter": maxiter}
    given["x0"] = None if x0 is None else float(parameters.start[0])
    if method in ("newton", "halley"):
        slope = grad(objective.number)
        given["fprime"] = watched(lambda x: _at(slope, x))
        if method == "halley":
            given["fprime2"] = watched(lambda x: _at(grad(lambda v: slope(v).sum()), x))
    value = watched(lambda x: objective.value(np.reshape(np.float64(x), 1)))
    with watched.reporting():
        found = optimize.root_scalar(value, method=method, options=options, **given)
    found.root = float(found.root)
    return found


def _at(function: Any, x: Any) -> float:
    """The value at a number of a function of a vector of one element."""
    return float(function(new_tensor(np.reshape(np.float64(x), 1))).item())
