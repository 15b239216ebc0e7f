"""Trees as JSON: arrays are named, everything else is written out.

Note [Trees as JSON]
What JSON has stands for itself: null, booleans, numbers, texts, and lists. Everything else is an object with one key
that says its kind. So ``{"a": (1, x)}`` with a tensor x is ``{"dict": [["a", {"tuple": [1, {"tensor": "a.1"}]}]]}``,
and the array of x is kept under the name ``a.1``. A tensor or array that is in the tree twice has one array; in the
place of the name of an array can be a part of another one, see shared_memory.py.
"""

from __future__ import annotations

import math
import re
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.device import device as Device
from gradsmith.runtime.tensors.factories.creation import empty, over_array
from gradsmith.serialization.arrays import DTYPES
from gradsmith.serialization.errors import CorruptFileError, NotOfTreeError
from gradsmith.serialization.shared_memory import Place, joined, part_of
from gradsmith.serialization.values import READERS, known_dtype, node_of

_Array = np.ndarray[Any, Any]
_FACTORIES: dict[str, Any] = {"dict": dict, "list": list, "set": set, "int": int, "float": float}
_RESULT_MODULES = re.compile(r"gradsmith\.(generated\.[a-z_]+|counting)")  # where the classes of results are
_UNINITIALIZED = ("UninitializedParameter", "UninitializedBuffer")
DEEPEST = 100  # levels of a tree
LONGEST_NAME = 200  # characters of an array's name


class Encoder:
    """Takes a tree apart; `arrays` collects what has to be kept beside its JSON."""

    def __init__(self) -> None:
        self.arrays: dict[str, _Array] = {}
        self.has_parts = False  # are there places of parts in the JSON?
        self._names: dict[Any, str] = {}
        self._references: list[tuple[dict[str, Any], str]] = []  # nodes with the name of an array, under a key
        self._kept: list[Any] = []  # so that no two objects have one id

    def encode(self, value: Any, joins_parts: bool = True) -> Any:
        """The JSON of a value.

        Parameters
        ----------
        value : tree
        joins_parts : bool
            Whether memory that arrays show parts of is kept once. Otherwise each part is an array of its own.

        Raises
        ------
        NotOfTreeError
            It contains something that cannot be written out; the message says where.
        ValueError
            It has too many levels, perhaps since it contains itself.
        """
        tree = self._node(value, "", 0)
        if joins_parts:
            self.arrays, places = joined(self.arrays)
            self.has_parts = bool(places)
            for node, kind in self._references:
                node[kind] = places.get(node[kind], node[kind])
        return tree

    def _node(self, value: Any, path: str, level: int) -> Any:
        if level > DEEPEST:
            raise ValueError(f"save: the tree has more than {DEEPEST} levels at {_shown(path[:LONGEST_NAME])}")
        if value is None or type(value) in (bool, str) or (type(value) is float and math.isfinite(value)):
            return value
        if type(value) is int:
            return value if abs(value) < 1 << 63 else {"int": hex(value)}
        if type(value) is list:
            return self._items(value, path, level)
        return self._object(value, path, level)

    def _items(self, values: Any, path: str, level: int) -> list[Any]:
        return [self._node(item, _joined(path, i), level + 1) for i, item in enumerate(values)]

    def _pairs(self, value: dict[Any, Any], path: str, level: int) -> list[Any]:
        return [
            [self._node(key, path, level + 1), self._node(item, _joined(path, key), level + 1)]
            for key, item in value.items()
        ]

    def _object(self, value: Any, path: str, level: int) -> Any:
        kind = type(value)
        if isinstance(value, Tensor):
            return self._tensor(value, path)
        if kind is np.ndarray or isinstance(value, np.generic):
            return self._reference("array" if kind is np.ndarray else "scalar", np.asarray(value), value, path)
        if isinstance(value, dict):
            return self._dict(value, path, level)
        if kind in (set, frozenset, tuple):
            return {kind.__name__: self._items(value, path, level)}
        if kind is deque:
            return {"deque": self._items(value, path, level), "maxlen": value.maxlen}
        if kind is Namespace:
            return {"Namespace": self._pairs(vars(value), path, level)}
        if _is_result(kind):
            return {"result": self._items(value, path, level), "of": [kind.__module__, kind.__name__]}
        plain = node_of(value)
        if plain is None:
            raise NotOfTreeError(_refusal(value, path))
        return plain

    def _dict(self, value: dict[Any, Any], path: str, level: int) -> Any:
        kind = type(value)
        if kind is OrderedDict and "_metadata" in vars(value):  # of a module's state_dict()
            metadata = self._node(value._metadata, path, level + 1)  # type: ignore[attr-defined]
            return {"OrderedDict": self._pairs(value, path, level), "metadata": metadata}
        if kind in (dict, OrderedDict, Counter):
            return {kind.__name__: self._pairs(value, path, level)}
        factory = getattr(value, "default_factory", None)
        if kind is defaultdict and (factory is None or factory in _FACTORIES.values()):
            pairs = self._pairs(value, path, level)
            return {"defaultdict": pairs, "factory": None if factory is None else factory.__name__}
        raise NotOfTreeError(_refusal(value, path))

    def _tensor(self, value: Tensor, path: str) -> Any:
        if _is_uninitialized(value):
            return _uninitialized_node(value)
        found: dict[str, Any]
        if value.device.type == "meta":
            found = {"meta": list(value.shape), "dtype": value.dtype.name}
        else:
            found = self._reference("tensor", value.detach().numpy(), value, path)
        if value.requires_grad:
            found["requires_grad"] = True
        if _is_parameter(value):
            found["parameter"] = True
        return found

    def _reference(self, kind: str, array: _Array, owner: Any, path: str) -> dict[str, Any]:
        node = {kind: self._array(array, owner, path)}
        self._references.append((node, kind))
        return node

    def _array(self, array: _Array, owner: Any, path: str) -> str:
        """The name under which an array is kept; memory that is shown twice in one way is kept once."""
        if array.dtype.name not in DTYPES:
            raise NotOfTreeError(
                f"save: the array at {_shown(path)} has dtype {array.dtype}, of which there are no tensors"
            )
        key = (array.__array_interface__["data"], array.shape, array.strides, array.dtype)
        if key in self._names:
            return self._names[key]
        plain = _as_name(path)
        name, count = plain, 1
        while name in self.arrays:
            count += 1
            name = f"{plain}#{count}"
        self.arrays[name], self._names[key] = array, name
        self._kept.append(owner)
        return name


