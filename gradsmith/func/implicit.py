"""Solutions of equations as functions of their parameters, differentiated by the implicit function theorem.

Where f(x, a) = 0, a change da of the parameters changes the solution by dx with A dx + B da = 0, A and B the Jacobians
of f by x and by a. So the tangent of the solution, and in reverse mode the vector u with A^T u = g, solve equations
themselves, which are linear. They are differentiated in the same way, which gives derivatives of every order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradsmith.autograd.function import Function as CustomFunction
from gradsmith.func.arguments import (
    ArraysGiven,
    Call,
    Function,
    differentiable_leaves,
    private,
    require_real,
    tensor_of,
)
from gradsmith.func.arrays import as_given, giving_tensors, with_arrays, with_tensors
from gradsmith.func.forward import jvp
from gradsmith.func.linear_solve import solver_of
from gradsmith.func.reverse import vjp
from gradsmith.func.transformed import transformed
from gradsmith.generated import cat
from gradsmith.runtime.batching.batch import is_batched_tensor, physical
from gradsmith.runtime.switches.grad_mode import enable_grad, is_grad_enabled, no_grad
from gradsmith.runtime.tensors.entry_points import leads_elsewhere
from gradsmith.runtime.tensors.factories.creation import zeros_like
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree

Tensors = Sequence[Any]
Residual = Callable[[Tensors, Tensors], Tensors]  # of the unknowns and the parameters
Solver = Callable[[Callable[[Tensors], Tensors], Tensors], Tensors]  # of the residual and where to start


def custom_root(
    func: Function | None = None,
    solve: Function | None = None,
    *,
    linear_solve: Any = "auto",
    tol: float | None = None,
    maxiter: int = 100,
) -> Any:
    """Function that solves ``func(x, *args) == 0`` for x, differentiable by `args`.

    How the solution is found does not matter for the derivatives: nothing of it is recorded.

    Parameters
    ----------
    func : callable
        Takes the unknown, a tensor or a tree of tensors, and parameters; gives the structure and shapes of the unknown.
        It may be made of functions of NumPy. Without it, the result is a decorator.
    solve : callable, optional
        Takes a function of the unknown alone, of tensors or arrays, and where to start, and gives its root. Default:
        Newton's method.
    linear_solve : {"auto", "dense", "gmres", "cg"} or callable
        How linear equations with the Jacobian of `func` are solved. A callable takes the product of the matrix with a
        vector, as a function of tensors of one dimension, and the right side. "auto" computes the matrix for up to
        1,000 unknowns and iterates by GMRES of SciPy for more.
    tol : float, optional
        Newton's method ends at a step of this size, relative to ``1 + abs(x)``. Default: ``eps**0.75`` of the dtype.
    maxiter : int
        Newton's method gives up after this many steps.

    Returns
    -------
    callable
        Takes where to start and the parameters, and gives the root. From an array or a number, and with no tensor
        among the parameters, the root is an array.

    Raises
    ------
    RuntimeError
        When the function is called: no convergence, a result of another shape than the unknown, something complex, or
        a tensor that requires grad and is not among the arguments.
    numpy.linalg.LinAlgError
        The Jacobian is singular.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> square_root = func.custom_root(lambda x, a: x * x - a)
    >>> start, a = gs.tensor(1.0), gs.tensor(4.0)
    >>> square_root(start, a)
    tensor(2.)
    >>> func.grad(square_root, argnums=1)(start, a)
    tensor(0.2500)
    """
    again = functools.partial(custom_root, solve=solve, linear_solve=linear_solve, tol=tol, maxiter=maxiter)
    if func is None:
        return again
    call = Call("custom_root", func)
    linear = solver_of("custom_root", linear_solve)

    def newton(residual: Callable[[Tensors], Tensors], start: Tensors) -> Tensors:
        return _newton(call, residual, start, linear, tol, maxiter)

    return transformed(again, func)(_solution(call, func, solve, newton, linear))


def fixed_point(
    func: Function | None = None,
    solve: Function | None = None,
    *,
    linear_solve: Any = "auto",
    tol: float | None = None,
    maxiter: int = 10_000,
) -> Any:
    """Function that solves ``func(x, *args) == x`` for x, differentiable by `args`.

    Parameters
    ----------
    func : callable
        See `custom_root`.
    solve : callable, optional
        Takes a function of the unknown alone and where to start, and gives its fixed point. Default: `func` is called
        again and again.
    linear_solve : {"auto", "dense", "gmres", "cg"} or callable
        See `custom_root`; the matrix is the unit matrix less the Jacobian of `func`, or its transpose.
    tol : float, optional
        The iteration ends at a step of this size, relative to ``1 + abs(x)``. Default: ``16 * eps`` of the dtype.
    maxiter : int
        It gives up after this many steps.

    Returns
    -------
    callable
        Takes where to start and the parameters, and gives the fixed point.

    Raises
    ------
    RuntimeError, numpy.linalg.LinAlgError
        See `custom_root`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> cosine = func.fixed_point(lambda x, a: gs.cos(a * x))
    >>> start, a = gs.tensor(1.0), gs.tensor(1.0)
    >>> cosine(start, a)
    tensor(0.7391)
    >>> func.grad(cosine, argnums=1)(start, a)
    tensor(-0.2975)
    """
    again = functools.partial(fixed_point, solve=solve, linear_solve=linear_solve, tol=tol, maxiter=maxiter)
    if func is None:
        return again
    call = Call("fixed_point", func)

    def difference(x: Any, *args: Any) -> Any:
        return pytree.tree_map(lambda before, after: before - after, x, func(x, *args))

    def iterated(residual: Callable[[Tensors], Tensors], start: Tensors) -> Tensors:
        return _iterated(call, residual, start, tol, maxiter)

    def solve_for_root(residual: Function, start: Any) -> Any:
        assert solve is not None
        return solve(lambda x: pytree.tree_map(lambda before, less: before - less, x, residual(x)), start)

    linear = solver_of("fixed_point", linear_solve)
    solution = _solution(call, difference, None if solve is None else solve_for_root, iterated, linear)
    return transformed(again, func)(solution)


def _solution(call: Call, func: Function, solve: Function | None, default: Solver, linear: Any) -> Function:
    def solved(func: Function, start: Any, args: tuple[Any, ...]) -> Any:
        problem = Problem(call, func, start, args)
        solver = default if solve is None else problem.solver(solve)
        return problem.spec.unflatten(
            Equation(call, problem.residual, solver, linear).solved(problem.start, problem.args)
        )

    def solution(start: Any, *args: Any) -> Any:
        try:
            return solved(func, start, args)
        except ArraysGiven as raised:
            given = raised
        given.beside_tensors |= any(map(is_tensor, call.leaves(args)))
        return as_given(solved(giving_tensors(func), with_tensors(start), args), given)

    return solution


class Problem:
    """An equation of trees as one of flat lists of tensors."""

    def __init__(self, call: Call, func: Function, start: Any, args: tuple[Any, ...]) -> None:
        self.call, self.func = call, func
        self.start, spec = differentiable_leaves(call, [start], [0])
        (self.spec,) = spec.children
        leaves, self.args_spec = pytree.flatten(args)
        self.places = [n for n, leaf in enumerate(leaves) if is_tensor(leaf) and leaf.dtype.kind in "fc"]
        self.leaves = leaves
        self.args = [leaves[n] for n in self.places]
        require_real(call, [*self.start, *self.args], "inputs")

    def residual(self, unknowns: Tensors, args: Tensors) -> list[Any]:
        leaves = list(self.leaves)
        for place, arg in zip(self.places, args):
            leaves[place] = arg
        return self.flat(self.func(self.spec.unflatten(unknowns), *self.args_spec.unflatten(leaves)))

    def flat(self, result: Any) -> list[Any]:
        """A result of the user's, which must be like the unknown."""
        try:
            found = pytree.leaves_like(self.spec, result, "output")
        except pytree.Mismatch as error:
            raise self.call.error(f"f must give the structure of its first argument: {error}") from None
        for one, like, path in zip(found, self.start, self.spec.paths("output")):
            if not is_tensor(one) or one.shape != like.shape:
                what = f"shape {list(one.shape)}" if is_tensor(one) else f"a {type(one).__name__}"
                raise self.call.error(
                    f"f must give the shapes of its first argument, {list(like.shape)}, but {path} is of {what}"
                )
        return found

    def solver(self, solve: Function) -> Solver:
        def solver(residual: Callable[[Tensors], Tensors], start: Tensors) -> list[Any]:
            def function(x: Any) -> Any:
                leaves = pytree.leaves_like(self.spec, x)
                found = self.spec.unflatten(residual([tensor_of(leaf) for leaf in leaves]))
                return found if all(map(is_tensor, leaves)) else with_arrays(found)

            return self.flat(with_tensors(solve(function, self.spec.unflatten(start))))

        return solver


