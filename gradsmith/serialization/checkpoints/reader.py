"""Checkpoints of PyTorch: an archive with a pickle, and with the elements of each storage in a member of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import over_array
from gradsmith.serialization.archive import Archive
from gradsmith.serialization.arrays import elements_of
from gradsmith.serialization.checkpoints import allowed, numpy_values
from gradsmith.serialization.checkpoints.allowed import BFLOAT16, UNTYPED, StorageKind, allow, whole
from gradsmith.serialization.checkpoints.machine import Intermediate, Machine, Marked, revealed
from gradsmith.serialization.errors import CorruptFileError, UnsafeFileError
from gradsmith.serialization.safetensors import from_bfloat16
from gradsmith.serialization.tree import finished

__all__ = ["Storage", "moved", "read_checkpoint"]

MOST_DIMENSIONS = 64
_ = numpy_values  # puts its names on the list

_Array = np.ndarray[Any, Any]


def read_checkpoint(archive: Archive, device: Any) -> Any:
    """What was given to ``torch.save``."""
    (name,) = _only([name for name in archive.members if name.endswith("data.pkl")])
    root = name.removesuffix("data.pkl")
    if (
        any(member.startswith(f"{root}code/") for member in archive.members)
        or f"{root}constants.pkl" in archive.members
    ):
        raise UnsafeFileError("load: the file is a program of TorchScript; save the state_dict() of the module instead")
    archive.check_packing()
    storages = Storages(archive, root)
    value = Machine(archive.read(name), allowed.find, storages.find).run()
    return value if device is None else moved(value, device)


def _only(names: list[str]) -> list[str]:
    if len(names) != 1:
        raise CorruptFileError(f"load: the archive has {len(names)} pickles, where a checkpoint has one")
    return names


class Storage(Intermediate):
    """The elements of one or more tensors; their dtype is unknown when the storage is untyped."""

    def __init__(self, data: bytes, code: str, is_big: bool) -> None:
        self.data, self.code, self.is_big = data, code, is_big
        self._arrays: dict[str, _Array] = {}

    def array(self, dtype: np.dtype[Any] | None) -> _Array:
        """A row of all elements, which tensors share."""
        code = self.code if self.code != UNTYPED else None if dtype is None else dtype.str[1:]
        if code is None:
            raise CorruptFileError("load: a tensor in the checkpoint has no dtype")
        if code not in self._arrays:
            self._arrays[code] = self._elements(code)
        return self._arrays[code]

    def _elements(self, code: str) -> Any:
        order: Any = ">" if self.is_big else "<"
        if code == BFLOAT16:
            return from_bfloat16(np.frombuffer(self.data, f"{order}u2"))
        return elements_of(self.data, np.dtype(code).newbyteorder(order))


class Storages:
    """The storages of an archive, by their keys."""

    def __init__(self, archive: Archive, root: str) -> None:
        self.archive, self.root = archive, root
        order = f"{root}byteorder"
        self.is_big = order in archive.members and archive.read(order) == b"big"
        self.known: dict[tuple[str, str], Storage] = {}

    def find(self, description: Any) -> Storage:
        """A storage from what the pickle says of it: ``("storage", kind, key, location, number of elements)``."""
        if type(description) is not tuple or len(description) != 5 or description[0] != "storage":
            raise CorruptFileError("load: the checkpoint refers to something that is no storage")
        kind, key, count = revealed(description[1]), description[2], description[4]
        if not isinstance(kind, StorageKind) or type(key) is not str or whole(count) < 0:
            raise CorruptFileError("load: the checkpoint has a storage without a dtype, a key or a size")
        if (key, kind.code) not in self.known:
            itemsize = {BFLOAT16: 2, UNTYPED: 1}.get(kind.code) or np.dtype(kind.code).itemsize
            data = self.archive.read(f"{self.root}data/{key}", count * itemsize)
            self.known[key, kind.code] = Storage(data, kind.code, self.is_big)
        return self.known[key, kind.code]


# ---- tensors


def _rebuilt(storage: Any, offset: Any, size: Any, stride: Any, dtype: Any = None) -> Tensor:
    """The tensor that shows a part of a storage; what it shows is inside of it."""
    if not isinstance(storage, Storage) or type(size) is not tuple or type(stride) is not tuple:
        raise CorruptFileError("load: a tensor in the checkpoint has no storage, size or stride")
    if len(size) != len(stride) or len(size) > MOST_DIMENSIONS or min((*size, *stride, offset), key=whole) < 0:
        raise CorruptFileError(f"load: a tensor in the checkpoint has size {size} and stride {stride}")
    elements = storage.array(dtype)
    is_empty = 0 in size
    last = offset + sum((n - 1) * step for n, step in zip(size, stride))
    if not is_empty and last >= elements.size:
        raise CorruptFileError(f"load: a tensor in the checkpoint shows element {last} of a storage of {elements.size}")
    if is_empty:
        return over_array(np.empty(size, elements.dtype))
    steps = [step * elements.itemsize for step in stride]
    return over_array(as_strided(elements[offset:], size, steps))


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any = False, *_: Any) -> Tensor:
    return _rebuilt(storage, offset, size, stride).requires_grad_(bool(requires_grad))


def _typed_tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any, *_: Any
) -> Tensor:
    if not isinstance(dtype, np.dtype):
        raise CorruptFileError("load: a tensor in the checkpoint has no dtype")
    return _rebuilt(storage, offset, size, stride, dtype).requires_grad_(bool(requires_grad))


def _parameter(data: Any, requires_grad: Any = True, *_: Any) -> Tensor:
    if not isinstance(data, Tensor):
        raise CorruptFileError("load: a parameter in the checkpoint is no tensor")
    return finished(data.detach(), None, bool(requires_grad), True)


def _of_class(function: Any, kind: Any, arguments: Any, state: Any) -> Any:
    """A tensor with attributes, or of a class derived from Tensor; of both the tensor is taken alone."""
    if not isinstance(function, Marked) or function.call is None or type(arguments) is not tuple:
        raise UnsafeFileError("load: a tensor in the checkpoint is made by something that it may not use")
    return function.call(*map(revealed, arguments))


def moved(value: Any, device: Any) -> Any:
    """The same containers with their tensors on a device; each is gone through once."""
    seen: dict[int, Any] = {}
    pending = [value]
    if isinstance(value, Tensor):
        return value.to(device)
    while pending:
        container = pending.pop()
        if id(container) in seen:
            continue
        seen[id(container)] = container
        items = (
            container.items()
            if isinstance(container, dict)
            else enumerate(container)
            if type(container) is list
            else ()
        )
        for key, item in list(items):
            if isinstance(item, Tensor):
                container[key] = item.to(device)
            elif isinstance(item, (dict, list)):
                pending.append(item)
    return value


def _allow_tensors() -> None:
    allow("torch._utils._rebuild_tensor", _tensor)
    allow("torch._utils._rebuild_tensor_v2", _tensor)
    allow("torch._utils._rebuild_tensor_v3", _typed_tensor)
    allow("torch._utils._rebuild_parameter", _parameter)
    allow("torch._utils._rebuild_parameter_with_state", _parameter)
    allow("torch._tensor._rebuild_from_type_v2", _of_class, takes_names=True)
    allow("torch.Tensor", None, Tensor)
    allow("torch.nn.parameter.Parameter", _parameter, Tensor)


_allow_tensors()
