"""Checks of gradients against differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.compat.hips.differential_operators import make_jvp, make_vjp, unary_to_nary
from gradsmith.compat.hips.vector_spaces import vspace

__all__ = ["check_grads", "combo_check"]

TOL = RTOL = 1e-6
EPS = 1e-6


def _is_close(a: Any, b: Any) -> bool:
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def _difference(f: Callable[[Any], Any], x: Any, direction: Any) -> Any:
    """Derivative along a direction, by a central difference."""
    xs = vspace(x)
    ahead, behind = (f(xs.add(x, xs.scalar_mul(direction, sign * EPS / 2))) for sign in (1, -1))
    ys = vspace(ahead)
    return ys.scalar_mul(ys.add(ahead, ys.scalar_mul(behind, -1.0)), 1 / EPS)


def _check_reverse(f: Callable[[Any], Any], x: Any) -> None:
    vjp, y = make_vjp(f)(x)
    xs, ys = vspace(x), vspace(y)
    direction, weights = xs.randn(), ys.randn()
    gradient = xs.covector(vjp(ys.covector(weights)))
    if vspace(gradient) != xs:
        raise AssertionError(f"the gradient is {vspace(gradient)}, the argument {xs}")
    exact = xs.inner_prod(direction, gradient)
    numeric = ys.inner_prod(weights, _difference(f, x, direction))
    if not _is_close(numeric, exact):
        raise AssertionError(f"Derivative (VJP) check failed with arg {x}:\nanalytic: {exact}\nnumeric:  {numeric}")


def _check_forward(f: Callable[[Any], Any], x: Any) -> None:
    direction = vspace(x).randn()
    _, tangent = make_jvp(f)(x)(direction)
    numeric = _difference(f, x, direction)
    ys = vspace(tangent)
    if ys != vspace(numeric):
        raise AssertionError(f"the tangent is {ys}, the value {vspace(numeric)}")
    weights = ys.randn()
    exact, found = ys.inner_prod(weights, tangent), ys.inner_prod(weights, numeric)
    if not _is_close(found, exact):
        raise AssertionError(f"Derivative (JVP) check failed with arg {x}:\nanalytic: {exact}\nnumeric:  {found}")


@unary_to_nary
def check_grads(f: Callable[[Any], Any], x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Compare derivatives of both modes, up to an order, with differences.

    Raises
    ------
    AssertionError
        They differ.
    ValueError
        A mode is neither "fwd" nor "rev".
    """
    if set(modes) - {"fwd", "rev"}:
        raise ValueError(f"modes are 'fwd' and 'rev', not {list(modes)}")
    if "fwd" in modes:
        _check_forward(f, x)
    if "rev" in modes:
        _check_reverse(f, x)
    if order < 2:
        return
    if "fwd" in modes:
        check_grads(lambda x, v: make_jvp(f)(x)(v)[1], (0, 1), modes, order=order - 1)(x, vspace(x).randn())
    if "rev" in modes:
        check_grads(lambda x, v: make_vjp(f)(x)[0](v), (0, 1), modes, order=order - 1)(x, vspace(f(x)).randn())


def combo_check(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., None]:
    """Function that checks all combinations of the arguments that it is given lists of."""

    def check(*choices: Any, **named: Any) -> None:
        for chosen in itertools.product(*choices):
            for values in itertools.product(*named.values()):
                check_grads(fun, *args, **kwargs)(*chosen, **dict(zip(named, values)))

    return check
