"""Ordinary differential equations and integrals for tensors: ``gradsmith.scipy.integrate``.

The solution of an equation is differentiable by its start, its times and its parameters: in reverse mode by the adjoint
equation (Chen and others, Neural ordinary differential equations, 2018), in forward mode by the equation of
sensitivities. Nothing of the solver is recorded, and both are solutions of equations again, so that there are
derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gradsmith.generated as generated
from gradsmith.autograd.function import Function as CustomFunction
from gradsmith.func.arguments import private
from gradsmith.func.forward import jvp
from gradsmith.func.reverse import vjp
from gradsmith.numpy.arguments import array_of, as_tensor, axis_of, floating, is_tensor, np, of_dtype, wrapped
from gradsmith.numpy.calculus import diff, trapezoid
from gradsmith.runtime.switches.grad_mode import enable_grad, is_grad_enabled, no_grad
from gradsmith.runtime.tensors.entry_points import leads_elsewhere
from gradsmith.scipy.steppers import Options, solved, times_of_steps
from gradsmith.utils import pytree

__all__ = ["cumulative_trapezoid", "fixed_quad", "odeint", "simpson", "solve_ivp", "trapezoid"]


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...] = (),
    Dfun: Any = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    h0: float = 0.0,
    hmax: float = 0.0,
    mxstep: int = 0,
    tfirst: bool = False,
    method: str = "dopri5",
    step_size: float | None = None,
) -> Any:
    """Solution of ``dy/dt = func(y, t, *args)`` at the times `t`, from `y0` at the first of them.

    Parameters
    ----------
    func : callable
        Takes the state, a tensor of one dimension, the time, a tensor without dimensions, and `args`, and gives the
        slope. With ``tfirst=True`` the time comes first. It must not read other tensors that require grad.
    y0 : array_like
        Of at most one dimension.
    t : array_like
        Ascending or descending times.
    args : tuple
        Trees of tensors and anything else.
    Dfun
        A Jacobian, which is not needed.
    rtol, atol : float, optional
        Bounds of the error of a step, relative and absolute; about 1.5e-8 by default.
    h0, hmax, mxstep : float, float, int
        The first step, the greatest, and how many there may be from one time to the next; 0 leaves it open.
    method : str
        "dopri5", adaptive of order 5; "rk4", of order 4 in steps of at most `step_size`; or one of SciPy's "RK23",
        "DOP853", "Radau", "BDF", "LSODA".
    step_size : float, optional
        Of "rk4"; by default one step from one time to the next.

    Returns
    -------
    Tensor
        Of shape (times, elements of `y0`).

    Raises
    ------
    RuntimeError
        Steps become too small or too many, or `func` reads a tensor that requires grad and is not in `args`.
    ValueError
        Shapes do not fit, or there is no such method.
    ImportError
        The method is SciPy's, which is not installed.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.scipy.integrate import odeint
    >>> rate = gs.tensor(0.5, dtype=gs.float64, requires_grad=True)
    >>> y = odeint(lambda y, t, rate: -rate * y, [1.0], [0.0, 2.0], (rate,))
    >>> y
    tensor([[1.0000],
            [0.3679]], dtype=gradsmith.float64, grad_fn=<SolutionBackward>)
    >>> y[1].sum().backward()
    >>> rate.grad                              # -2 * exp(-1)
    tensor(-0.7358, dtype=gradsmith.float64)
    """
    usual = Options()
    options = Options(
        method,
        usual.rtol if rtol is None else float(rtol),
        usual.atol if atol is None else float(atol),
        h0 or None,
        hmax or np.inf,
        mxstep or usual.max_steps,
        step_size,
    )
    start, times = _real(y0, "y0").reshape(-1), _real(t, "t")
    if as_tensor(y0).ndim > 1 or times.ndim != 1:
        raise ValueError("odeint: y0 has at most one dimension, and t has one")
    steps = np.diff(array_of(times))
    if not ((steps >= 0).all() or (steps <= 0).all()):
        raise ValueError("odeint: the times must ascend or descend")
    return Equation(func, tuple(args), tfirst, options).solution(start, times)


def _real(value: Any, name: str) -> Any:
    x = as_tensor(value)
    if x.dtype.kind == "c":
        raise ValueError(f"{name} is complex; give real and imaginary parts as a state of twice the length")
    return of_dtype(x, np.float64)


class Equation:
    """A right side as a function of the state, the time and a flat list of the tensors among its arguments."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], tfirst: bool, options: Options) -> None:
        self.func, self.tfirst, self.options = func, tfirst, options
        self.leaves, self.spec = pytree.flatten(args)
        self.places = [n for n, leaf in enumerate(self.leaves) if is_tensor(leaf) and leaf.dtype.kind in "fc"]
        self.args = [self.leaves[n] for n in self.places]

    def slope(self, y: Any, t: Any, args: Any) -> Any:
        leaves = list(self.leaves)
        for place, arg in zip(self.places, args):
            leaves[place] = arg
        given = self.spec.unflatten(leaves)
        found = as_tensor(self.func(t, y, *given) if self.tfirst else self.func(y, t, *given)).reshape(-1)
        if tuple(found.shape) != tuple(y.shape):
            raise ValueError(f"func gives {found.numel()} slopes, for a state of {y.numel()} elements")
        return of_dtype(found, y.dtype)

    def solution(self, start: Any, times: Any) -> Any:
        if is_grad_enabled():
            self.require_no_captured(start, times)
        return Solution.apply(self, times, start, *self.args)

    def require_no_captured(self, start: Any, times: Any) -> None:
        """Derivatives by what the right side reads besides would silently be missing."""
        if not times.numel():
            return
        with enable_grad():
            tensors = private([start, times[0].detach(), *self.args], recording=False)
            found = self.slope(tensors[0], tensors[1], tensors[2:])
            if found.requires_grad and leads_elsewhere([found], tensors):
                raise RuntimeError(
                    "odeint: func reads a tensor that requires grad and is none of its arguments, so that the solution "
                    "could not be differentiated by it. Put it into args, or detach() it"
                )

    def right(self, args: Any) -> Callable[[float, Any], Any]:
        """The right side for arrays."""
        constants = [arg.detach() for arg in args]

        def right(t: float, y: Any) -> Any:
            with no_grad():
                return array_of(self.slope(wrapped(np.array(y)), wrapped(np.float64(t)), constants)).astype(np.float64)

        return right


