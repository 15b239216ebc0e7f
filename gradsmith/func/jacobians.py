"""Jacobians and Hessians."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.func.arguments import (
    Argnums,
    Call,
    Function,
    checked_argnums,
    differentiable_leaves,
    require_real,
)
from gradsmith.func.arrays import taking_arrays
from gradsmith.func.forward import Pushforward, jvp
from gradsmith.func.reverse import Pullback, grad_and_value
from gradsmith.runtime.batching.levels import at_once, in_chunks
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.creation import ones_like
from gradsmith.utils import pytree

RANDOMNESS = ("error", "different", "same")


def jacrev(
    func: Function | None = None,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Any:
    """Function that gives the Jacobian of `func`, all rows at once in reverse mode.

    Parameters
    ----------
    func : callable, optional
        Takes tensors, or trees of them, and gives a real tensor or a tree of them. Without it, the result is a
        decorator.
    argnums : int or tuple of int
        The positional arguments to differentiate by; a negative number counts from the last one.
    has_aux : bool
        `func` gives a pair, of which the first is differentiated.
    chunk_size : int, optional
        At most so many rows at a time.

    Returns
    -------
    callable
        Takes what `func` takes. Gives the structure of the output, with that of the argument in place of each tensor
        (a tuple of these for a tuple `argnums`): of an output of shape ``s`` and an input of shape ``t``, a tensor of
        shape ``s + t``. With `has_aux` a pair of that and the second result of `func`.

    Raises
    ------
    ValueError
        `chunk_size` is less than 1, or an argument that is differentiated by has leaves that are no tensors.
    RuntimeError
        When the function is called: something is complex, or of a dtype without derivative.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.jacrev(lambda x: x * x)(gs.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    again = functools.partial(jacrev, argnums=argnums, has_aux=has_aux, chunk_size=chunk_size)
    if func is None:
        return again
    require_chunk_size("jacrev", chunk_size)
    call = Call("jacrev", func)

    @taking_arrays(again, func)
    def jacobian(*args: Any) -> Any:
        positions = checked_argnums(call, argnums, len(args))
        pullback = Pullback(call, args, positions, has_aux, of_real=True)
        found = _by_argument(pullback.spec, pullback.primals_spec, _rows(pullback, chunk_size), argnums)
        return (found, pullback.aux) if has_aux else found

    return jacobian


def require_chunk_size(transform: str, chunk_size: Any) -> None:
    if chunk_size is not None and not (isinstance(chunk_size, int) and chunk_size > 0):
        raise ValueError(f"{transform}: `chunk_size` should be greater than 0, got {chunk_size!r}")


def _rows(pullback: Pullback, chunk_size: int | None) -> list[list[Any]]:
    """The Jacobian of each output by each primal: products with all unit vectors at once, or in chunks."""
    sizes = [output.numel() for output in pullback.outputs]
    if sizes == [1]:
        return [_only_row(pullback)]
    products = in_chunks(pullback.call, pullback.product, _units(pullback.outputs), sum(sizes), chunk_size)
    return [
        [
            product.narrow(0, start, size).reshape((*output.shape, *primal.shape))
            for product, primal in zip(products, pullback.tensors)
        ]
        for output, start, size in zip(pullback.outputs, _starts(sizes), sizes)
    ]


def _only_row(pullback: Pullback) -> list[Any]:
    """The Jacobian of one number, which needs no batch."""
    (output,) = pullback.outputs
    products = pullback.product([ones_like(output.detach())])
    return [product.reshape((*output.shape, *primal.shape)) for product, primal in zip(products, pullback.tensors)]


def _units(tensors: Sequence[Any]) -> list[Any]:
    """The unit vectors of the space of all tensors: for each tensor its part of all of them, stacked."""
    sizes = [tensor.numel() for tensor in tensors]
    found = []
    for tensor, start, size in zip(tensors, _starts(sizes), sizes):
        part = np.zeros((sum(sizes), size), tensor.dtype)
        part.reshape(-1)[start * size : (start + size) * size : size + 1] = 1
        found.append(from_array(part.reshape((sum(sizes), *tensor.shape))).to(tensor.device))
    return found


def _starts(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:n]) for n in range(len(sizes))]


def _by_argument(
    outputs: pytree.TreeSpec, primals: pytree.TreeSpec, blocks: Sequence[Sequence[Any]], argnums: Argnums
) -> Any:
    """The blocks in the structure of the outputs, and within it of the arguments."""
    rows = [primals.unflatten(row) for row in blocks]
    return outputs.unflatten(rows if isinstance(argnums, tuple) else [row[0] for row in rows])


