"""From a list of samples to a batch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from gradsmith.generated.joining import stack
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import float64
from gradsmith.runtime.tensors.factories.creation import as_tensor, tensor

__all__ = ["collate", "collate_tensor_fn", "default_collate", "default_convert"]

TEXTS = (str, bytes)
Functions = dict[Any, Callable[..., Any]]


def default_convert(data: Any) -> Any:
    """A sample with tensors in the place of NumPy's arrays; containers keep their class where they can.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsmith.utils.data import default_convert
    >>> default_convert([np.arange(2), "text", 3])
    [tensor([0, 1]), 'text', 3]
    """
    if isinstance(data, (np.ndarray, np.generic)):
        return as_tensor(data) if data.dtype.kind in "biufc" else data
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(item) for key, item in data.items()})
    if _is_named_tuple(data):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, Sequence) and not isinstance(data, TEXTS):
        return _like(data, [default_convert(item) for item in data])
    return data


def default_collate(batch: Any) -> Any:
    """A batch of a list of samples.

    Tensors, and arrays and numbers, are stacked along a new first dimension; floats give float64. Dicts and tuples are
    taken apart, so that each of their items is a batch. Texts remain a list.

    Raises
    ------
    TypeError
        A sample is of another class.
    RuntimeError
        Samples differ in structure or in shape.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.utils.data import default_collate
    >>> default_collate([{"x": gs.ones(2), "label": 3}, {"x": gs.zeros(2), "label": 5}])
    {'x': tensor([[1., 1.],
            [0., 0.]]), 'label': tensor([3, 5])}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """`default_collate` with other functions for other classes.

    Parameters
    ----------
    batch : list
        At least one sample.
    collate_fn_map : dict
        From a class, or a tuple of classes, to ``function(batch, *, collate_fn_map=None)``.
    """
    first = batch[0]
    function = _function_for(type(first), collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _like(first, {key: collate([d[key] for d in batch], collate_fn_map=collate_fn_map) for key in first})
    if _is_named_tuple(first):
        return type(first)(*(collate(items, collate_fn_map=collate_fn_map) for items in _columns(batch)))
    if isinstance(first, Sequence) and not isinstance(first, TEXTS):
        columns = [collate(items, collate_fn_map=collate_fn_map) for items in _columns(batch)]
        return columns if isinstance(first, tuple) else _like(first, columns)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first).__module__}.{type(first).__qualname__}"
    )


def _function_for(kind: type, functions: Functions) -> Callable[..., Any] | None:
    if kind in functions:
        return functions[kind]
    return next((function for known, function in functions.items() if issubclass(kind, known)), None)


def _columns(batch: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    lengths = {len(sample) for sample in batch}
    if len(lengths) > 1:
        raise RuntimeError(f"each element in list of batch should be of equal size; found sizes {sorted(lengths)}")
    return list(zip(*batch))


def _like(model: Any, items: Any) -> Any:
    """A container of the class of another one; a plain one where that class cannot be filled."""
    try:
        if isinstance(model, MutableMapping):
            found: Any = copy.copy(model)
            found.update(items)
            return found
        if isinstance(model, MutableSequence):
            found = copy.copy(model)
            found[:] = items
            return found
        return items if isinstance(model, range) else type(model)(items)
    except TypeError:
        return items


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


# ---- functions for the classes that are known


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: Functions | None = None) -> Tensor:
    return stack(list(batch))


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: Functions | None = None) -> Tensor:
    if batch[0].dtype.kind not in "biufc":
        raise TypeError(
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found arrays of dtype "
            f"{batch[0].dtype}"
        )
    return as_tensor(np.stack(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Tensor:
    return tensor(batch, dtype=float64)


def collate_number_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Tensor:
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    return batch


default_collate_fn_map: Functions = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    np.generic: collate_numpy_array_fn,
    float: collate_float_fn,
    (bool, int, complex): collate_number_fn,
    TEXTS: collate_str_fn,
    np.str_: collate_str_fn,  # texts and NumPy's scalars at once
    np.bytes_: collate_str_fn,
}
