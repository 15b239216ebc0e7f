"""The memory behind a tensor, as far as programs ask for it: where it starts, and how large it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.runtime.arrays.device import device
from gradsmith.runtime.graph.tensor import array_behind, from_array


class UntypedStorage:
    """Memory that tensors share: that of one array and of all views of it.

    Two tensors whose storages have one `data_ptr` share memory. A storage is there to be asked; what it is made of
    belongs to the tensors.
    """

    def __init__(self, owner: np.ndarray[Any, Any], place: device) -> None:
        self._owner = owner
        self.device = place

    @classmethod
    def of(cls, tensor: Any) -> Any:
        """The storage of a tensor; NotImplementedError within `vmap`, where it has none of its own."""
        if tensor.is_meta:
            return cls(np.empty(0, tensor.dtype), tensor.device)
        tensor.detach().numpy(force=True)  # an error where there is no value
        owner = array_behind(tensor)
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return cls(owner, tensor.device)

    def data_ptr(self) -> int:
        """Address of the first byte; 0 without data."""
        return int(self._owner.ctypes.data) if self.device.type == "cpu" else 0

    def nbytes(self) -> int:
        """Number of bytes."""
        return self._owner.nbytes

    def size(self) -> int:
        """Number of elements, of bytes here."""
        return self.nbytes() // self.element_size()

    def element_size(self) -> int:
        """Bytes of an element: one."""
        return 1

    def elements(self, dtype: np.dtype[Any]) -> Any:
        """The memory as a tensor of one dimension, of elements of a dtype."""
        memory = self._owner.ravel(order="K")
        if memory.size and not np.may_share_memory(memory, self._owner):
            raise RuntimeError("the memory of a tensor that shows an array with gaps cannot be shown as a whole")
        count = memory.nbytes // dtype.itemsize
        return from_array(memory.view(np.uint8)[: count * dtype.itemsize].view(dtype))

    def __len__(self) -> int:
        return self.size()

    def __repr__(self) -> str:
        return f"<gradsmith.{type(self).__name__} of size {self.size()} on {self.device}>"


class TypedStorage(UntypedStorage):
    """The same memory, counted in elements of the dtype of the tensor."""

    def element_size(self) -> int:
        """Bytes of an element."""
        return self._owner.itemsize

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        dtype: np.dtype[Any] = self._owner.dtype
        return dtype

    def elements(self, dtype: np.dtype[Any]) -> Any:
        """The memory as a tensor of one dimension, of its own dtype."""
        return super().elements(self.dtype)

    def untyped(self) -> UntypedStorage:
        """The memory without its dtype."""
        return UntypedStorage(self._owner, self.device)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers, in the order of the memory."""
        return self._owner.ravel(order="K").tolist()  # type: ignore[no-any-return]

    def __getitem__(self, index: int) -> Any:
        return self.tolist()[index]


def is_storage(obj: Any) -> bool:
    """Whether it is a storage."""
    return isinstance(obj, UntypedStorage)
