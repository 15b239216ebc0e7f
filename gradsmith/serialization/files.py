"""``gradsmith.save`` and ``gradsmith.load``."""

from __future__ import annotations

import io
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from gradsmith.runtime.arrays.device import as_device
from gradsmith.serialization import native, safetensors
from gradsmith.serialization.archive import Archive
from gradsmith.serialization.arrays import MAGIC as NPY
from gradsmith.serialization.arrays import read_array
from gradsmith.serialization.errors import CorruptFileError, reading
from gradsmith.serialization.objects import PickledObject
from gradsmith.serialization.tree import finished

ZIP = b"PK"
TABLES = (".yaml", ".yml")
FORMATS: dict[str, Callable[..., None]] = {"npz": native.write, "safetensors": safetensors.write}


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: Any = None,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
    *,
    format: str | None = None,
) -> None:
    """Write tensors to a file, alone or in a tree of dicts, lists and tuples.

    The file is an archive of NumPy's arrays (``numpy.load`` reads it) with a description of the tree, in which numbers,
    texts and bytes are written out. Nothing of it is pickled, so that reading it runs no code. Tensors that are in the
    tree several times, or show parts of one memory, are written once, and share their memory when loaded. A file that
    is there already is replaced only when the new one is complete.

    Anything else, such as a whole module, is pickled with its tensors beside it, and only ``load(f,
    weights_only=False)`` reads it: that runs code.

    Parameters
    ----------
    obj : tree or object
        Tensors, arrays, numbers, strings, bytes, None, dtypes, devices, shapes, paths and dates, and dicts, lists,
        tuples, sets, deques, ``argparse.Namespace`` and results of ops of them. A network is best saved by its
        ``state_dict()``, and so is an optimizer.
    f : path or file
        A file that has been opened must be a binary one.
    pickle_module, pickle_protocol : module and int, optional
        How a whole object is pickled: by Python's pickle, or another module with a ``Pickler``, such as cloudpickle.
    _use_new_zipfile_serialization, _disable_byteorder_record : bool
        Taken for PyTorch's sake: there is one format, and it says its byte order.
    format : {None, "npz", "safetensors"}
        By default "safetensors" for a path that ends so, and otherwise "npz".

    Raises
    ------
    pickle.PicklingError, AttributeError or TypeError
        Something cannot be saved. Nothing has been written then.

    Examples
    --------
    >>> import io
    >>> import gradsmith as gs
    >>> file = io.BytesIO()
    >>> gs.save({"weight": gs.ones(2), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> gs.load(file)
    {'weight': tensor([1., 1.]), 'epoch': 3}
    """
    path = path_of(f)
    if format is None:
        format = "safetensors" if path is not None and path.suffix == ".safetensors" else "npz"
    if format not in FORMATS:
        raise ValueError(f"save: there is no format {format!r}; there are: {', '.join(FORMATS)}")
    options = {"pickle_module": pickle_module, "pickle_protocol": pickle_protocol} if format == "npz" else {}
    if path is None:
        FORMATS[format](obj, f, **options)
    else:
        replace_file(path, lambda file: FORMATS[format](obj, file, **options))


