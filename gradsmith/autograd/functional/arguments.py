"""Arguments and results of the functions of this package: a tensor, or a tuple of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.autograd import grad
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.creation import zeros_like
from gradsmith.runtime.tensors.factories.python_data import is_tensor

Tensors = tuple[Any, ...]

OF_FUNCTION = "outputs of the user-provided function"


def as_tensors(values: Any, what: str, function: str) -> tuple[bool, Tensors]:
    """Was it a tuple; and the tuple."""
    is_tuple = isinstance(values, tuple)
    found: Tensors = values if is_tuple else (values,)
    for index, value in enumerate(found):
        if not is_tensor(value):
            which = f"value at index {index}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the {which} has "
                f"type {type(value).__name__}."
            )
    return is_tuple, found


def unwrap(values: Sequence[Any], is_tuple: bool) -> Any:
    return tuple(values) if is_tuple else values[0]


def renewed(tensors: Tensors, create_graph: bool, record: bool) -> Tensors:
    """Other tensors of the same memory, so that the function's own use of the given ones does not count as arguments.

    With `create_graph`, gradients flow back through them; otherwise they are new leaves, recorded if `record`.
    """
    with enable_grad():
        return tuple(
            tensor.view_as(tensor) if create_graph and tensor.requires_grad else tensor.detach().requires_grad_(record)
            for tensor in tensors
        )


def released(tensors: Sequence[Any], create_graph: bool) -> Tensors:
    """Results as the user gets them: without history unless it was asked for."""
    return tuple(tensors) if create_graph else tuple(tensor.detach() for tensor in tensors)


def called(func: Callable[..., Any], inputs: Tensors, function: str) -> tuple[bool, Tensors]:
    return as_tensors(func(*inputs), OF_FUNCTION, function)


def vector_for(others: Tensors, v: Any, is_tuple: bool, create_graph: bool, function: str, whose: str) -> Tensors:
    """The vector that belongs to `others`, checked; ones where it was left out and `others` are one number."""
    if v is None:
        if len(others) != 1 or others[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {whose} a single Tensor with a single element.")
        return (zeros_like(others[0].detach()) + 1,)
    _, given = as_tensors(v, "v", function)
    if len(given) != len(others):
        if is_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(others)} but got {len(given)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for index, (vector, other) in enumerate(zip(given, others)):
        if vector.shape != other.shape:
            entry = f"Entry {index} in " if is_tuple else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {list(other.shape)} but got {list(vector.shape)}."
            )
    return renewed(given, create_graph, record=False)


def require_number(outputs: Tensors, is_tuple: bool, function: str) -> None:
    if is_tuple:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {function} should contain a single element, got one of "
            f"shape {list(outputs[0].shape)}"
        )


def gradients(outputs: Sequence[Any], inputs: Tensors, vectors: Sequence[Any], **options: Any) -> Tensors:
    """`grad` of those outputs that are there and require grad; None for inputs that nothing leads to."""
    pairs = [
        (output, vector) for output, vector in zip(outputs, vectors) if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    recorded, given = zip(*pairs)
    found: Tensors = grad(recorded, inputs, given, allow_unused=True, **options)
    return found


def filled(values: Sequence[Any], like: Sequence[Any]) -> Tensors:
    """Replace None by zeros."""
    return tuple(zeros_like(other.detach()) if one is None else one for one, other in zip(values, like))


# ---- the same under PyTorch's names, for libraries


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Was it a tuple of tensors, and the tuple; without names for an error, what it is as a tuple."""
    if arg_name is None and fn_name is None:
        return tuple(inp) if isinstance(inp, (tuple, list)) else (inp,)
    return as_tensors(inp, str(arg_name), str(fn_name))


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """A result as it was asked for: the only one where there was no tuple, of tuples in a tuple likewise."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    return unwrap(res if inner else [one[0] for one in res], outer) if not (outer and inner) else res


def _grad_postprocess(inputs: Sequence[Any], create_graph: bool) -> Sequence[Any]:
    """Tensors, or tuples of them, without history unless it was asked for."""
    if is_tensor(inputs[0]):
        return inputs if create_graph else released(inputs, create_graph)
    return tuple(_grad_postprocess(one, create_graph) for one in inputs)
