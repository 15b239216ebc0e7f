"""Sparse Jacobians and Hessians as functions of functions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from gradsmith.func.arguments import (
    Argnums,
    Call,
    Function,
    checked_argnums,
    differentiable_leaves,
    require_real,
)
from gradsmith.func.arrays import taking_arrays
from gradsmith.func.reverse import Pullback, grad
from gradsmith.func.sparse.pattern import MODES, SparsityPattern, pattern_of
from gradsmith.func.sparse.products import check_products, entries
from gradsmith.func.sparse.tracing import pattern_between
from gradsmith.runtime.arrays.scipy_modules import scipy_module
from gradsmith.runtime.switches.grad_mode import no_grad


def sparse_jacobian(
    func: Function | None = None,
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    mode: str = "auto",
    has_aux: bool = False,
    check: bool = False,
) -> Any:
    """Function that gives the Jacobian of `func` as a sparse array, from a few products.

    The places where there may be entries follow from the graph that a call of `func` records; rows, or columns, that
    have no such place in common are computed together. A tridiagonal Jacobian of any size takes three products.

    Parameters
    ----------
    func : callable, optional
        Takes tensors, or trees of them, and gives a real tensor or a tree of them. Without it, the result is a
        decorator. It may be made of functions of NumPy.
    argnums : int or tuple of int
        The positional arguments to differentiate by; a negative number counts from the last one.
    pattern : SparsityPattern, scipy.sparse array or array_like, optional
        Where there may be entries; what lies elsewhere must be zero. By default it is found in each call, which takes
        far longer than the products. `jacobian_pattern` finds it once.
    mode : {"auto", "forward", "reverse"}
        Columns together, by products with tangents, or rows, by products with cotangents; by default what needs
        fewer. Both call `func` once. Forward mode differentiates backward formulas, which those of a custom Function
        must allow.
    has_aux : bool
        `func` gives a pair, of which the first is differentiated.
    check : bool
        Compare one more product, with a random vector, and raise if the pattern misses an entry.

    Returns
    -------
    callable
        Takes what `func` takes, and arrays and numbers for tensors. Gives a `scipy.sparse.csr_array` with a row for
        each element of the output and a column for each of the input, both flattened row by row; of trees, the
        structure of the output with that of the argument in place of each tensor, as `jacrev`. Places of the pattern
        where the Jacobian is zero are stored. The numbers have no history. With `has_aux` a pair of that and the second
        result of `func`.

    Raises
    ------
    ImportError
        SciPy is not installed.
    ValueError
        `mode` is unknown, the pattern has another shape than the Jacobian, or `check` finds that it misses an entry.
    RuntimeError
        When the function is called: something is complex, or of a dtype without derivative.

    Notes
    -----
    A pattern holds for all inputs of the same shapes as long as `func` takes the same branches, and indexes by the same
    numbers and masks. Of other ops it holds whatever the values: `where`, `relu` and `max` may take either side. Hooks
    on tensors that `func` computes are taken to keep the gradient of each element apart from the others.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> def f(x):
    ...     return x[1:] ** 2 - x[:-1]
    >>> x = gs.tensor([1.0, 2.0, 3.0])
    >>> jacobian = func.sparse_jacobian(f)(x)
    >>> print(jacobian.toarray())
    [[-1.  4.  0.]
     [ 0. -1.  6.]]
    >>> fast = func.sparse_jacobian(f, pattern=func.jacobian_pattern(f)(x))
    >>> print(fast(2 * x).toarray())
    [[-1.  8.  0.]
     [ 0. -1. 12.]]
    """
    again = functools.partial(
        sparse_jacobian, argnums=argnums, pattern=pattern, mode=mode, has_aux=has_aux, check=check
    )
    if func is None:
        return again
    call = Call("sparse_jacobian", func)
    if mode not in MODES:
        raise ValueError(f"sparse_jacobian: mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
    known = None if pattern is None else pattern_of(pattern, symmetric=False)

    @taking_arrays(functools.partial(again, pattern=known), func)
    def jacobian(*args: Any) -> Any:
        with no_grad():
            pullback = real_pullback(call, args, checked_argnums(call, argnums, len(args)), has_aux)
            return evaluated(call, pullback, known, mode, isinstance(argnums, tuple), has_aux, check)

    return jacobian


def real_pullback(call: Call, args: tuple[Any, ...], positions: tuple[int, ...], has_aux: bool) -> Pullback:
    """The recorded call of a function of real tensors."""
    scipy_module("sparse", f"{call.transform}()")
    leaves, _ = differentiable_leaves(call, [args[n] for n in positions], positions)
    require_real(call, leaves, "inputs")
    if any(leaf.is_meta for leaf in leaves):
        raise call.error("inputs on the meta device have no data, without which no entry can be computed")
    return Pullback(call, args, positions, has_aux, of_real=True)


def evaluated(
    call: Call, pullback: Pullback, known: SparsityPattern | None, mode: str, many: bool, has_aux: bool, check: bool
) -> Any:
    """The Jacobian of a recorded call, in the structure that transforms give."""
    pattern = found_pattern(call, pullback, symmetric=False) if known is None else known
    require_shape(call, pullback, pattern)
    matrix = pattern.filled(entries(pullback, pattern, mode))
    if check:
        check_products(call, pullback, pattern, mode, matrix)
    found = arranged(pullback, matrix, many)
    return (found, pullback.aux) if has_aux else found


def found_pattern(call: Call, pullback: Pullback, symmetric: bool) -> SparsityPattern:
    return SparsityPattern(pattern_between(pullback.outputs, pullback.tensors, call.transform), symmetric)


def require_shape(call: Call, pullback: Pullback, pattern: SparsityPattern) -> None:
    shape = tuple(sum(tensor.numel() for tensor in side) for side in (pullback.outputs, pullback.tensors))
    if pattern.shape != shape:
        raise call.error(
            f"the pattern has shape {pattern.shape}, but f gives {shape[0]} elements of {shape[1]}: it belongs to "
            "inputs of other shapes",
            ValueError,
        )


def arranged(pullback: Pullback, matrix: Any, many: bool) -> Any:
    """The blocks of the matrix in the structure of the outputs, and within it of the arguments."""
    if len(pullback.outputs) == len(pullback.tensors) == 1:
        blocks = [[matrix]]
    else:
        columns = bounds(pullback.tensors)
        blocks = [[matrix[i:j, k:m] for k, m in columns] for i, j in bounds(pullback.outputs)]
    rows = [pullback.primals_spec.unflatten(row) for row in blocks]
    return pullback.spec.unflatten(rows if many else [row[0] for row in rows])


def bounds(tensors: Sequence[Any]) -> list[tuple[int, int]]:
    """Where the elements of each tensor begin and end among those of all."""
    return list(itertools.pairwise(itertools.accumulate((tensor.numel() for tensor in tensors), initial=0)))


def jacobian_pattern(func: Function | None = None, argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Function that gives the sparsity pattern of the Jacobian of `func`.

    Parameters
    ----------
    func, argnums, has_aux
        See `sparse_jacobian`.

    Returns
    -------
    callable
        Takes what `func` takes and gives a `SparsityPattern`. Of trees it is that of all elements of all outputs by all
        elements of all inputs, one tensor after the other.

    Raises
    ------
    ImportError, RuntimeError, ValueError
        See `sparse_jacobian`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> pattern = func.jacobian_pattern(lambda x: x[1:] * x[:-1])(gs.ones(4))
    >>> pattern
    SparsityPattern(shape=(3, 4), nnz=6, n_colors=2, mode='reverse')
    >>> print(pattern.array.toarray().astype(int))
    [[1 1 0 0]
     [0 1 1 0]
     [0 0 1 1]]
    """
    again = functools.partial(jacobian_pattern, argnums=argnums, has_aux=has_aux)
    if func is None:
        return again
    call = Call("jacobian_pattern", func)

    @taking_arrays(again, func)
    def pattern(*args: Any) -> SparsityPattern:
        with no_grad():
            pullback = real_pullback(call, args, checked_argnums(call, argnums, len(args)), has_aux)
            return found_pattern(call, pullback, symmetric=False)

    return pattern