def replace_file(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file beside the old one, and put it into its place when it is complete."""
    if path.exists() and not path.is_file():  # a device or a pipe, which may say anything of where it is
        whole = io.BytesIO()
        write(whole)
        path.write_bytes(whole.getvalue())
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name[:200]}.{os.urandom(4).hex()}")
    try:
        with open(beside, "xb") as file:
            write(file)
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: Any,
) -> Any:
    """Read what `save` has written, or a file of NumPy, of safetensors, or of PyTorch.

    Reading runs no code, unless ``weights_only=False`` is given for a file of a whole object that `save` has written.
    Checkpoints of PyTorch (``.pt``, ``.pth``) are read by an interpreter of our own that knows tensors, numbers, texts
    and containers, and refuses everything else. bfloat16 becomes float32, which holds the same numbers.

    Parameters
    ----------
    f : path or file
        A file that has been opened must be a binary one that can seek.
    map_location : device, str, dict or callable, optional
        "cpu", where all tensors are, or "meta". Dictionaries and functions are accepted: they only choose a device.
    pickle_module : module, optional
        What reads the pickle of a whole object.
    weights_only : bool, optional
        False for files of whole objects, from people you trust: reading them runs code that the file names. True is
        the default, unless a `pickle_module` is given.
    mmap
        Accepted: files are read whole.

    Returns
    -------
    tree
        What was saved. Of a file of NumPy's ``savez``, or of safetensors, a dict of tensors; of ``.npy`` a tensor.

    Raises
    ------
    UnsafeFileError
        A file holds a whole object, and `weights_only` is not False; or a checkpoint of PyTorch contains something that
        is not on the list. It is a ``pickle.UnpicklingError``. See `gradsmith.serialization.add_safe_globals`.
    CorruptFileError
        The content contradicts itself. It is a RuntimeError.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> import gradsmith as gs
    >>> file = io.BytesIO()
    >>> np.savez(file, a=np.arange(3))
    >>> _ = file.seek(0)
    >>> gs.load(file)
    {'a': tensor([0, 1, 2])}
    """
    path = path_of(f)
    if path is not None and path.suffix in TABLES:
        return _load_table(path, options)
    if set(options) - {"encoding", "pickle_load_args"}:
        raise TypeError(f"load() got an unexpected keyword argument '{sorted(options)[0]}'")
    runs_code = pickle_module is not None if weights_only is None else not weights_only
    how = native.Reader(_device_of(map_location), runs_code, pickle_module)
    if path is None:
        found = _read(f, getattr(f, "name", "the file"), how)
    else:
        with open(path, "rb") as file:
            found = _read(file, str(path), how)
    return found.loaded() if isinstance(found, PickledObject) else found


def _load_table(path: Path, options: dict[str, Any]) -> Any:
    from gradsmith.extension.loading import load_ops

    warnings.warn(
        f"load({str(path)!r}): tables of operators are loaded by gradsmith.load_ops; load() is for tensors",
        DeprecationWarning,
        stacklevel=3,
    )
    return load_ops(path, **options)


def path_of(f: Any) -> Path | None:
    """None for a file that has been opened."""
    if isinstance(f, (str, os.PathLike)):
        return Path(f)
    if isinstance(f, io.TextIOBase) or not (hasattr(f, "read") or hasattr(f, "write")):
        raise TypeError(f"expected a path or a binary file, got {type(f).__name__}")
    return None


def _device_of(map_location: Any) -> Any:
    """The device to move tensors to, or None."""
    if map_location is None or isinstance(map_location, dict) or callable(map_location):
        return None
    device = as_device(map_location, "load")
    return None if device.type == "cpu" else device


def _read(file: Any, name: str, how: native.Reader) -> Any:
    """By what the file begins with: its name says nothing that could be relied on."""
    device, start = how.device, file.tell()
    begin = file.read(9)
    file.seek(start)
    with reading(name):
        if begin[:2] == ZIP:
            return _read_archive(Archive(file), name, how)
        if begin[:6] == NPY:
            return finished(_tensor_of(file.read()), device, False, False)
        if begin[8:] == b"{":
            return safetensors.read(file.read(), device)
        if begin[:1] == b"\x80":
            return _read_older(file.read(), name, device)
        raise CorruptFileError(f"load: {name} is of no known format; it begins with {begin!r}")


def _tensor_of(data: bytes) -> Any:
    from gradsmith.runtime.tensors.factories.creation import over_array

    return over_array(read_array(data, "the array"))


def _read_older(data: bytes, name: str, device: Any) -> Any:
    from gradsmith.serialization.checkpoints.older_files import MAGIC, read_older_checkpoint

    if not data.startswith(MAGIC):
        raise CorruptFileError(f"load: {name} is a bare pickle, and no checkpoint of PyTorch")
    return read_older_checkpoint(data, device)


def _read_archive(archive: Archive, name: str, how: native.Reader) -> Any:
    if native.TREE in archive.members:
        return native.read(archive, name, how)
    if any(name.endswith("data.pkl") for name in archive.members):
        from gradsmith.serialization.checkpoints.reader import read_checkpoint

        return read_checkpoint(archive, how.device)
    return native.read_npz(archive, how.device)