class Equation:
    """``residual(unknowns, args) == 0``, and how it is solved for the unknowns."""

    def __init__(self, call: Call, residual: Residual, solver: Solver, linear: Any) -> None:
        self.call, self.residual, self.solver, self.linear = call, residual, solver, linear

    def solved(self, start: Tensors, args: Tensors) -> list[Any]:
        """The unknowns, differentiable by `args`."""
        with no_grad():
            constants = [arg.detach() for arg in args]
            found = self.solver(lambda xs: self.residual(xs, constants), [x.detach() for x in start])
            found = [x.detach() for x in found]
        if is_grad_enabled():
            self.require_no_captured(found, constants)
        return list(Root.apply(self, len(found), *found, *args))

    def require_no_captured(self, unknowns: Tensors, args: Tensors) -> None:
        """Derivatives by what `residual` reads besides would silently be missing."""
        with enable_grad():
            tensors = private([*unknowns, *args], recording=False)
            results = self.residual(tensors[: len(unknowns)], tensors[len(unknowns) :])
            recorded = [result for result in results if result.requires_grad]
            if recorded and leads_elsewhere(recorded, tensors):
                raise self.call.error(
                    "f reads a tensor that requires grad and is none of its arguments, so that the solution could not "
                    "be differentiated by it. Make it an argument, or detach() it"
                )

    def affine(self, residual: Residual) -> Equation:
        """An equation that is affine in its unknowns."""
        return Equation(
            self.call, residual, lambda function, start: solved_affine(function, start, self.linear), self.linear
        )