class Solution(CustomFunction):
    """States at times, as a function of the times, the start and the parameters."""

    @staticmethod
    def forward(equation: Equation, times: Any, start: Any, *args: Any) -> Any:
        return wrapped(solved(equation.right(args), array_of(start), array_of(times), equation.options))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        equation, times, _, *args = inputs
        ctx.equation = equation
        ctx.save_for_backward(output, times, *args)
        ctx.save_for_forward(output, times, *args)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        states, times, *args = ctx.saved_tensors
        return (None, *Adjoint(ctx.equation, states, times, args).gradients(gradient))

    @staticmethod
    def jvp(ctx: Any, _: Any, times_change: Any, start_change: Any, *changes: Any) -> Any:
        states, times, *args = ctx.saved_tensors
        return _sensitivity(ctx.equation, states, times, args, times_change, start_change, changes)

    @staticmethod
    def vmap(info: Any, in_dims: Any, equation: Equation, *tensors: Any) -> Any:
        """One after the other: each takes steps of its own."""
        rows = [
            [tensor if dim is None else tensor.select(dim, n) for tensor, dim in zip(tensors, in_dims[1:])]
            for n in range(info.batch_size)
        ]
        return generated.stack([Solution.apply(equation, *row) for row in rows]), 0


class Adjoint:
    """The equation that takes gradients backwards in time.

    Its state is that of the equation, the gradient by it, and the gradients by the first time and by the parameters.
    """

    def __init__(self, equation: Equation, states: Any, times: Any, args: Any) -> None:
        self.equation, self.states, self.times, self.args = equation, states, times, args
        self.size = states.shape[1]

    def slope(self, whole: Any, t: Any, *args: Any) -> Any:
        y, gradient = whole[: self.size], whole[self.size : 2 * self.size]
        value, pullback = vjp(lambda y, t, *args: self.equation.slope(y, t, args), y, t, *args)
        return generated.cat([value, *(_flat(one) for one in pullback(-gradient))])

    def gradients(self, given: Any) -> tuple[Any, ...]:
        """By the times, the start and the parameters."""
        count = self.states.shape[0]
        if not count:
            return (self.times * 0, given.new_zeros(self.size), *[arg * 0 for arg in self.args])
        rest = [given.new_zeros(1), *[given.new_zeros(arg.numel()) for arg in self.args]]
        gradient, tail = given[count - 1], generated.cat(rest)
        by_times: list[Any] = []
        for place in range(count - 1, 0, -1):
            slope = self.equation.slope(self.states[place], self.times[place], self.args)
            moving = (slope * given[place]).sum().reshape(1)
            by_times.insert(0, moving)
            tail = generated.cat([tail[:1] - moving, tail[1:]])
            gradient, tail = self.back(place, gradient, tail)
            gradient = gradient + given[place - 1]
        by_args = _split(tail[1:], self.args)
        return (generated.cat([tail[:1], *by_times]), gradient, *by_args)

    def back(self, place: int, gradient: Any, tail: Any) -> tuple[Any, Any]:
        """From one time to the one before it."""
        whole = generated.cat([self.states[place], gradient, tail])
        times = generated.stack([self.times[place], self.times[place - 1]])
        equation = Equation(self.slope, tuple(self.args), False, self.equation.options)
        found = Solution.apply(equation, times, whole, *equation.args)[1]
        return found[self.size : 2 * self.size], found[2 * self.size :]


