"""`least_squares` and `curve_fit`: many numbers that should be small together."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsmith.optimize import limits
from gradsmith.optimize.callbacks import require_callable
from gradsmith.optimize.functions import VectorFunction
from gradsmith.optimize.parameters import Parameters
from gradsmith.optimize.solvers import Watched, scipy_optimize
from gradsmith.runtime.tensors.factories.creation import tensor as new_tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree

UNBOUNDED = (-math.inf, math.inf)


def least_squares(
    fun: Any,
    x0: Any,
    args: Any = (),
    *,
    jac: Any = "auto",
    bounds: Any = UNBOUNDED,
    method: str = "trf",
    x_scale: Any = None,
    callback: Any = None,
    **options: Any,
) -> Any:
    """Make the sum of squares of residuals small by `scipy.optimize.least_squares`, with their Jacobian.

    Parameters
    ----------
    fun : callable
        Called as ``fun(x, *args)`` with the structure of `x0`, in which every leaf is a tensor of float64. Gives the
        residuals: a tensor of any shape, or a tree of them.
    x0 : tree of Tensor, array_like and numbers
        Where the search starts; see `minimize`.
    args : tuple
        Further arguments of `fun`.
    jac : {"auto", "forward", "reverse", "sparse"} or SparsityPattern
        How the Jacobian is computed: column by column, row by row, by default what needs fewer; or as a sparse array,
        whose pattern is that at the start or the one given.
    bounds : pair (lower, upper)
        Each a number, a vector, or a tree like `x0` or an upper part of it; or `scipy.optimize.Bounds`.
    method : {"trf", "dogbox", "lm"}
        See SciPy.
    x_scale : optional
        As one side of `bounds`, or "jac".
    callback : callable, optional
        Called with the parameters after each iteration, where the installed SciPy can do that.
    **options
        Further arguments of SciPy's function: ``loss``, ``f_scale``, ``ftol``, ``xtol``, ``gtol``, ``max_nfev``,
        ``verbose``, ``tr_solver``, ``tr_options``.

    Returns
    -------
    scipy.optimize.OptimizeResult
        ``x`` has the structure, types and dtypes of `x0`; ``flat_x`` is the vector that ``jac`` and ``grad`` are about.

    Raises
    ------
    ModuleNotFoundError
        SciPy is not installed.
    TypeError
        A leaf of `x0` is no real number or array, or `fun` gives something that does not depend on `x` by operators of
        gradsmith.
    ValueError
        A residual is not finite at `x0`, or the Jacobian is not finite; bounds do not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> times = gs.linspace(0, 1, 20, dtype=gs.float64)
    >>> seen = 2 * (-3 * times).exp()
    >>> found = gs.optimize.least_squares(lambda p: p["a"] * (-p["k"] * times).exp() - seen, {"a": 1.0, "k": 1.0})
    >>> round(found.x["a"], 4), round(found.x["k"], 4)
    (2.0, 3.0)
    """
    watched = Watched()
    optimize = scipy_optimize("least_squares")
    parameters = Parameters(x0, "least_squares")
    function = VectorFunction(parameters, fun, args)
    given = dict(options, method=method, bounds=limits.both_sides(parameters, bounds))
    if x_scale is not None:
        given["x_scale"] = x_scale if isinstance(x_scale, str) else parameters.vector_like(x_scale, "x_scale", 1.0)
    if callback is not None:
        given["callback"] = watched(_callback(parameters, callback))
    jacobian = function.jacobian(jac, function.first_value().size)
    with watched.reporting():
        found = optimize.least_squares(watched(function.value), parameters.start, jac=watched(jacobian), **given)
    found.flat_x, found.x = found.x, parameters.given_back(found.x)
    return found


def _callback(parameters: Parameters, callback: Any) -> Callable[[Any], Any]:
    require_callable(parameters, callback)
    return lambda found: callback(parameters.given_back(getattr(found, "x", found)))


def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    *,
    bounds: Any = UNBOUNDED,
    method: str | None = None,
    jac: str = "auto",
    full_output: bool = False,
    **options: Any,
) -> Any:
    """Fit a function to data by `scipy.optimize.curve_fit`, with the Jacobian of the function.

    Parameters
    ----------
    f : callable
        The model, called as ``f(xdata, *parameters)``, or ``f(xdata, **parameters)`` when `p0` is a dict. Array
        arguments are tensors of float64.
    xdata : array_like, Tensor, or any object
        Where the data was measured. Arrays, and lists of numbers, become tensors.
    ydata : array_like or Tensor
        The data, as many numbers as `f` gives.
    p0 : optional
        Where the search starts: a vector of numbers, one for each parameter; a dict, list or tuple of trees. By default
        ones, as many as `f` has parameters after the first.
    sigma, absolute_sigma, method, full_output, **options
        See SciPy.
    bounds : pair (lower, upper)
        Each a number, a vector, or a tree like `p0` or an upper part of it; or `scipy.optimize.Bounds`.
    jac : {"auto", "forward", "reverse"}
        How the Jacobian is computed; see `least_squares`.

    Returns
    -------
    popt
        The parameters, in the structure of `p0`; a vector if that is one, or is not given.
    pcov : ndarray
        Their covariance, for the vector of all elements, leaf after leaf.
    infodict, mesg, ier
        Also these with `full_output`; see SciPy.

    Raises
    ------
    ModuleNotFoundError
        SciPy is not installed.
    TypeError
        `p0` has leaves that are no numbers, or `f` gives what does not depend on the parameters by operators of
        gradsmith.
    ValueError
        The number of parameters cannot be seen, the model is not finite at `p0`, or sizes do not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.linspace(0, 4, 50, dtype=gs.float64)
    >>> y = 2.5 * (-1.3 * x).exp() + 0.5
    >>> popt, pcov = gs.optimize.curve_fit(lambda x, a, b, c: a * (-b * x).exp() + c, x, y)
    >>> popt.round(6)
    array([2.5, 1.3, 0.5])
    """
    watched = Watched()
    optimize = scipy_optimize("curve_fit")
    if not callable(f):
        raise TypeError(f"curve_fit(): f must be callable, got {type(f).__name__}")
    parameters = Parameters(np.ones(_count_of_parameters(f)) if p0 is None else p0, "curve_fit", "p0")
    function = VectorFunction(parameters, _called_with(f, _as_tensor(xdata)), (), "f")
    seen = _numbers(ydata, "ydata")
    predicted = function.first_value().size
    if predicted != seen.size:
        raise ValueError(f"curve_fit(): f gives {predicted} numbers, but ydata has {seen.size}")
    jacobian = function.jacobian(jac, predicted)
    given = dict(options, method=method, absolute_sigma=absolute_sigma, full_output=full_output)
    given |= {"sigma": None if sigma is None else _numbers(sigma, "sigma", flat=False)}
    if not isinstance(bounds, tuple) or bounds != UNBOUNDED:
        given["bounds"] = limits.both_sides(parameters, bounds)
    model, slope = (_of_elements(part, watched) for part in (function.value, jacobian))
    with watched.reporting():
        found = optimize.curve_fit(model, np.arange(seen.size), seen, parameters.start, jac=slope, **given)
    return (parameters.given_back(found[0]), *found[1:])


def _of_elements(function: Callable[[Any], Any], watched: Watched) -> Callable[..., Any]:
    """The function as `curve_fit` calls it: with data, which is known already, and each parameter apart."""
    return watched(lambda _, *elements: function(np.array(elements, np.float64)))


def _called_with(f: Any, xdata: Any) -> Callable[[Any], Any]:
    def model(parameters: Any) -> Any:
        if isinstance(parameters, Mapping):
            return f(xdata, **parameters)
        return f(xdata, *parameters)

    return model


def _count_of_parameters(f: Any) -> int:
    """How many parameters the model has after the first."""
    try:
        kinds = [parameter.kind for parameter in inspect.signature(f).parameters.values()]
    except (TypeError, ValueError):  # a builtin does not tell
        kinds = []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if len(kinds) < 2 or any(kind not in plain for kind in kinds):
        raise ValueError("curve_fit(): the number of parameters of f cannot be seen: give p0")
    return len(kinds) - 1


def _as_tensor(xdata: Any) -> Any:
    """Data as tensors of float64, in trees too; what is no number stays."""

    def converted(leaf: Any) -> Any:
        if is_tensor(leaf):
            return leaf.detach()
        return new_tensor(leaf, dtype=np.dtype(np.float64)) if _is_real(leaf) else leaf

    if isinstance(xdata, (list, tuple)) and _is_real(xdata):
        return converted(xdata)
    return pytree.tree_map(converted, xdata)


def _is_real(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "iuf"
    except ValueError:  # rows of different lengths
        return False


def _numbers(values: Any, what: str, flat: bool = True) -> NDArray[Any]:
    array = values.detach().numpy(force=True) if is_tensor(values) else np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"curve_fit(): {what} must be real, got dtype {array.dtype}")
    return array.astype(np.float64).ravel() if flat else array.astype(np.float64)