def _as_name(path: str) -> str:
    """A path as archives can have it for a name."""
    return "".join(c if c.isprintable() else "_" for c in path[:LONGEST_NAME]) or "tensor"


def _is_result(kind: Any) -> bool:
    """Is it the named tuple that one of the ops of the package returns?"""
    return (
        issubclass(kind, tuple)
        and "name_of_op" in vars(kind)
        and _RESULT_MODULES.fullmatch(kind.__module__) is not None
    )


def _is_uninitialized(value: Tensor) -> bool:
    kind = type(value)
    return kind.__name__ in _UNINITIALIZED and kind.__module__ == "gradsmith.nn.parameter"


def _uninitialized_node(value: Tensor) -> dict[str, Any]:
    return {
        "uninitialized": type(value).__name__,
        "requires_grad": value.requires_grad,
        "device": str(value.device),
        "dtype": value.dtype.name,
    }


def _refusal(value: Any, path: str) -> str:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    advice = (
        "save its state_dict() instead, and load that into a new one; or write the whole object in the format npz, "
        "with pickle, which runs code when it is read"
        if hasattr(value, "state_dict")
        else "convert it to one of them"
    )
    return (
        f"save: {_shown(path)} is a {kind}. A file holds tensors, arrays, numbers, texts, bytes, dates, paths, and "
        f"dicts, lists, tuples and sets of them: {advice}"
    )


def _shown(path: str) -> str:
    return f"the value at {path!r}" if path else "the value"