def _flat(tensor: Any) -> Any:
    return of_dtype(tensor.reshape(-1), np.float64)


def _split(vector: Any, like: Any) -> list[Any]:
    found, first = [], 0
    for tensor in like:
        found.append(of_dtype(vector[first : first + tensor.numel()].reshape(tensor.shape), tensor.dtype))
        first += tensor.numel()
    return found


def _sensitivity(
    equation: Equation, states: Any, times: Any, args: Any, times_change: Any, start_change: Any, changes: Any
) -> Any:
    """How the states change with the times, the start and the parameters: the state and its change, integrated."""
    count, size = states.shape
    given = [arg * 0 if change is None else change for arg, change in zip(args, changes)]
    change = states[0] * 0 if start_change is None else start_change
    slopes = [equation.slope(states[n], times[n], args) for n in range(count)]
    if times_change is not None:
        change = change - slopes[0] * times_change[0]

    def slope(whole: Any, t: Any, *both: Any) -> Any:
        at, towards = both[: len(args)], both[len(args) :]
        value, moved = jvp(lambda y, *args: equation.slope(y, t, args), (whole[:size], *at), (whole[size:], *towards))
        return generated.cat([value, moved])

    doubled = Equation(slope, (*args, *given), False, equation.options)
    found = Solution.apply(doubled, times.detach(), generated.cat([states[0], change]), *doubled.args)[:, size:]
    if times_change is None:
        return found
    return found + generated.stack(slopes) * times_change.unsqueeze(1)


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    rtol: float = 1e-3,
    atol: float = 1e-6,
    first_step: float | None = None,
    max_step: float = np.inf,
) -> Any:
    """Solution of ``dy/dt = fun(t, y, *args)`` over an interval; see `odeint`.

    Returns
    -------
    object
        With `t`, the times `t_eval` or those of the solver's steps, `y` of shape (elements, times), and SciPy's
        `success`, `status` and `message`.

    Raises
    ------
    ValueError
        Events and dense output are not here.
    """
    if events is not None or dense_output:
        raise ValueError("solve_ivp: events and dense_output have no derivative here; use scipy.integrate.solve_ivp")
    first, last = (float(as_tensor(end).detach()) for end in t_span)
    start = _real(y0, "y0").reshape(-1)
    options = Options(method, rtol, atol, first_step, max_step)
    equation = Equation(fun, () if args is None else tuple(args), True, options)
    if t_eval is None:
        right = equation.right(equation.args)
        times = wrapped(times_of_steps(right, array_of(start), first, last, options))
        if any(map(is_tensor, t_span)):
            times = _between(t_span, times)
    else:
        times = _real(t_eval, "t_eval")
    states = equation.solution(start, _from(t_span[0], times))
    kept = states if _is_start(first, times) else states[1:]
    message = "The solver successfully reached the end of the integration interval."
    return SimpleNamespace(t=times, y=kept.T, sol=None, status=0, success=True, message=message)


