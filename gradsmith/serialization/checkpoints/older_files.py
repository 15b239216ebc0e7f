"""The files that PyTorch wrote before version 1.6, and writes on request: pickles one after the other, then storages.

They are: a number by which the format is known, its version, a description of the machine, what was saved, and the keys
of its storages; after these the storages in the order of the keys, each as the number of its elements and the elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.serialization.arrays import elements_of
from gradsmith.serialization.checkpoints import allowed
from gradsmith.serialization.checkpoints.allowed import BFLOAT16, UNTYPED, StorageKind, whole
from gradsmith.serialization.checkpoints.machine import Machine, revealed
from gradsmith.serialization.checkpoints.reader import Storage, moved
from gradsmith.serialization.errors import CorruptFileError
from gradsmith.serialization.safetensors import from_bfloat16

__all__ = ["MAGIC", "read_older_checkpoint"]

NUMBER = 0x1950A86A20F9469CFC6C
MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
VERSION = 1001


def read_older_checkpoint(data: bytes, device: Any) -> Any:
    """What was given to ``torch.save``."""
    storages = PendingStorages(len(data))
    place, parts = 0, []
    for _ in range(5):
        machine = Machine(data, allowed.find, storages.find, place)
        parts.append(machine.run())
        place = machine.place
    number, version, about, value, keys = parts
    if number != NUMBER or version != VERSION:
        raise CorruptFileError(f"load: the checkpoint is of version {version}, not {VERSION}")
    is_big = isinstance(about, dict) and about.get("little_endian") is False
    storages.fill(data, place, keys, is_big)
    return value if device is None else moved(value, device)


class PendingStorage(Storage):
    """A storage whose elements come later in the file; tensors show the memory that waits for them."""

    def __init__(self, code: str, count: int) -> None:
        super().__init__(b"", code, False)
        self.count = count
        self.elements = np.zeros(count, np.float32 if code == BFLOAT16 else np.dtype(code))

    def array(self, dtype: Any) -> Any:
        return self.elements

    def fill(self, data: bytes, order: Any) -> None:
        if self.code == BFLOAT16:
            self.elements[:] = from_bfloat16(np.frombuffer(data, f"{order}u2"))
        else:
            self.elements[:] = elements_of(data, self.elements.dtype.newbyteorder(order))

    @property
    def itemsize(self) -> int:
        return 2 if self.code == BFLOAT16 else self.elements.itemsize


class PendingStorages:
    """The storages of a file by their keys; together they take no more memory than the file."""

    def __init__(self, size: int) -> None:
        self.rest = size
        self.known: dict[str, PendingStorage] = {}

    def find(self, description: Any) -> PendingStorage:
        if type(description) is not tuple or len(description) != 6 or description[0] != "storage":
            raise CorruptFileError("load: the checkpoint refers to something that is no storage")
        kind, key, count, view = revealed(description[1]), description[2], whole(description[4]), description[5]
        if not isinstance(kind, StorageKind) or kind.code == UNTYPED or type(key) is not str or count < 0:
            raise CorruptFileError("load: the checkpoint has a storage without a dtype, a key or a size")
        if view is not None:
            raise CorruptFileError("load: a storage of the checkpoint is a part of another one; save it again")
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self._begun(kind.code, count)
        if found.code != kind.code or found.count != count:
            raise CorruptFileError(f"load: the checkpoint has two storages of the key {key!r}")
        return found

    def _begun(self, code: str, count: int) -> PendingStorage:
        self.rest -= count * (2 if code == BFLOAT16 else np.dtype(code).itemsize)
        if self.rest < 0:
            raise CorruptFileError("load: the storages of the checkpoint are larger than the file")
        return PendingStorage(code, count)

    def fill(self, data: bytes, place: int, keys: Any, is_big: bool) -> None:
        if type(keys) is not list or sorted(keys) != sorted(self.known):
            raise CorruptFileError("load: the checkpoint has other storages than it names")
        for key in keys:
            storage = self.known[key]
            end = place + 8 + storage.count * storage.itemsize
            count = int.from_bytes(data[place : place + 8], "big" if is_big else "little", signed=True)
            if end > len(data) or count != storage.count:
                raise CorruptFileError(f"load: the storage {key} has {count} elements, not {storage.count}")
            storage.fill(data[place + 8 : end], ">" if is_big else "<")
            place = end