def _joined(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def _is_parameter(value: Tensor) -> bool:
    return any(
        kind.__name__ == "Parameter" and kind.__module__.startswith("gradsmith.") for kind in type(value).__mro__
    )


# ---- and back


class Decoder:
    """Puts a tree together.

    Parameters
    ----------
    array : callable
        From the name of an array to the array.
    device : device or None
        Where tensors shall be.
    """

    def __init__(self, array: Callable[[str], _Array], device: Any = None) -> None:
        self._read = array
        self._device = device
        self._arrays: dict[str, _Array] = {}
        self._tensors: dict[tuple[Any, ...], Tensor] = {}

    def decode(self, node: Any, level: int = 0) -> Any:
        if level > DEEPEST:
            raise CorruptFileError(f"load: the tree has more than {DEEPEST} levels")
        if isinstance(node, list):
            return [self.decode(item, level + 1) for item in node]
        if not isinstance(node, dict):
            return node
        kind = next(iter(node), None)
        if kind in READERS:
            return READERS[kind](node)
        decoder = getattr(self, f"_decode_{kind}", None)
        if decoder is None:
            raise CorruptFileError(
                f"load: the tree contains a {kind!r}, which is not known; a newer version may read it"
            )
        return decoder(node, level)

    def _items(self, node: dict[str, Any], kind: str, level: int) -> list[Any]:
        return [self.decode(item, level + 1) for item in node[kind]]

    def _pairs(self, node: dict[str, Any], kind: str, level: int) -> list[tuple[Any, Any]]:
        return [(self.decode(key, level + 1), self.decode(item, level + 1)) for key, item in node[kind]]

    def _array(self, name: str | Place) -> _Array:
        if isinstance(name, dict):
            return part_of(self._array(name["of"]), name)
        if name not in self._arrays:
            self._arrays[name] = self._read(name)
        return self._arrays[name]

    def _decode_tensor(self, node: dict[str, Any], level: int) -> Tensor:
        name, requires_grad, is_parameter = node["tensor"], bool(node.get("requires_grad")), bool(node.get("parameter"))
        key = (repr(name), requires_grad, is_parameter)
        if key not in self._tensors:
            tensor = over_array(self._array(name))
            self._tensors[key] = finished(tensor, self._device, requires_grad, is_parameter)
        return self._tensors[key]

    def _decode_meta(self, node: dict[str, Any], level: int) -> Tensor:
        shape, dtype = node["meta"], known_dtype(node["dtype"])
        tensor = empty(*shape, dtype=dtype, device="meta") if shape else empty((), dtype=dtype, device="meta")
        return finished(tensor, None, bool(node.get("requires_grad")), bool(node.get("parameter")))

    def _decode_array(self, node: dict[str, Any], level: int) -> _Array:
        return self._array(node["array"])

    def _decode_scalar(self, node: dict[str, Any], level: int) -> Any:
        return self._array(node["scalar"])[()]

    def _decode_dict(self, node: dict[str, Any], level: int) -> Any:
        return dict(self._pairs(node, "dict", level))

    def _decode_OrderedDict(self, node: dict[str, Any], level: int) -> Any:
        found = OrderedDict(self._pairs(node, "OrderedDict", level))
        if "metadata" in node:
            found._metadata = self.decode(node["metadata"], level + 1)  # type: ignore[attr-defined]
        return found

    def _decode_Counter(self, node: dict[str, Any], level: int) -> Any:
        return Counter(dict(self._pairs(node, "Counter", level)))

    def _decode_defaultdict(self, node: dict[str, Any], level: int) -> Any:
        factory = None if node["factory"] is None else _FACTORIES[node["factory"]]
        return defaultdict(factory, self._pairs(node, "defaultdict", level))

    def _decode_tuple(self, node: dict[str, Any], level: int) -> Any:
        return tuple(self._items(node, "tuple", level))

    def _decode_set(self, node: dict[str, Any], level: int) -> Any:
        return set(self._items(node, "set", level))

    def _decode_frozenset(self, node: dict[str, Any], level: int) -> Any:
        return frozenset(self._items(node, "frozenset", level))

    def _decode_deque(self, node: dict[str, Any], level: int) -> Any:
        return deque(self._items(node, "deque", level), node["maxlen"])

    def _decode_Namespace(self, node: dict[str, Any], level: int) -> Any:
        return Namespace(**dict(self._pairs(node, "Namespace", level)))

    def _decode_result(self, node: dict[str, Any], level: int) -> Any:
        module, name = node["of"]
        kind = None
        if _RESULT_MODULES.fullmatch(module):
            with suppress(ImportError):
                kind = getattr(import_module(module), name, None)
        if not isinstance(kind, type) or not _is_result(kind):
            raise CorruptFileError(f"load: no op returns a {module}.{name}; another version of gradsmith may read it")
        return kind(*self._items(node, "result", level))

    def _decode_uninitialized(self, node: dict[str, Any], level: int) -> Any:
        from gradsmith.nn import parameter

        if node["uninitialized"] not in _UNINITIALIZED:
            raise CorruptFileError(f"load: there is no tensor of class {node['uninitialized']!r}")
        device = Device(node["device"]) if self._device is None else self._device
        make = getattr(parameter, node["uninitialized"])
        return make(bool(node["requires_grad"]), device=device, dtype=known_dtype(node["dtype"]))


def finished(tensor: Tensor, device: Any, requires_grad: bool, is_parameter: bool) -> Tensor:
    """A loaded tensor where and as it should be."""
    if device is not None:
        tensor = tensor.to(device)
    if is_parameter:
        import gradsmith.nn

        make: Any = getattr(gradsmith.nn, "Parameter", None)
        if make is not None:
            found: Tensor = make(tensor, requires_grad)
            return found
    return tensor.requires_grad_(requires_grad)
