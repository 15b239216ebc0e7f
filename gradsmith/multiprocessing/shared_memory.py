"""Tensors whose memory is that of several processes: what one writes, all see."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.graph.tensor_api import reduce
from gradsmith.runtime.tensors.factories.creation import over_array

__all__ = ["is_shared", "move_to_shared_memory", "reduce_shared"]


class SharedMap(mmap.mmap):
    """The memory of a file that has no name; processes have it through their descriptors of the file."""

    descriptor: int

    @classmethod
    def over(cls, descriptor: int) -> SharedMap:
        """The memory of an open file, which is closed at the end of the memory."""
        shared = cls(descriptor, 0)
        shared.descriptor = descriptor
        _maps[_address_of(shared)] = shared
        weakref.finalize(shared, os.close, descriptor)
        return shared

    @classmethod
    def of_size(cls, size: int) -> SharedMap:
        """New memory of so many bytes."""
        descriptor = _new_file()
        os.ftruncate(descriptor, max(size, 1))
        return cls.over(descriptor)


# By address: arrays of tensors do not show what they are over. Processes that are forked have those of their parent.
_maps: weakref.WeakValueDictionary[int, SharedMap] = weakref.WeakValueDictionary()


def _address_of(shared: SharedMap) -> int:
    return int(np.frombuffer(shared, np.uint8).ctypes.data)


def _new_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("gradsmith")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def is_shared(tensor: Any) -> bool:
    """Whether other processes can have the memory of a tensor."""
    return _map_of(tensor) is not None


def move_to_shared_memory(tensor: Any) -> None:
    """Give a tensor memory that other processes can have, with the values that it has; views of it keep their own."""
    if tensor.is_meta or is_shared(tensor):
        return
    array = tensor.numpy(force=True)
    shared = np.ndarray(array.shape, array.dtype, SharedMap.of_size(array.nbytes))
    np.copyto(shared, array)
    tensor.data = over_array(shared)


def reduce_shared(tensor: Any) -> tuple[Any, ...] | None:
    """Pickle a tensor over shared memory for another process, as a descriptor of that; None for any other tensor."""
    shared = _map_of(tensor)
    if shared is None:
        return None
    from multiprocessing.reduction import DupFd  # Windows has none

    rebuild, (cls, array, requires_grad), state = reduce(tensor)
    start = array.ctypes.data - _address_of(shared)
    place = array.shape, array.dtype, start, array.strides
    return _rebuilt, (rebuild, cls, DupFd(shared.descriptor), place, requires_grad), state


def _rebuilt(rebuild: Any, cls: type, descriptor: Any, place: tuple[Any, ...], requires_grad: bool) -> Any:
    shape, dtype, start, strides = place
    array: Any = np.ndarray(shape, dtype, SharedMap.over(descriptor.detach()), start, strides)
    return rebuild(cls, array, requires_grad)


def _map_of(tensor: Any) -> SharedMap | None:
    """The memory that the array of a tensor is over, if it is shared."""
    if has_no_data(array_behind(tensor)):
        return None
    place = tensor.data_ptr()
    return next((shared for start, shared in _maps.items() if start <= place < start + len(shared)), None)
