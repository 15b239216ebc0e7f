"""Whole objects, such as modules: a pickle, with their tensors stored separately.

Loading a pickle can run arbitrary code, so it is loaded only by ``load(..., weights_only=False)``. The tensors of the
object are saved as a list in our own format, which preserves shared memory.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, NamedTuple

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.attributes import attributes_if_any
from gradsmith.serialization.arrays import DTYPES
from gradsmith.serialization.errors import CorruptFileError, UnsafeFileError

OBJECT = "object.pkl"
_PLAIN = ("Tensor", "Parameter")  # tensors of other classes are pickled with what they are


def dumped(value: Any, pickle_module: Any, protocol: int | None) -> tuple[bytes, list[Any]]:
    """The pickle of an object, and the tensors that it names by their numbers."""
    file, tensors, places = io.BytesIO(), list[Any](), dict[int, int]()

    class Pickler((pickle_module or pickle).Pickler):  # type: ignore[misc]
        def persistent_id(self, part: Any) -> int | None:
            if not _is_plain(part):
                return None
            if id(part) not in places:
                places[id(part)] = len(tensors)
                tensors.append(part)
            return places[id(part)]

    Pickler(file, protocol).dump(value)
    return file.getvalue(), tensors


def _is_plain(part: Any) -> bool:
    """Is it a tensor or array that the file's tree can hold, without attributes of its own?"""
    if type(part) is np.ndarray:
        return part.dtype.name in DTYPES
    if not isinstance(part, Tensor):
        return False
    kind = type(part)
    return kind.__name__ in _PLAIN and kind.__module__.startswith("gradsmith.") and not attributes_if_any(part)


class PickledObject(NamedTuple):
    """An object that has not been unpickled yet, since errors of the code that does it say nothing of the file."""

    data: bytes
    tensors: list[Any]
    pickle_module: Any

    def loaded(self) -> Any:
        """The object; runs the code that the file names."""
        tensors = self.tensors

        class Unpickler((self.pickle_module or pickle).Unpickler):  # type: ignore[misc]
            def persistent_load(self, number: Any) -> Any:
                if not isinstance(number, int) or not 0 <= number < len(tensors):
                    raise CorruptFileError(f"load: the file has no tensor {number!r}")
                return tensors[number]

        return Unpickler(io.BytesIO(self.data)).load()


def refuse(name: str) -> None:
    """The error for a reader who has not asked for code to be run."""
    raise UnsafeFileError(
        f"load: {name} holds a whole object, such as a module, and reading it runs code that the file names. If you "
        "trust whoever wrote it, load(..., weights_only=False) reads it; a file of the state_dict() needs no trust"
    )
