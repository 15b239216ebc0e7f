"""Methods of tensors that call a function of Python for each element, which is slow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
    """Replace each element by what a function gives for it, a Python number, in place.

    This is slow, and has no gradient: ops compute with all elements at once.

    Parameters
    ----------
    callable : function
        From a number to a number.

    Returns
    -------
    Tensor
        The tensor itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.tensor([1.0, 2.0]).apply_(lambda x: x + 1)
    tensor([2., 3.])
    """
    return _written("apply_", callable, self)


def map_(self: Any, other: Any, callable: Callable[[Any, Any], Any]) -> Any:
    """Replace each element by what a function gives for it and that of another tensor, in place; see `apply_`.

    Parameters
    ----------
    other : Tensor
        Of the same dtype; it is expanded to the shape of the tensor.
    callable : function
        From two numbers to a number.

    Returns
    -------
    Tensor
        The tensor itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.tensor([1.0, 2.0]).map_(gs.tensor([10.0]), lambda x, y: x + y)
    tensor([11., 12.])
    """
    return _written("map_", callable, self, other)


def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
    """As `map_`, with the elements of two other tensors."""
    return _written("map2_", callable, self, x, y)


def _written(name: str, function: Callable[..., Any], tensor: Any, *others: Any) -> Any:
    from gradsmith.runtime.tensors.factories.creation import tensor as make

    _expect_tensors(name, tensor, others)
    if not callable(function):
        raise TypeError(f"{name}(): {type(function).__name__!r} object is not callable")
    if tensor.is_meta:
        return tensor
    operands = [operand.expand(tensor.shape).reshape(-1).tolist() for operand in (tensor, *others)]
    made = make([function(*elements) for elements in zip(*operands)], dtype=tensor.dtype)
    return tensor.copy_(made.reshape(tensor.shape))


def _expect_tensors(name: str, tensor: Any, others: tuple[Any, ...]) -> None:
    from gradsmith.runtime.tensors.factories.python_data import is_tensor

    for place, other in enumerate(others, 1):
        if not is_tensor(other):
            raise TypeError(f"{name}(): argument {place} must be Tensor, not {type(other).__name__}")
    if any(one.requires_grad for one in (tensor, *others)):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    for other in others:
        if other.dtype != tensor.dtype:
            raise TypeError(f"{name}: expected {tensor.type()} for 'other' (got {other.type()})")


def add_methods(cls: Any) -> None:
    """Give them to the class of tensors."""
    for method in (apply_, map_, map2_):
        method.__qualname__ = f"Tensor.{method.__name__}"
        setattr(cls, method.__name__, method)