class Root(CustomFunction):
    """The solution of an equation, from itself and the parameters of the equation."""

    generate_vmap_rule = True

    @staticmethod
    def forward(equation: Equation, count: int, *tensors: Any) -> tuple[Any, ...]:
        return tuple(x.clone() for x in tensors[:count])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.equation, ctx.count, *tensors = inputs
        ctx.save_for_backward(*output, *tensors[ctx.count :])
        ctx.save_for_forward(*output, *tensors[ctx.count :])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        equation, count = ctx.equation, ctx.count
        unknowns, args = ctx.saved_tensors[:count], ctx.saved_tensors[count:]

        def transposed(vectors: Tensors, given: Tensors) -> list[Any]:
            """A^T u - g"""
            at, by, goals = given[:count], given[count:-count], given[-count:]
            _, pullback = vjp(lambda *xs: equation.residual(xs, by), *at)
            return [product - goal for product, goal in zip(pullback(list(vectors)), goals)]

        zeros = [zeros_like(g.detach()) for g in cotangents]
        vectors = equation.affine(transposed).solved(zeros, [*unknowns, *args, *cotangents])
        gradients: tuple[Any, ...] = ()
        if args:
            _, pullback = vjp(lambda *by: equation.residual(unknowns, by), *args)
            gradients = pullback([-vector for vector in vectors])
        return (None, None, *([None] * count), *gradients)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
        equation, count = ctx.equation, ctx.count
        unknowns, args = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        directions = [
            zeros_like(arg.detach()) if tangent is None else tangent
            for arg, tangent in zip(args, tangents[2 + count :])
        ]

        def linear(vectors: Tensors, given: Tensors) -> list[Any]:
            """A dx + B da"""
            middle = count + len(args)
            primals, changes = given[:middle], given[middle:]
            return jvp(  # type: ignore[no-any-return]
                lambda *all_: list(equation.residual(all_[:count], all_[count:])), tuple(primals), (*vectors, *changes)
            )[1]

        zeros = [zeros_like(x.detach()) for x in unknowns]
        return tuple(equation.affine(linear).solved(zeros, [*unknowns, *args, *directions]))


# ---- solvers, for flat lists of tensors; nothing is recorded


def solved_affine(function: Callable[[Tensors], Tensors], start: Tensors, linear: Any) -> list[Any]:
    """Root of an affine function; `start` has the shapes and is zero."""
    offset = _joined(function(start))

    def matvec(vector: Any) -> Any:
        return _joined(function(_split(vector, start))) - offset

    return _split(linear(matvec, -offset), start)


def _newton(
    call: Call, function: Callable[[Tensors], Tensors], start: Tensors, linear: Any, tol: float | None, maxiter: int
) -> Tensors:
    unknowns = [x.clone() for x in start]
    for _ in range(maxiter):
        here = unknowns

        def matvec(vector: Any, here: list[Any] = here) -> Any:
            product = jvp(lambda *xs: list(function(xs)), tuple(here), tuple(_split(vector, here)))[1]
            return _joined(product)

        step = _split(linear(matvec, -_joined(function(here))), here)
        unknowns = [x + change for x, change in zip(here, step)]
        if _is_small(step, unknowns, tol, 0.75, 1.0):
            return unknowns
    raise call.error(f"Newton's method did not converge in {maxiter} steps; start closer to the root, or give `solve`")


def _iterated(
    call: Call, residual: Callable[[Tensors], Tensors], start: Tensors, tol: float | None, maxiter: int
) -> Tensors:
    unknowns = [x.clone() for x in start]
    for _ in range(maxiter):
        step = residual(unknowns)
        unknowns = [x - change for x, change in zip(unknowns, step)]
        if _is_small(step, unknowns, tol, 1.0, 16.0):
            return unknowns
    raise call.error(
        f"the iteration did not converge in {maxiter} steps; start closer to the fixed point, or give `solve`"
    )


def _is_small(step: Tensors, unknowns: Tensors, tol: float | None, power: float, factor: float) -> bool:
    for change, x in zip(step, unknowns):
        limit = factor * float(np.finfo(x.dtype).eps) ** power if tol is None else tol
        if not _all_slices(change.abs() <= limit * (1 + x.abs())).all():
            return False
    return True


def _all_slices(tensor: Any) -> Any:
    """What a tensor stands for within `vmap`."""
    while is_batched_tensor(tensor):
        tensor = physical(tensor)
    return tensor


def _joined(tensors: Tensors) -> Any:
    return cat([tensor.reshape(-1) for tensor in tensors])


def _split(vector: Any, like: Tensors) -> list[Any]:
    found, first = [], 0
    for tensor in like:
        found.append(vector[first : first + tensor.numel()].reshape(tensor.shape).to(tensor.dtype))
        first += tensor.numel()
    return found
