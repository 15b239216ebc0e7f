"""Changed copies of a tensor, in JAX's words: ``x.at[i].set(v)``. The tensor stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.tensors.factories.creation import over_array
from gradsmith.runtime.tensors.factories.python_data import is_tensor

Value = Any


class Updates:
    """What ``x.at`` is: an index of it says where the copy is another one."""

    __slots__ = ("base",)

    def __init__(self, tensor: Any) -> None:
        self.base = tensor

    def __getitem__(self, index: Any) -> Update:
        return Update(self.base, index)

    def __repr__(self) -> str:
        return "<gradsmith.Tensor.at: x.at[index].set(value), .add(value) and so on give changed copies>"


class Update:
    """The places of one index, and what can be done to them. Gradients go to the tensor and to the values.

    A place that the index names several times is changed several times, but by `set`, `power` and `apply`, which
    change it once.
    """

    __slots__ = ("base", "index")

    def __init__(self, tensor: Any, index: Any) -> None:
        self.base, self.index = tensor, index

    def get(self) -> Any:
        """The elements at the places."""
        return self.base[self.index]

    def set(self, values: Value) -> Any:
        """With the values in the places."""
        if _are_mapped(self.base, values, self.index):
            places = self._places()
            return self._flat(self._row().index_put((places,), self._values(values, places)))
        result = self.base.clone()
        result[self.index] = values
        return result

    def add(self, values: Value) -> Any:
        """With the values added."""
        places = self._places()
        return self._flat(self._row().index_put((places,), self._values(values, places), True))

    def subtract(self, values: Value) -> Any:
        """With the values taken off."""
        return self.add(-self._given(values))

    def multiply(self, values: Value) -> Any:
        """Multiplied by the values."""
        return self._combined("prod", values)

    mul = multiply

    def divide(self, values: Value) -> Any:
        """Divided by the values."""
        return self._combined("prod", 1 / self._given(values))

    def min(self, values: Value) -> Any:
        """With values that are smaller."""
        return self._combined("amin", values)

    def max(self, values: Value) -> Any:
        """With values that are larger."""
        return self._combined("amax", values)

    def power(self, values: Value) -> Any:
        """Raised to the values."""
        return self.set(self.get() ** self._given(values))

    def apply(self, function: Any) -> Any:
        """With what the function gives for the elements."""
        return self.set(function(self.get()))

    def _combined(self, reduction: str, values: Value) -> Any:
        places = self._places()
        given = self._values(values, places).reshape(-1)
        return self._flat(self._row().scatter_reduce(0, places.reshape(-1), given, reduction))

    def _places(self) -> Any:
        """Where the elements are in the row of all."""
        shape = tuple(self.base.shape)
        numbers = over_array(np.arange(self.base.numel()).reshape(shape))
        return numbers[self.index]

    def _row(self) -> Any:
        return self.base.reshape(-1)

    def _flat(self, row: Any) -> Any:
        return row.reshape(tuple(self.base.shape))

    def _given(self, values: Value) -> Any:
        found = values if is_tensor(values) else over_array(np.array(values))
        return found.to(self.base.dtype)

    def _values(self, values: Value, places: Any) -> Any:
        return self._given(values).expand(places.shape)


def _are_mapped(*values: Any) -> bool:
    """Do some of them differ from slice to slice of a `vmap`?"""
    return any(
        _are_mapped(*value) if isinstance(value, (tuple, list)) else is_tensor(value) and is_batched_tensor(value)
        for value in values
    )
