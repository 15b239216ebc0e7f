"""Tensors over the bytes of files, which are mapped into memory and read as they are needed."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.dtypes import as_dtype, get_default_dtype
from gradsmith.runtime.arrays.memory_format import expect_strided
from gradsmith.runtime.graph.tensor import from_shared_array
from gradsmith.runtime.switches.truth import with_flag
from gradsmith.runtime.tensors.factories.creation import as_count, on_meta

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.generated.tensor import Tensor
    from gradsmith.runtime.arrays.device import DeviceLike

__all__ = ["from_file"]


def from_file(
    filename: str | os.PathLike[str],
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: DTypeLike | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Vector over the first elements of a file, which is mapped into memory.

    Parameters
    ----------
    filename : str or path
    shared : bool, optional
        Changes of the tensor are written to the file, which is made, or made longer, where it does not hold `size`
        elements. Otherwise they stay in memory, and the file must hold them all.
    size : int, default 0
        Number of elements.
    dtype : dtype, optional
        How the bytes are read; by default as the default dtype.
    requires_grad : bool
        Whether operations on the tensor are recorded.

    Returns
    -------
    Tensor
        It keeps the mapping, so the file may be closed or removed.

    Raises
    ------
    RuntimeError
        The file cannot be opened or mapped, or is shorter.

    Examples
    --------
    >>> import tempfile
    >>> import gradsmith as gs
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     gs.from_file(file.name, shared=True, size=3)
    tensor([0., 0., 0.])
    """
    path = _path_of(filename)
    if shared is not None and not isinstance(shared, bool):
        raise TypeError(f"from_file(): argument 'shared' must be bool, not {type(shared).__name__}")
    expect_strided("from_file", layout)
    if on_meta(device, "from_file"):
        raise NotImplementedError("from_file(): a tensor on the meta device has no memory to map the file to")
    element = get_default_dtype() if dtype is None else as_dtype(dtype, "from_file")
    count = as_count("from_file", "size", size)
    memory = _mapped(path, count * element.itemsize, bool(shared))
    result = from_shared_array(np.frombuffer(memory, element, count) if count else np.empty(0, element))
    return with_flag("from_file", result, requires_grad)


def _path_of(filename: Any) -> str:
    if not isinstance(filename, (str, os.PathLike)):
        raise TypeError(f"from_file(): argument 'filename' must be str, not {type(filename).__name__}")
    return os.fsdecode(filename)


def _mapped(path: str, length: int, shared: bool) -> mmap.mmap | bytes:
    """The first bytes of a file as memory to write to."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY)
        try:
            _make_room(descriptor, path, length, shared)
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            return mmap.mmap(descriptor, length, access=access) if length else b""
        finally:
            os.close(descriptor)
    except OSError as error:
        mode = "read-write" if shared else "read-only"
        raise RuntimeError(f"from_file(): unable to map file <{path}> in {mode} mode: {error.strerror}") from error


def _make_room(descriptor: int, path: str, length: int, shared: bool) -> None:
    """A file that is to be shared grows; any other must be long enough."""
    found = os.fstat(descriptor).st_size
    if found >= length:
        return
    if not shared:
        raise RuntimeError(f"from_file(): file <{path}> size <{found}> is smaller than the required size <{length}>")
    os.ftruncate(descriptor, length)
