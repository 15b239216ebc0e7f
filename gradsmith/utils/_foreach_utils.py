"""Groups of tensors of one device and dtype, as libraries for optimizers ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]:
    """The lists, divided by what the tensors of the first one are.

    Parameters
    ----------
    tensorlistlist : sequence of sequences
        Lists of equal length; the first has no None, the others may be empty.
    with_indices : bool, default False
        Tell where in the lists the tensors of each group stood.

    Returns
    -------
    dict
        (device, dtype) -> the lists of this group, and the places.
    """
    first = tensorlistlist[0]
    if any(len(tensors) not in (0, len(first)) for tensors in tensorlistlist):
        raise RuntimeError("the lists of tensors must be equally long, or empty")
    places: dict[tuple[Any, Any], list[int]] = {}
    for place, tensor in enumerate(first):
        if tensor is None:
            raise RuntimeError("the first list of tensors must have no None")
        places.setdefault((tensor.device, tensor.dtype), []).append(place)
    return {
        key: ([[tensors[i] for i in group] if tensors else [] for tensors in tensorlistlist], _if(with_indices, group))
        for key, group in places.items()
    }


def _if(is_wanted: bool, places: list[int]) -> list[int]:
    return places if is_wanted else []


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Devices that have kernels for lists of tensors: none, lists are loops."""
    return []


def _get_fused_kernels_supported_devices() -> list[str]:
    """Devices on which optimizers have fused steps."""
    return ["cpu"]


def _device_has_foreach_support(device: Any) -> bool:
    """Whether ``torch._foreach_add`` and its like run there."""
    return bool(device.type == "cpu")


def _has_foreach_support(tensors: Sequence[Tensor | None], device: Any) -> bool:
    return _device_has_foreach_support(device) and all(t is None or type(t) is Tensor for t in tensors)
