"""Trees of tensors, divided among devices and joined again. All devices are the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.generated.joining import cat
from gradsmith.generated.tensor import Tensor

__all__ = ["gather", "is_namedtuple", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: Any) -> bool:
    """Whether it is a named tuple, or a class of them."""
    return hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """For each device a tree with its part of every tensor; anything else is the same for all."""
    if isinstance(inputs, Tensor):
        parts = inputs.chunk(len(target_gpus), dim)
        return [part.to(device) for part, device in zip(parts, target_gpus)]
    make = _maker(inputs)
    if make is None or not inputs:
        return [inputs for _ in target_gpus]
    children = inputs.items() if isinstance(inputs, dict) else inputs
    return [make(group) for group in zip(*(scatter(child, target_gpus, dim) for child in children))]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """The arguments of each device, and its arguments by name: as many of one as of the other."""
    of_each = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(of_each), len(named))
    of_each += [()] * (count - len(of_each))
    named += [{}] * (count - len(named))
    return tuple(of_each), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """One tree of the trees of all devices: their tensors are joined along a dimension; numbers become a vector."""
    outputs = list(outputs)
    first = outputs[0]
    if isinstance(first, Tensor):
        tensors = outputs if first.ndim else [tensor.reshape(1) for tensor in outputs]
        return cat(tensors, dim).to(target_device)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(output) != len(first) for output in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([output[key] for output in outputs], target_device, dim)) for key in first)
    make = _maker(first)
    if make is None:
        raise TypeError(f"gather(): expected tensors, or containers of them, but got {type(first).__name__}")
    return make([gather(group, target_device, dim) for group in zip(*outputs)])


def _maker(node: Any) -> Callable[[Any], Any] | None:
    """What makes a container like this one of its elements; None for what is none."""
    if is_namedtuple(node):
        return lambda elements: type(node)(*elements)
    return type(node) if isinstance(node, (tuple, list, dict)) else None
