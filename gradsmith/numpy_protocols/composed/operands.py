"""Operands of NumPy's functions as tensors, and tensors as the arrays that NumPy wants."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.graph.tensor import from_array, from_shared_array
from gradsmith.runtime.tensors.factories.python_data import is_tensor

_CONTAINERS = (list, tuple)


def op_named(path: str) -> Any:
    """The function at a path below the package, such as ``linalg.solve``."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"gradsmith.{module}" if module else "gradsmith"), name)


def as_tensor(value: Any) -> Any:
    """A tensor of what NumPy takes for an array. Lists that have tensors in them keep their history."""
    if is_tensor(value):
        return value
    if type(value) is np.ndarray:
        return from_shared_array(value)
    if isinstance(value, _CONTAINERS) and any(map(has_tensors, value)):
        return op_named("stack")([as_tensor(item) for item in value])
    array = np.asarray(value)
    return from_shared_array(array) if isinstance(value, np.ndarray) else from_array(array)


def has_tensors(value: Any) -> bool:
    """Is it a tensor, or are there some in it?"""
    return is_tensor(value) or (isinstance(value, _CONTAINERS) and any(map(has_tensors, value)))


def is_recorded(value: Any) -> bool:
    """Would a gradient be lost if the tensor, or one of those in it, were taken for a constant?"""
    if isinstance(value, _CONTAINERS):
        return any(map(is_recorded, value))
    return is_tensor(value) and bool(value.requires_grad or all_tangents(value))


def as_arrays(value: Any) -> Any:
    """Arrays in place of the tensors, as constants."""
    if isinstance(value, _CONTAINERS):
        return type(value)(map(as_arrays, value))
    if isinstance(value, dict):
        return {name: as_arrays(part) for name, part in value.items()}
    return value.detach().numpy() if is_tensor(value) else value


def as_inexact(tensor: Any) -> Any:
    """Integers and bools as NumPy computes with them where results are no integers: in double precision."""
    return tensor.to(np.float64) if tensor.dtype.kind in "biu" else tensor


def promoted(tensors: list[Any]) -> list[Any]:
    """Tensors of one dtype, that of NumPy's promotion."""
    dtypes = [tensor.dtype for tensor in tensors]
    if len(set(dtypes)) == 1:
        return tensors
    dtype = np.result_type(*dtypes)
    return [tensor if tensor.dtype == dtype else tensor.to(dtype) for tensor in tensors]


def stored(name: str, result: Any, out: Any, casting: str = "same_kind") -> Any:
    """The result in the tensor or array that was given for it.

    A tensor takes over the history. An array has none to take it over, so that a result with a history is an error.
    """
    if isinstance(out, tuple):
        if len(out) == 1:
            return stored(name, result, out[0], casting)
        return tuple(
            part if given is None else stored(name, part, given, casting)
            for part, given in zip(result, out, strict=True)
        )
    if not np.can_cast(result.dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"np.{name}(): cannot cast the result from {result.dtype} to the {out.dtype} of out= by {casting!r}"
        )
    if tuple(result.shape) != tuple(out.shape):
        raise ValueError(f"np.{name}(): out has shape {list(out.shape)}, but the result {list(result.shape)}")
    if is_tensor(out):
        return out.copy_(result)
    require_constant(name, result)
    np.copyto(out, result.detach().numpy(), casting=casting)  # type: ignore[arg-type]
    return out


def require_constant(name: str, value: Any) -> None:
    if is_recorded(value):
        raise RuntimeError(
            f"np.{name}(): the result has a gradient, which an ndarray cannot keep. Give a tensor to write to, or "
            "leave the result a new tensor (`a = a + t` instead of `a += t`); detach() the operands if they are "
            "constants."
        )
