"""Functions, arguments and results on their way to another process.

Cloudpickle, where it is installed, takes along functions and classes that the other process cannot import: lambdas,
those made within functions, and those of a script or notebook. Without it, what the standard library pickles is sent.
Large arrays are not copied into what is pickled: they are sent from where they are.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import io
import pickle
from collections import ChainMap
from collections.abc import Callable, Sequence
from copyreg import dispatch_table
from types import FunctionType
from typing import Any, NamedTuple

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.tensor_api import reduce_leaf

LARGE = 1 << 16  # bytes; of less, one message costs more than a copy

_HINT = (
    "Cloudpickle sends what is defined in a script, in a notebook or within a function: "
    "pip install 'gradsmith[parallel]'. Or define it in a module that other processes can import"
)


class Payload(NamedTuple):
    """A pickle, and the memory of the large arrays in it."""

    head: bytes
    buffers: Sequence[Any] = ()


class _OfStandardLibrary(pickle.Pickler):
    """Refuses what pickle would name, but another process would look for in its own ``__main__``."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, (FunctionType, type)) and value.__module__ == "__main__":
            raise pickle.PicklingError(f"{value.__qualname__} is defined in the script that runs, which is no module")
        return NotImplemented


@functools.cache
def has_cloudpickle() -> bool:
    return importlib.util.find_spec("cloudpickle") is not None


@functools.cache
def _pickler_class() -> type[pickle.Pickler]:
    base: Any = importlib.import_module("cloudpickle").Pickler if has_cloudpickle() else _OfStandardLibrary
    table = ChainMap({Tensor: reduce_leaf}, getattr(base, "dispatch_table", dispatch_table))
    return type("_PicklerOfLeaves", (base,), {"dispatch_table": table})


def dumped(value: Any, describe: Callable[[], str], in_one_piece: bool = False) -> Payload:
    """The payload of anything; `describe` names it for the error.

    Raises
    ------
    pickle.PicklingError
        With the reason.
    """
    file, buffers = io.BytesIO(), list[memoryview]()

    def keep(buffer: pickle.PickleBuffer) -> bool:
        """True for what becomes a part of the pickle."""
        memory = buffer.raw()
        if memory.nbytes < LARGE:
            return True
        buffers.append(memory)
        return False

    try:
        _pickler_class()(file, protocol=5, buffer_callback=None if in_one_piece else keep).dump(value)
    except Exception as error:
        raise _refusal(describe(), error) from error
    return Payload(file.getvalue(), buffers)


def _refusal(what: str, error: Exception) -> pickle.PicklingError:
    text = f"{what} cannot be sent to another process: {error}"
    if not has_cloudpickle() and any(word in str(error) for word in ("lambda", "local", "script", "__main__")):
        text = f"{text}. {_HINT}"
    return pickle.PicklingError(text)


def loaded(payload: Payload) -> Any:
    return pickle.loads(payload.head, buffers=payload.buffers)
