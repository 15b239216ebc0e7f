"""The format of our own: an archive of arrays (.npz) with the tree that they belong to.

`numpy.load` reads its arrays; the tree is the member ``tree.json``, see Note [Trees as JSON]. Any other
object, such as a module, is pickled as the member ``object.pkl``; the tree is then the list of its tensors, see
objects.py.
"""

from __future__ import annotations

import json
import zipfile
from typing import IO, Any, NamedTuple

from gradsmith.runtime.tensors.factories.creation import over_array
from gradsmith.serialization.archive import Archive, write_member
from gradsmith.serialization.arrays import read_array, write_array
from gradsmith.serialization.errors import CorruptFileError, NotOfTreeError
from gradsmith.serialization.objects import OBJECT, PickledObject, dumped, refuse
from gradsmith.serialization.tree import Decoder, Encoder, finished

TREE = "tree.json"
FORMAT = "gradsmith"
VERSION, VERSION_WITH_PARTS, VERSION_WITH_OBJECT = 1, 2, 3  # older readers know the first only, and are told so by it
SUFFIX = ".npy"


def write(value: Any, file: IO[bytes], pickle_module: Any = None, pickle_protocol: int | None = None) -> None:
    """Write a tree, or a whole object; raises before anything has been written when a part of it cannot be saved."""
    encoder, data = Encoder(), None
    try:
        tree = encoder.encode(value)
    except NotOfTreeError:
        data, tensors = dumped(value, pickle_module, pickle_protocol)
        encoder = Encoder()
        tree = encoder.encode(tensors)
    version = VERSION_WITH_PARTS if encoder.has_parts else VERSION
    if data is not None:
        version = VERSION_WITH_OBJECT
    text = json.dumps({"format": FORMAT, "version": version, "tree": tree}, allow_nan=False)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in encoder.arrays.items():
            write_member(archive, name + SUFFIX, lambda member, array=array: write_array(member, array))
        write_member(archive, TREE, lambda member: member.write(text.encode("utf-8", "surrogatepass")))
        if data is not None:
            write_member(archive, OBJECT, lambda member: member.write(data))


class Reader(NamedTuple):
    """How a file of ours is read."""

    device: Any = None
    runs_code: bool = False  # so that whole objects can be read
    pickle_module: Any = None


def read(archive: Archive, name: str, how: Reader) -> Any:
    """The tree of an archive that has one, or the object, yet to be unpickled."""
    found = json.loads(archive.read(TREE).decode("utf-8", "surrogatepass"))
    known = VERSION, VERSION_WITH_PARTS, VERSION_WITH_OBJECT
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") not in known:
        raise CorruptFileError(f"load: {TREE} is not of version 1, 2 or 3 of the format; a newer gradsmith may read it")
    is_object = found["version"] == VERSION_WITH_OBJECT
    if is_object and not how.runs_code:
        refuse(name)
    tree = Decoder(lambda member: read_array(archive.read(f"{member}{SUFFIX}"), member), how.device).decode(
        found["tree"]
    )
    return PickledObject(archive.read(OBJECT), tree, how.pickle_module) if is_object else tree


def read_npz(archive: Archive, device: Any) -> dict[str, Any]:
    """A dict of tensors, of an archive that ``numpy.savez`` wrote."""
    names = [name for name in archive.members if name.endswith(SUFFIX)]
    if len(names) != len(archive.members) or not names:
        raise CorruptFileError("load: the archive is neither ours, nor NumPy's, nor a checkpoint of PyTorch")
    arrays = {name.removesuffix(SUFFIX): read_array(archive.read(name), name) for name in names}
    return {name: finished(over_array(array), device, False, False) for name, array in arrays.items()}
