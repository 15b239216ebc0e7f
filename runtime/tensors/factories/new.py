"""`x.new_zeros(...)` and similar methods: tensors with the dtype and on the device of another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.batching.batch import batched, level_of, physical
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.tensors.factories.creation import as_size, copied, full, is_batch, tensor, warn_of_copy
from gradsmith.runtime.tensors.factories.memory import empty_strided, extent
from gradsmith.runtime.tensors.factories.python_data import is_tensor

if TYPE_CHECKING:
    from gradsmith.generated.tensor import Tensor

    Options = dict[str, Any]  # dtype, device, requires_grad; None for what was not given


def new_of_size(
    op: str, make: Callable[..., Tensor], like: Tensor, size: tuple[Any, ...], named: dict[str, Any], options: Options
) -> Tensor:
    """What `make` gives for a size, with the dtype and device of `like` unless others are named."""
    return _made(make, like, as_size(op, size, named), _of_its_kind(like, options))


def new_full(like: Tensor, size: Any, fill_value: Any, options: Options) -> Tensor:
    """Tensor of one value, with the dtype and device of `like` unless others are named."""

    def make(sizes: tuple[int, ...], **options: Any) -> Tensor:
        return full(sizes, fill_value, **options)

    return _made(make, like, as_size("new_full", (size,), {}, one_number=False), _of_its_kind(like, options))


def new_empty_strided(like: Tensor, size: Any, stride: Sequence[int], options: Options) -> Tensor:
    """Uninitialised tensor of given strides, with the dtype and device of `like` unless others are named."""

    def make(sizes: tuple[int, ...], **options: Any) -> Tensor:
        steps = list(stride)
        while len(steps) < len(sizes):  # the slices of a batch follow each other
            steps.insert(0, max(extent(sizes[len(sizes) - len(steps) :], steps), 1))
        return empty_strided(sizes, steps, **options)

    return _made(make, like, as_size("new_empty_strided", (size,), {}, one_number=False), _of_its_kind(like, options))


def new_tensor(like: Tensor, data: Any, options: Options) -> Tensor:
    """Copy of `data`, with the dtype and device of `like` unless others are named."""
    if not is_tensor(data):
        return tensor(data, **_of_its_kind(like, options))
    warn_of_copy("tensor.new_tensor(sourceTensor)")
    return copied(data, **_of_its_kind(like, options))


def copied_beside(like: Tensor, array: np.ndarray[Any, Any]) -> Tensor:
    """Copy of an array, on the device of `like`: indices that are kept, say, of which a user sees no more than this."""
    made: Tensor = from_array(array.copy())
    return made.to("meta") if like.is_meta else made


def _of_its_kind(like: Tensor, options: Options) -> Options:
    given = {key: value for key, value in options.items() if value is not None}
    return {"dtype": like.dtype, "device": like.device, **given}


def _made(make: Callable[..., Tensor], like: Tensor, size: tuple[int, ...], options: Options) -> Tensor:
    """One tensor, or, where `like` stands for a batch of slices, one for each of them."""
    if not is_batch(like):
        return make(size, **options)
    level = level_of(like)
    assert level is not None
    if level.is_trace:
        return make(size, **options)
    inner = physical(like)
    all_slices = _made(make, inner, (inner.shape[0], *size), {**options, "requires_grad": False})
    result: Tensor = batched(all_slices, level)
    return result.requires_grad_() if options["requires_grad"] else result