# ---- Hessians


def sparse_hessian(
    func: Function | None = None,
    argnums: Argnums = 0,
    *,
    pattern: Any = None,
    has_aux: bool = False,
    check: bool = False,
) -> Any:
    """Function that gives the Hessian of `func` as a sparse array, from a few products.

    The Hessian is the Jacobian of the gradient. Being symmetric it takes fewer products than a Jacobian of the same
    pattern: each pair of entries has to be seen once.

    Parameters
    ----------
    func : callable, optional
        Takes tensors, or trees of them, and gives a tensor without dimensions. Without it, the result is a decorator.
    argnums, pattern, has_aux, check
        See `sparse_jacobian`; `hessian_pattern` finds the pattern.

    Returns
    -------
    callable
        Takes what `func` takes. Gives a symmetric `scipy.sparse.csr_array`; of trees, the structure of the argument
        with the same in place of each tensor. With `has_aux` a pair of that and the second result of `func`.

    Raises
    ------
    ImportError, RuntimeError, ValueError
        See `sparse_jacobian`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> def energy(x):
    ...     return ((x[1:] - x[:-1]) ** 2).sum() + (x**4).sum()
    >>> print(func.sparse_hessian(energy)(gs.tensor([1.0, 2.0, 3.0])).toarray())
    [[ 14.  -2.   0.]
     [ -2.  52.  -2.]
     [  0.  -2. 110.]]
    """
    again = functools.partial(sparse_hessian, argnums=argnums, pattern=pattern, has_aux=has_aux, check=check)
    if func is None:
        return again
    call = Call("sparse_hessian", func)
    known = None if pattern is None else pattern_of(pattern, symmetric=True)

    @taking_arrays(functools.partial(again, pattern=known), func)
    def hessian(*args: Any) -> Any:
        with no_grad():
            pullback = gradient_pullback(call, args, argnums, has_aux)
            found = found_pattern(call, pullback, symmetric=True) if known is None else known
            return evaluated(call, pullback, found, "reverse", isinstance(argnums, tuple), has_aux, check)

    return hessian


