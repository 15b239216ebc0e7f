"""Roots, fixed points and minima of functions of tensors: ``gradsmith.scipy.optimize``.

Results are differentiable by `args`, by the implicit function theorem: nothing of the search is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.func as transforms
from gradsmith.numpy.arguments import array_of, as_tensor, floating, np, of_dtype, wrapped
from gradsmith.runtime.arrays.scipy_modules import scipy_module

__all__ = ["OptimizeResult", "bisect", "brentq", "fixed_point", "minimize", "newton", "root", "root_scalar"]


class OptimizeResult(dict[str, Any]):
    """A dictionary whose items are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _start(x0: Any) -> Any:
    return floating(as_tensor(x0))


def root(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: str | None = None, jac: Any = None,
    tol: float | None = None, callback: Any = None, options: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Root of a function of a vector.

    Parameters
    ----------
    method : str, optional
        By default Newton's, with derivatives of `fun`; otherwise one of SciPy's, "hybr" or "lm" for example.
    jac : bool, optional
        True says that `fun` gives a pair of which the second, a Jacobian, is not needed.

    Returns
    -------
    OptimizeResult
        With `x`, `fun`, `success`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.scipy import optimize
    >>> a = gs.tensor(4.0, dtype=gs.float64, requires_grad=True)
    >>> found = optimize.root(lambda x, a: x * x - a, [1.0], (a,))
    >>> found.x.sum().backward()
    >>> a.grad
    tensor(0.2500, dtype=gradsmith.float64)
    """

    def function(x: Any, *more: Any) -> Any:
        found = fun(x, *more)
        return as_tensor(found[0] if jac is True else found)

    solve = None if method in (None, "newton") else _by_scipy_root(str(method), tol, options)
    given = args if isinstance(args, tuple) else (args,)
    x = transforms.custom_root(function, solve, tol=tol if solve is None else None)(_start(x0), *given)
    return OptimizeResult(x=x, fun=function(x, *given), success=True, status=1, message="The solution converged.")


def _by_scipy_root(method: str, tol: Any, options: Any) -> Callable[..., Any]:
    def solve(function: Callable[[Any], Any], start: Any) -> Any:
        shape, dtype = tuple(start.shape), start.dtype

        def residual(x: Any) -> Any:
            return array_of(function(wrapped(np.asarray(x, dtype).reshape(shape)))).reshape(-1)

        done = scipy_module("optimize", f"method={method!r}").root(
            residual, array_of(start).reshape(-1), method=method, tol=tol, options=options
        )
        if not done.success:
            raise RuntimeError(f"scipy.optimize.root: {done.message}")
        return wrapped(np.asarray(done.x, dtype).reshape(shape))

    return solve


def newton(
    func: Callable[..., Any], x0: Any, fprime: Any = None, args: Any = (), tol: float = 1.48e-8, maxiter: int = 50,
    fprime2: Any = None,
) -> Any:  # fmt: skip
    """Root near `x0` by Newton's method; derivatives come from `func` itself."""
    return transforms.custom_root(lambda x, *more: as_tensor(func(x, *more)), tol=tol, maxiter=maxiter)(
        _start(x0), *args
    )


def fixed_point(
    func: Callable[..., Any], x0: Any, args: Any = (), xtol: float = 1e-8, maxiter: int = 500, method: str = "del2"
) -> Any:
    """Solution of ``func(x, *args) == x``.

    Parameters
    ----------
    method : {"del2", "iteration"}
        With Steffensen's acceleration, or without.

    Raises
    ------
    RuntimeError
        No convergence.
    """
    if method not in ("del2", "iteration"):
        raise ValueError(f"method must be 'del2' or 'iteration', got {method!r}")

    def solve(function: Callable[[Any], Any], start: Any) -> Any:
        x = array_of(start)
        for _ in range(maxiter):
            following = _next(lambda v: array_of(function(wrapped(np.asarray(v)))), x, method == "del2")
            change = np.where(x != 0, (following - x) / np.where(x != 0, x, 1), following)
            x = following
            if np.all(np.abs(change) < xtol):
                return wrapped(np.array(x))
        raise RuntimeError(f"Failed to converge after {maxiter} iterations, value is {x}")

    return transforms.fixed_point(lambda x, *more: of_dtype(as_tensor(func(x, *more)), x.dtype), solve)(
        _start(x0), *args
    )


def _next(function: Callable[[Any], Any], x: Any, accelerated: bool) -> Any:
    first = function(x)
    if not accelerated:
        return first
    second = function(first)
    bend = second - 2.0 * first + x
    safe = np.where(bend == 0, 1.0, bend)
    return np.where(bend == 0, second, x - (first - x) ** 2 / safe)


# ---- one number, between two others


def brentq(
    f: Callable[..., Any], a: Any, b: Any, args: Any = (), xtol: float = 2e-12, rtol: float = 8.9e-16,
    maxiter: int = 100, full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """Root between two numbers where `f` has opposite signs, by interpolation where it narrows the interval."""
    if full_output:
        raise ValueError("full_output: only the root has a derivative")
    low, high = float(as_tensor(a)), float(as_tensor(b))
    given = args if isinstance(args, tuple) else (args,)

    def solve(function: Callable[[Any], Any], _: Any) -> Any:
        return _bracketed(function, low, high, xtol, rtol, maxiter)

    return transforms.custom_root(lambda x, *more: as_tensor(f(x, *more)).reshape(x.shape), solve)(
        as_tensor(low), *given
    )


def bisect(f: Callable[..., Any], a: Any, b: Any, args: Any = (), **options: Any) -> Any:
    """The same as `brentq`."""
    return brentq(f, a, b, args, **options)


def _bracketed(function: Callable[[Any], Any], low: float, high: float, xtol: float, rtol: float, maxiter: int) -> Any:
    """Chandrupatla, A new hybrid quadratic/bisection algorithm, Advances in Engineering Software 28 (1997)."""

    def value(x: float) -> float:
        return float(function(as_tensor(x)))

    a, b = high, low
    fa, fb = value(a), value(b)
    if fa * fb > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    c, fc, share = a, fa, 0.5
    for _ in range(maxiter * 4):
        best, least = (a, fa) if abs(fa) < abs(fb) else (b, fb)
        limit = (2 * rtol * abs(best) + xtol) / max(abs(b - a), 1e-300)
        if least == 0 or limit > 0.5:
            return as_tensor(best)
        x = a + min(1 - limit, max(limit, share)) * (b - a)
        fx = value(x)
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, b, fc, fb = b, a, fb, fa
        a, fa = x, fx
        share = _share(a, b, c, fa, fb, fc)
    raise RuntimeError(f"Failed to converge after {maxiter} iterations.")


def _share(a: float, b: float, c: float, fa: float, fb: float, fc: float) -> float:
    """Where the next point lies between the two that enclose the root: by a parabola, or in the middle."""
    if c == b or fc == fb:
        return 0.5
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (1 - (1 - xi) ** 0.5 < phi < xi**0.5):
        return 0.5
    return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)


def root_scalar(
    f: Callable[..., Any], args: Any = (), method: str | None = None, bracket: Any = None, fprime: Any = None,
    fprime2: Any = None, x0: Any = None, x1: Any = None, xtol: float | None = None, rtol: float | None = None,
    maxiter: int | None = None, options: Any = None,
) -> Any:  # fmt: skip
    """Root of a function of one number, between the numbers of `bracket` or near `x0`."""
    given = args if isinstance(args, tuple) else (args,)
    if bracket is not None:
        low, high = bracket
        found = brentq(f, low, high, given, xtol=xtol or 2e-12, rtol=rtol or 8.9e-16, maxiter=maxiter or 100)
    elif x0 is not None:
        found = newton(f, x0, None, given, xtol or 1.48e-8, maxiter or 50)
    else:
        raise ValueError("root_scalar: a bracket or x0 must be given")
    return OptimizeResult(root=found, converged=True, flag="converged")


def minimize(
    fun: Callable[..., Any], x0: Any, args: Any = (), method: str | None = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: Any = None, constraints: Any = (), tol: float | None = None, callback: Any = None,
    options: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Minimum of a function of a vector, found by SciPy with the gradient of `fun`.

    Raises
    ------
    ImportError
        SciPy is not installed.
    RuntimeError
        No convergence.
    ValueError
        There are bounds or constraints: the minimum must be where the gradient is zero.
    """
    if bounds is not None or constraints:
        raise ValueError(
            "minimize: with bounds or constraints there is no derivative here; use scipy.optimize.minimize"
        )
    given = args if isinstance(args, tuple) else (args,)

    def function(x: Any, *more: Any) -> Any:
        return as_tensor(fun(x, *more)).reshape(())

    gradient = transforms.grad(function)
    found: dict[str, Any] = {}

    def solve(residual: Callable[[Any], Any], start: Any) -> Any:
        constants = [one.detach() if hasattr(one, "detach") else one for one in given]

        def value(x: Any) -> float:
            return float(function(_shaped(x, start), *constants))

        def slope(x: Any) -> Any:
            return array_of(residual(_shaped(x, start))).reshape(-1).astype(np.float64)

        done = scipy_module("optimize", "minimize").minimize(
            value, array_of(start).reshape(-1), jac=slope, method=method, tol=tol, options=options, callback=callback
        )
        if not done.success and done.status != 2:  # 2: no greater precision is possible
            raise RuntimeError(f"scipy.optimize.minimize: {done.message}")
        found.update({name: done[name] for name in ("nit", "nfev", "message", "status") if name in done})
        return _shaped(done.x, start)

    x = transforms.custom_root(gradient, solve)(_start(x0), *given)
    return OptimizeResult(x=x, fun=function(x, *given), success=True, jac=gradient(x, *given), **found)


def _shaped(x: Any, like: Any) -> Any:
    return wrapped(np.asarray(x, like.dtype).reshape(tuple(like.shape)))
