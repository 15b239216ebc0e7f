"""The names that a checkpoint may use, and what they stand for.

Each function checks what it is given: the arguments come from the file.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.device import device as Device
from gradsmith.serialization.checkpoints.machine import Intermediate, Marked, as_key, as_value
from gradsmith.serialization.errors import CorruptFileError, UnsafeFileError

# ---- what the user allows

_users: dict[str, Any] = {}


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let checkpoints that are loaded from now on make instances of classes, or call functions.

    Whoever wrote the checkpoint chooses the arguments; so only for what does no harm with any.

    Parameters
    ----------
    safe_globals : iterable of class, function, or (class or function, str)
        In a pair, the text is the name that checkpoints have for it, such as ``"package.module.Class"``.
    """
    for item in safe_globals:
        value, name = item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}")
        _users[name] = value


def clear_safe_globals() -> None:
    """Take back all of `add_safe_globals`."""
    _users.clear()


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has added."""
    return list(_users.values())


@contextmanager
def safe_globals(safe_globals: Iterable[Any]) -> Iterator[None]:
    """`add_safe_globals` for the time of a block."""
    before = dict(_users)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _users.clear()
        _users.update(before)


def find(module: str, name: str) -> Any:
    """What a global name stands for.

    Raises
    ------
    UnsafeFileError
        It is not on the list.
    """
    full = f"{module}.{name}"
    if full in _users:
        value = _users[full]
        return Marked(full, value, value)
    found = _NAMES.get(full)
    if found is None:
        is_module = module.startswith(("torch.nn", "__main__"))
        advice = "save its state_dict() instead" if is_module else "see add_safe_globals"
        raise UnsafeFileError(
            f"load: the checkpoint contains {full}, which is not on the list of what a file may contain, since it "
            f"could run code ({advice})"
        )
    return found


# ---- containers


def _dict_of(items: Any = ()) -> dict[Any, Any]:
    pairs = items.items() if isinstance(items, dict) else [_pair(item) for item in _listed(items)]
    return {as_key(key): as_value(value) for key, value in pairs}


def _pair(item: Any) -> tuple[Any, Any]:
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise CorruptFileError("load: a dict in the checkpoint has an item that is no pair")
    return item[0], item[1]


def _listed(items: Any) -> list[Any]:
    if not isinstance(items, (list, tuple, set, frozenset)):
        raise CorruptFileError(f"load: a container in the checkpoint is made of a {type(items).__name__}")
    return list(items)


def _counter(items: Any = ()) -> Any:
    return Counter(_dict_of(items))


def _ordered_dict(items: Any = ()) -> Any:
    return OrderedDict(_dict_of(items))


def _default_dict(factory: Any = None, items: Any = ()) -> Any:
    if factory not in (None, dict, list, set, int, float, OrderedDict):
        raise UnsafeFileError("load: a defaultdict in the checkpoint has a factory that it may not have")
    return defaultdict(factory, _dict_of(items))


def _set_of(items: Any = ()) -> set[Any]:
    return {as_key(item) for item in _listed(items)}


def _frozenset_of(items: Any = ()) -> frozenset[Any]:
    return frozenset(as_key(item) for item in _listed(items))


def _list_of(items: Any = ()) -> list[Any]:
    return [as_value(item) for item in _listed(items)]


def _size_of(sizes: Any = ()) -> tuple[Any, ...]:
    return tuple(whole(size) for size in _listed(sizes))


# ---- small values


def whole(value: Any) -> int:
    if type(value) is not int:
        raise CorruptFileError(f"load: the checkpoint has a {type(value).__name__} where a whole number should be")
    return value


def _int_of(value: Any = 0) -> int:
    return whole(value)


def _float_of(value: Any = 0.0) -> float:
    return float(value) if type(value) in (int, float) else float(whole(value))


def _complex_of(real: Any, imaginary: Any) -> complex:
    return complex(_float_of(real), _float_of(imaginary))


def _encoded(text: Any, encoding: Any) -> bytes:
    """How bytes are written by the protocol that checkpoints have."""
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise UnsafeFileError("load: the checkpoint encodes something that it may not")
    return text.encode("latin-1")


def _bytes_of(value: Any = b"") -> bytes:
    if type(value) is not bytes:
        raise CorruptFileError("load: the checkpoint makes bytes of something else")
    return value


def _bytearray_of(value: Any = b"", encoding: Any = "latin-1") -> bytearray:
    return bytearray(value if type(value) is bytes else _encoded(value, encoding))


def _range_of(*numbers: Any) -> range:
    return range(*map(whole, numbers))


def _slice_of(*numbers: Any) -> slice:
    return slice(*(None if number is None else whole(number) for number in numbers))


def _device_of(*description: Any) -> Any:
    """All tensors are on the processor, whatever the checkpoint was written on."""
    if not description or type(description[0]) is not str:
        raise CorruptFileError("load: the checkpoint has a device without a name")
    return Device("meta" if description[0] == "meta" else "cpu")


class StorageKind(Intermediate):
    """The class of a storage, which says the dtype of its elements."""

    def __init__(self, code: str) -> None:
        self.code = code


BFLOAT16, UNTYPED = "bfloat16", "untyped"

_STORAGES = {
    "FloatStorage": "f4", "DoubleStorage": "f8", "HalfStorage": "f2", "LongStorage": "i8", "IntStorage": "i4",
    "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1", "BoolStorage": "?", "ComplexFloatStorage": "c8",
    "ComplexDoubleStorage": "c16", "BFloat16Storage": BFLOAT16, "UntypedStorage": UNTYPED,
}  # fmt: skip
_DTYPES = {
    "float32": "f4", "float": "f4", "float64": "f8", "double": "f8", "float16": "f2", "half": "f2", "int64": "i8",
    "long": "i8", "int32": "i4", "int": "i4", "int16": "i2", "short": "i2", "int8": "i1", "uint8": "u1", "uint16": "u2",
    "uint32": "u4", "uint64": "u8", "bool": "?", "complex64": "c8", "cfloat": "c8", "complex128": "c16",
    "cdouble": "c16",
}  # fmt: skip

_NAMES: dict[str, Marked] = {}


def allow(name: str, call: Any = None, value: Any = None, takes_names: bool = False) -> None:
    _NAMES[name] = Marked(name, call, value, takes_names)


def _allow_basic_names() -> None:
    allow("collections.OrderedDict", _ordered_dict, OrderedDict)
    allow("collections.Counter", _counter)
    allow("collections.defaultdict", _default_dict)
    for builtins in ("builtins", "__builtin__"):
        for name, call, value in (
            ("dict", _dict_of, dict), ("list", _list_of, list), ("set", _set_of, set), ("int", _int_of, int),
            ("float", _float_of, float), ("frozenset", _frozenset_of, None), ("complex", _complex_of, None),
            ("bytes", _bytes_of, None), ("bytearray", _bytearray_of, None), ("range", _range_of, None),
            ("xrange", _range_of, None),
            ("slice", _slice_of, None),
        ):  # fmt: skip
            allow(f"{builtins}.{name}", call, value)
    allow("_codecs.encode", _encoded)
    allow("torch.Size", _size_of)
    allow("torch.device", _device_of)
    for name, code in _STORAGES.items():
        for module in ("torch", "torch.storage"):
            allow(f"{module}.{name}", None, StorageKind(code))
    for name, code in _DTYPES.items():
        allow(f"torch.{name}", None, np.dtype(code))
    allow("torch.bfloat16", None, np.dtype(np.float32))


_allow_basic_names()
