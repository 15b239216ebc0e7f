"""`functionalize`, which keeps writes inside of a function, and `debug_unwrap`, which looks behind batched tensors."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from gradsmith.func.arguments import Call, Function
from gradsmith.func.transformed import transformed
from gradsmith.runtime.batching.batch import is_batched_tensor, physical
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree

REMOVABLE = ("mutations", "mutations_and_views")


def functionalize(func: Function, *, remove: str = "mutations") -> Any:
    """Function that gives what `func` gives and leaves its arguments as they are.

    Each call gives `func` copies to write to. They are recorded, so derivatives are those of the arguments. Arguments
    that share memory are copied together, and a write to one of them is seen through the others.

    Parameters
    ----------
    func : callable
        May write to its arguments, to parts of them, and to what it computes.
    remove : {"mutations", "mutations_and_views"}
        Accepted for programs that pass it. With either value, results share no memory with the arguments.

    Returns
    -------
    callable
        Takes what `func` takes and gives what it gives.

    Raises
    ------
    RuntimeError
        `remove` is something else.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> def double(x):
    ...     x[0] *= 2
    ...     return x
    >>> x = gs.tensor([1.0, 2.0])
    >>> func.functionalize(double)(x)
    tensor([2., 2.])
    >>> x
    tensor([1., 2.])
    """
    call = Call("functionalize", func)
    if remove not in REMOVABLE:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: "
            "'mutations' and 'mutations_and_views'."
        )

    @transformed(functools.partial(functionalize, remove=remove), func)
    def pure(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = pytree.flatten((args, kwargs))
        copied_args, copied_kwargs = spec.unflatten(_copies(leaves))
        return call.func(*copied_args, **copied_kwargs)

    return pure


def _copies(leaves: Sequence[Any]) -> list[Any]:
    """Copies of the tensors, which share memory where those given do."""
    made: dict[int, Any] = {}
    by_base: dict[int, dict[int, Any]] = {}
    for leaf in filter(is_tensor, leaves):
        by_base.setdefault(id(_base_of(leaf)), {})[id(leaf)] = leaf
    for group in by_base.values():
        made.update(_copied_together(list(group.values())))
    return [made.get(id(leaf), leaf) for leaf in leaves]


def _base_of(tensor: Any) -> Any:
    return tensor if tensor._base is None else tensor._base


def _copied_together(tensors: list[Any]) -> dict[int, Any]:
    """Copies, by the id of the tensor, of tensors that have one base."""
    if len(tensors) == 1:
        return {id(tensors[0]): tensors[0].clone()}
    base = _base_of(tensors[0])
    with enable_grad():
        copy = base.clone()
    return {
        id(tensor): copy
        if tensor is base
        else copy.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset() - base.storage_offset())
        for tensor in tensors
    }


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """The data of all slices behind a tensor of a mapped function, to look at while debugging.

    What is computed from it is not part of what `vmap` computes.

    Parameters
    ----------
    tensor : Tensor
        Any. Outside of `vmap`, and where it is the same for all slices, it is given back.
    recurse : bool
        Also look behind calls of `vmap` around the innermost one.

    Returns
    -------
    Tensor
        With a dimension more, the first one, for each call of `vmap`.

    Raises
    ------
    TypeError
        `tensor` is none.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith import func
    >>> def shown(x):
    ...     print(func.debug_unwrap(x))
    ...     return 2 * x
    >>> func.vmap(shown)(gs.tensor([1.0, 2.0]))
    tensor([1., 2.])
    tensor([2., 4.])
    """
    if not is_tensor(tensor):
        raise TypeError(f"debug_unwrap: expected a Tensor, got {type(tensor).__name__}")
    while is_batched_tensor(tensor):
        tensor = physical(tensor)
        if not recurse:
            break
    return tensor