def jacfwd(
    func: Function | None = None, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Any:
    """Function that gives the Jacobian of `func`, all columns at once in forward mode.

    Parameters
    ----------
    func, argnums, has_aux
        See `jacrev`.
    randomness : {"error", "different", "same"}
        What random ops in `func` do; see `vmap`.

    Returns
    -------
    callable
        As for `jacrev`.

    Raises
    ------
    RuntimeError, ValueError
        See `jacrev`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.jacfwd(func.jacfwd(lambda x: x**3))(gs.tensor(2.0))
    tensor(12.)
    """
    again = functools.partial(jacfwd, argnums=argnums, has_aux=has_aux, randomness=randomness)
    if func is None:
        return again
    require_randomness("jacfwd", randomness)
    call = Call("jacfwd", func)

    @taking_arrays(again, func)
    def jacobian(*args: Any) -> Any:
        positions = checked_argnums(call, argnums, len(args))
        leaves, primals_spec = differentiable_leaves(call, [args[n] for n in positions], positions)
        require_real(call, leaves, "inputs")
        push = Pushforward(call, args, positions, has_aux)
        spec, blocks, aux = _columns(push, leaves, primals_spec, randomness)
        found = _by_argument(spec, primals_spec, blocks, argnums)
        return (found, aux) if has_aux else found

    return jacobian


def require_randomness(transform: str, randomness: Any) -> None:
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            f"{transform}: Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness!r}"
        )


def _columns(
    push: Pushforward, leaves: list[Any], spec: pytree.TreeSpec, randomness: str
) -> tuple[pytree.TreeSpec, list[list[Any]], Any]:
    """Structure of the outputs, the Jacobian of each by each primal from one run with all unit vectors, and the aux."""
    run = _Run(push, leaves, spec)
    sizes = [leaf.numel() for leaf in leaves]
    columns = at_once(push.call, run, _units(leaves), sum(sizes), randomness)
    blocks = [
        [
            column.narrow(0, start, size).movedim(0, -1).reshape((*column.shape[1:], *leaf.shape))
            for leaf, start, size in zip(leaves, _starts(sizes), sizes)
        ]
        for column in columns
    ]
    return run.spec, blocks, run.aux


class _Run:
    """One run of a function in forward mode, which keeps what is the same for all tangents."""

    def __init__(self, push: Pushforward, leaves: list[Any], spec: pytree.TreeSpec) -> None:
        self.push, self.leaves, self.primals_spec = push, leaves, spec

    def __call__(self, vectors: list[Any]) -> list[Any]:
        _, product, self.aux = self.push(self.leaves, self.primals_spec, vectors)
        tangents, self.spec = pytree.without_none(*pytree.flatten(product))
        require_real(self.push.call, tangents, "outputs")
        return tangents


# ---- Hessians


def hessian(func: Function | None = None, argnums: Argnums = 0) -> Any:
    """Function that gives the Hessian of `func`: the forward-mode Jacobian of its reverse-mode Jacobian.

    Parameters
    ----------
    func, argnums
        See `jacrev`.

    Returns
    -------
    callable
        Takes what `func` takes. Gives for an output of shape ``s`` and an input of shape ``t`` a tensor of shape
        ``s + t + t``; for a tuple `argnums`, a tuple of tuples.

    Raises
    ------
    RuntimeError, ValueError
        See `jacrev`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.hessian(lambda x: (x**3).sum())(gs.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    if func is None:
        return functools.partial(hessian, argnums=argnums)
    return jacfwd(jacrev(func, argnums), argnums)


def hvp(func: Function, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Value of `func` and the product of its Hessian with a vector.

    The gradient is differentiated in forward mode, at about the price of two gradients; the Hessian is never formed.

    Parameters
    ----------
    func : callable
        Takes tensors, or trees of them, and gives a tensor without dimensions.
    primals : tuple
        Its arguments.
    tangents : tuple
        The vector, of the structure of `primals`.

    Returns
    -------
    output : Tensor
        What `func` gives.
    hvp_out : tuple
        The product, in the structure of `primals`.

    Raises
    ------
    RuntimeError
        `func` gives no number, or `tangents` do not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> func.hvp(lambda x: (x**3).sum(), (gs.tensor([1.0, 2.0]),), (gs.tensor([1.0, 1.0]),))
    (tensor(9.), (tensor([ 6., 12.]),))
    """
    count = len(primals) if isinstance(primals, tuple) else 0
    gradient = grad_and_value(func, argnums=tuple(range(count)))
    _, product, value = jvp(gradient, primals, tangents, has_aux=True)
    return value, product