def _from(first: Any, times: Any) -> Any:
    """The times with the start before them, where it is not one of them; there it brings its own history."""
    begin = of_dtype(as_tensor(first), np.float64).reshape(1)
    if _is_start(first, times):
        return generated.cat([begin, times[1:]]) if is_tensor(first) else times
    return generated.cat([begin, times])


def _is_start(first: Any, times: Any) -> bool:
    return bool(times.numel()) and float(times[0].detach()) == float(as_tensor(first).detach())


def _between(ends: Any, times: Any) -> Any:
    """The times of the solver's steps, of which the first and the last are those that were given."""
    first, last = (of_dtype(as_tensor(end), np.float64).reshape(1) for end in ends)
    return generated.cat([first, times[1:-1], last]) if times.numel() > 1 else first


# ---- integrals


def cumulative_trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """Integral up to each sample, by the trapezoidal rule."""
    heights = floating(as_tensor(y))
    axis = axis_of(axis, heights.ndim)
    rows = heights.movedim(axis, -1)
    widths = dx if x is None else diff(floating(as_tensor(x)))
    found = (widths * (rows[..., 1:] + rows[..., :-1]) / 2).cumsum(-1)
    if initial is not None:
        found = generated.cat([as_tensor(initial, found.dtype).expand((*found.shape[:-1], 1)), found], -1)
    return found.movedim(-1, axis)


def simpson(y: Any, x: Any = None, *, dx: float = 1.0, axis: int = -1) -> Any:
    """Integral by parabolas through three samples each; of an even number, the last interval takes the last three."""
    rows = floating(as_tensor(y))
    rows = rows.movedim(axis_of(axis, rows.ndim), -1)
    count = rows.shape[-1]
    steps = as_tensor(dx, rows.dtype).expand(max(count - 1, 0)) if x is None else diff(floating(as_tensor(x)))
    if count < 3:
        return trapezoid(rows, as_tensor(x) if x is not None else None, dx)
    odd = count if count % 2 else count - 1
    total = _parabolas(rows[..., :odd], steps[..., : odd - 1]).sum(-1)
    return total if odd == count else total + _last_interval(rows, steps)


def _parabolas(y: Any, h: Any) -> Any:
    """The integrals over pairs of intervals."""
    first, second = h[..., ::2], h[..., 1::2]
    both, product = first + second, first * second
    return (both / 6) * (
        y[..., :-2:2] * (2 - second / first)
        + y[..., 1:-1:2] * (both * both / product)
        + y[..., 2::2] * (2 - first / second)
    )


def _last_interval(y: Any, h: Any) -> Any:
    """Cartwright, Simpson's rule cumulative integration with unequal spacing, 2017."""
    before, last = h[..., -2], h[..., -1]
    return (
        (2 * last**2 + 3 * before * last) / (6 * (before + last)) * y[..., -1]
        + (last**2 + 3 * last * before) / (6 * before) * y[..., -2]
        - last**3 / (6 * before * (before + last)) * y[..., -3]
    )


def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: tuple[Any, ...] = (), n: int = 5) -> tuple[Any, None]:
    """Integral of a function by `n` Gaussian nodes, differentiable by the ends and whatever `func` reads."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    low, high = (floating(as_tensor(end)) for end in (a, b))
    at = (high - low) * (wrapped(nodes) + 1) / 2 + low
    return (high - low) / 2 * (wrapped(weights) * as_tensor(func(at, *args))).sum(-1), None
