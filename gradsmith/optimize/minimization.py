"""`minimize` and `minimize_scalar`: the least value of a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.optimize import callbacks, limits
from gradsmith.optimize.constraints import with_derivatives
from gradsmith.optimize.functions import Objective, is_sparse
from gradsmith.optimize.parameters import Parameters
from gradsmith.optimize.solvers import Watched, scipy_optimize

# What SciPy's methods do with derivatives: the others take the gradient alone.
WITHOUT_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
WITH_HESSIAN = ("dogleg", "trust-exact")


def minimize(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    *,
    hess: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """Minimize a function of a tree of parameters by `scipy.optimize.minimize`, with its derivatives.

    The gradient is that of `gradsmith.func.grad`. Methods that take second derivatives get products with the Hessian
    (``Newton-CG``, ``trust-ncg``, ``trust-krylov``, ``trust-constr``) or the Hessian (``dogleg``, ``trust-exact``).

    Parameters
    ----------
    fun : callable
        Called as ``fun(x, *args)`` with the structure of `x0`, in which every leaf is a tensor of float64. Gives one
        number: a tensor, computed from `x`.
    x0 : tree of Tensor, array_like and numbers
        Where the search starts: dicts, lists, tuples, dataclasses and registered classes of real leaves. A list of
        numbers is an array. The parameters of a module are ``dict(module.named_parameters())``, for a function that
        calls `gradsmith.func.functional_call`.
    args : tuple
        Further arguments of `fun`.
    method : str or callable, optional
        See SciPy; by default BFGS, L-BFGS-B or SLSQP, whichever bounds and constraints ask for.
    hess : {"product", "dense", "sparse"} or SparsityPattern or scipy.optimize.HessianUpdateStrategy, optional
        Which form second derivatives take, instead of what suits the method. "sparse" finds the pattern at the start.
    bounds : optional
        A pair (low, high) for each element of a single array, or a tree like `x0`, or an upper part of it, with a pair
        for each leaf, of numbers or arrays; None is no bound. Or `scipy.optimize.Bounds`.
    constraints : dict, NonlinearConstraint, LinearConstraint, or list of these
        As SciPy's. Functions get the structure of `x0`, give tensors, and need no "jac". A `LinearConstraint` is about
        the vector of all elements, leaf after leaf.
    tol, options
        See SciPy.
    callback : callable, optional
        Called after each iteration with the parameters. If its only parameter is named ``intermediate_result``, it gets
        an object with ``x``, ``fun`` and ``nit``. Raising StopIteration ends the search where SciPy's method allows.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` has the structure, types and dtypes of `x0`, and so has the gradient ``jac``; numbers and integer arrays
        come back as float64. ``flat_x`` is the vector of all elements that other arrays, as ``hess_inv``, are about.

    Raises
    ------
    ModuleNotFoundError
        SciPy is not installed.
    TypeError
        A leaf of `x0` is no real number or array, or `fun` gives something that does not depend on `x` by operators of
        gradsmith.
    ValueError
        `fun` gives several numbers, is not finite at `x0`, or has a gradient that is not finite where its value is;
        bounds or constraints do not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> def rosenbrock(x):
    ...     return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    >>> found = gs.optimize.minimize(rosenbrock, [-1.2, 1.0, 0.5], method="trust-ncg")
    >>> found.x.round(6)
    array([1., 1., 1.])
    """
    watched = Watched()
    optimize = scipy_optimize("minimize")
    parameters = Parameters(x0, "minimize")
    objective = Objective(parameters, fun, args)
    given = _derivatives(objective, method, hess, optimize, watched)
    given |= {"bounds": limits.bounds_of_pairs(parameters, bounds), "tol": tol, "options": options}
    given["callback"] = callbacks.of_minimize(objective, callback, watched)
    if not (isinstance(constraints, (tuple, list)) and not constraints):
        given["constraints"] = with_derivatives(parameters, constraints, method == "trust-constr", watched)
    with watched.reporting():
        found = optimize.minimize(x0=parameters.start, method=method, **given)
    return _with_trees(found, parameters)


def _derivatives(objective: Objective, method: Any, hess: Any, optimize: Any, watched: Watched) -> dict[str, Any]:
    """The function, and those of its derivatives that the method takes."""
    name = method.lower() if isinstance(method, str) else ""
    if name in WITHOUT_GRADIENT:
        return {"fun": watched(objective.value)}
    given: dict[str, Any] = {"fun": watched(objective.value_and_gradient), "jac": True}
    if hess is None:
        hess = "product" if name in WITH_PRODUCTS else "dense" if name in WITH_HESSIAN else None
    if isinstance(hess, str) and hess == "product":
        given["hessp"] = watched(objective.hessian_product)
    elif isinstance(hess, str) and hess == "dense":
        given["hess"] = watched(objective.hessian)
    elif is_sparse(hess):
        given["hess"] = watched(objective.sparse_hessian(None if isinstance(hess, str) else hess))
    elif isinstance(hess, optimize.HessianUpdateStrategy):
        given["hess"] = hess
    elif hess is not None:
        raise ValueError(
            "minimize(): hess must be 'product', 'dense', 'sparse', a SparsityPattern or a HessianUpdateStrategy, got "
            f"{hess!r:.80}"
        )
    return given


def _with_trees(found: Any, parameters: Parameters) -> Any:
    found.flat_x = np.array(found.x, np.float64)
    found.x = parameters.given_back(found.x)
    gradient = found.get("jac")
    if isinstance(gradient, np.ndarray) and gradient.shape == (parameters.size,):
        found.jac = parameters.given_back(gradient)
    return found


def minimize_scalar(
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: float | None = None,
    options: Any = None,
) -> Any:
    """Minimize a function of one number by `scipy.optimize.minimize_scalar`, which uses values alone.

    Parameters
    ----------
    fun : callable
        Called as ``fun(x, *args)`` with a tensor of float64 without dimensions; gives one number.
    bracket, bounds, args, method, tol, options
        See SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` is a float.

    Raises
    ------
    ModuleNotFoundError
        SciPy is not installed.
    TypeError, ValueError
        `fun` gives something else than one real number.

    Examples
    --------
    >>> import gradsmith as gs
    >>> found = gs.optimize.minimize_scalar(lambda x: (x - 2).cosh(), bounds=(0, 5))
    >>> round(found.x, 4)
    2.0
    """
    watched = Watched()
    optimize = scipy_optimize("minimize_scalar")
    objective = Objective(Parameters(0.0, "minimize_scalar", "the first point"), fun, args)
    value = watched(lambda x: objective.value(np.reshape(np.float64(x), 1)))
    with watched.reporting():
        found = optimize.minimize_scalar(value, bracket, bounds, method=method, tol=tol, options=options)
    found.x = float(found.x)
    return found