def gradient_pullback(call: Call, args: tuple[Any, ...], argnums: Argnums, has_aux: bool) -> Pullback:
    """The recorded gradient of a function."""
    positions = checked_argnums(call, argnums, len(args))
    gradient = grad(call.func, argnums=argnums, has_aux=has_aux)
    return real_pullback(Call(call.transform, gradient), args, positions, has_aux)


def hessian_pattern(func: Function | None = None, argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Function that gives the sparsity pattern of the Hessian of `func`.

    Parameters
    ----------
    func, argnums, has_aux
        See `sparse_hessian`.

    Returns
    -------
    callable
        Takes what `func` takes and gives a symmetric `SparsityPattern`, as `jacobian_pattern`.

    Raises
    ------
    ImportError, RuntimeError, ValueError
        See `sparse_jacobian`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.hessian_pattern(lambda x: (x[0] * x[1:]).sum())(gs.ones(1000))
    SparsityPattern(shape=(1000, 1000), nnz=1998, n_colors=2, symmetric=True)
    """
    again = functools.partial(hessian_pattern, argnums=argnums, has_aux=has_aux)
    if func is None:
        return again
    call = Call("hessian_pattern", func)

    @taking_arrays(again, func)
    def pattern(*args: Any) -> SparsityPattern:
        with no_grad():
            return found_pattern(call, gradient_pullback(call, args, argnums, has_aux), symmetric=True)

    return pattern
