"""The memory of the tensors that a collective reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.autograd.grad_mode import is_grad_enabled
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.calls.inplace import increment_version
from gradsmith.runtime.graph.tensor import lent_array

__all__ = ["array_of", "changed", "check_like", "expect_tensor", "is_recorded", "written"]


def expect_tensor(op: str, name: str, value: Any) -> Tensor:
    """The tensor itself.

    Raises
    ------
    TypeError
        It is something else.
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"{op}: {name} should be a Tensor, got {type(value).__name__}")
    return value


def array_of(tensor: Tensor) -> Any:
    """Its elements, in its own memory."""
    return tensor.detach().numpy()


def is_recorded(tensor: Tensor) -> bool:
    """Whether a change of the tensor has to be recorded. A leaf's new value is a new start, as under `no_grad`."""
    if tensor.requires_grad and not tensor.is_leaf and is_grad_enabled():
        return True
    return bool(all_tangents(tensor))


def check_like(op: str, name: str, value: Tensor, shape: Sequence[int], dtype: Any) -> None:
    """Refuse a tensor that has not the shape and dtype that are needed."""
    if tuple(value.shape) != tuple(shape) or value.dtype != dtype:
        raise ValueError(
            f"{op}: {name} should have shape {tuple(shape)} and dtype {dtype}, "
            f"but has shape {tuple(value.shape)} and dtype {value.dtype}"
        )


def written(op: str, tensors: Sequence[Tensor]) -> list[Any]:
    """The arrays of tensors that are written to, which those who have saved the tensors will know.

    Raises
    ------
    RuntimeError
        A tensor is recorded: what is written to its memory would not be.
    """
    for tensor in tensors:
        if is_recorded(tensor):
            raise RuntimeError(
                f"{op} writes to a tensor that has a grad_fn or a tangent, and is not recorded: call it under "
                f"no_grad, or use "
                "distributed.nn.functional, whose results are new tensors with a gradient"
            )
    return [changed(tensor) for tensor in tensors]


def changed(tensor: Tensor, is_kept: bool = True) -> Any:
    """The array of a tensor that is not recorded and will be written to, which those who have saved it will know.

    What does not keep it, since it waits, gets the tensor's own array, which takes a fifth of the time.
    """
    increment_version(tensor)
    return array_of(tensor) if is_kept else lent_array(tensor)
