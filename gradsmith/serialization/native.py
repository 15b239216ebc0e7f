"""The format of our own: an archive of arrays (.npz) with the tree that they belong to.

`numpy.load` reads its arrays; the tree is the member ``tree.json``, see Note [Trees as JSON].
"""

from __future__ import annotations

import json
import zipfile
from typing import IO, Any

from gradsmith.runtime.tensors.factories.creation import from_numpy
from gradsmith.serialization.archive import Archive, write_member
from gradsmith.serialization.arrays import read_array, write_array
from gradsmith.serialization.errors import CorruptFileError
from gradsmith.serialization.tree import Decoder, Encoder, finished

TREE = "tree.json"
FORMAT = "gradsmith"
VERSION, VERSION_WITH_PARTS = 1, 2  # older readers know the first only, and are told so by the number
SUFFIX = ".npy"


def write(value: Any, file: IO[bytes]) -> None:
    """Write a tree; raises before anything has been written when a part of it cannot be saved."""
    encoder = Encoder()
    tree = encoder.encode(value)
    version = VERSION_WITH_PARTS if encoder.has_parts else VERSION
    text = json.dumps({"format": FORMAT, "version": version, "tree": tree}, allow_nan=False)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in encoder.arrays.items():
            write_member(archive, name + SUFFIX, lambda member, array=array: write_array(member, array))
        write_member(archive, TREE, lambda member: member.write(text.encode("utf-8", "surrogatepass")))


def read(archive: Archive, device: Any) -> Any:
    """The tree of an archive that has one."""
    found = json.loads(archive.read(TREE).decode("utf-8", "surrogatepass"))
    known = VERSION, VERSION_WITH_PARTS
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") not in known:
        raise CorruptFileError(
            f"load: {TREE} is not of version {VERSION} or {VERSION_WITH_PARTS} of the format; a newer gradsmith may "
            "read it"
        )
    return Decoder(lambda name: read_array(archive.read(f"{name}{SUFFIX}"), name), device).decode(found["tree"])


def read_npz(archive: Archive, device: Any) -> dict[str, Any]:
    """A dict of tensors, of an archive that ``numpy.savez`` wrote."""
    names = [name for name in archive.members if name.endswith(SUFFIX)]
    if len(names) != len(archive.members) or not names:
        raise CorruptFileError("load: the archive is neither ours, nor NumPy's, nor a checkpoint of PyTorch")
    arrays = {name.removesuffix(SUFFIX): read_array(archive.read(name), name) for name in names}
    return {name: finished(from_numpy(array), device, False, False) for name, array in arrays.items()}
