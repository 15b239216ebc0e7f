"""Memory shared with other libraries by DLPack, and with whatever exports a buffer.

NumPy speaks both protocols. A tensor goes out as the array that `numpy()` gives, so the capsule keeps the memory alive
and the runtime reuses it no sooner; it comes in as the array that NumPy makes of a capsule, as `from_numpy` takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.device import META
from gradsmith.runtime.arrays.dtypes import as_dtype
from gradsmith.runtime.arrays.memory import array_over, is_capsule
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.graph.tensor import from_array, from_shared_array
from gradsmith.runtime.tensors.factories.creation import on_meta
from gradsmith.runtime.tensors.factories.python_data import is_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.generated.tensor import Tensor
    from gradsmith.runtime.arrays.device import DeviceLike

    Array = np.ndarray[Any, Any]

__all__ = ["from_dlpack", "frombuffer", "to_dlpack"]

_CPU = (1, 0)  # DLPack's number of the device type, and of the device
_NUMPY_KNOWS_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


# ---- out


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor, for `from_dlpack` of a library that takes capsules.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    capsule
        It shares the tensor's memory and keeps it alive, and can be consumed once. Libraries that take the tensor
        itself learn more from it, for example whether the memory is read-only.

    Raises
    ------
    BufferError
        The tensor requires grad, has no data, or is read-only.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.utils import dlpack
    >>> dlpack.from_dlpack(dlpack.to_dlpack(gs.arange(3)))
    tensor([0, 1, 2])
    """
    if not is_tensor(tensor):
        raise TypeError(f"to_dlpack(): expected a Tensor, but got {type(tensor).__name__}")
    return tensor.__dlpack__()


def capsule_of(tensor: Tensor, stream: Any, max_version: Any, dl_device: Any, copy: Any) -> Any:
    """What `Tensor.__dlpack__` gives."""
    _check_asked(stream, max_version, dl_device)
    array = _exported(tensor)
    if copy:
        array = array.copy()
    versions = {} if max_version is None or not _NUMPY_KNOWS_VERSIONS else {"max_version": max_version}
    return array.__dlpack__(**versions)


def _check_asked(stream: Any, max_version: Any, dl_device: Any) -> None:
    if stream is not None:
        raise RuntimeError(f"__dlpack__(): the CPU has no streams, so stream must be None, but got {stream!r}")
    if max_version is not None and not _is_pair(max_version):
        raise TypeError(f"__dlpack__(): max_version must be a tuple of two integers or None, but got {max_version!r}")
    if dl_device is None:
        return
    if not _is_pair(dl_device):
        raise TypeError(f"__dlpack__(): dl_device must be a tuple of two integers or None, but got {dl_device!r}")
    if tuple(dl_device) != _CPU:
        raise BufferError(f"__dlpack__(): the tensor is on the CPU, {_CPU}, and cannot go to device {dl_device}")


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, int) for part in value)


def _exported(tensor: Tensor) -> Array:
    if tensor.requires_grad:
        raise BufferError(
            "Can't export tensors that require gradient: the graph would not see what others write. Use tensor.detach()"
        )
    if tensor.is_meta:
        raise BufferError("Cannot export a tensor on the meta device: it has no data")
    return tensor.numpy()


def device_of(tensor: Tensor) -> tuple[int, int]:
    """What `Tensor.__dlpack_device__` gives."""
    if tensor.is_meta:
        raise ValueError("Unknown device type meta for DLPack: the tensor has no data")
    return _CPU


# ---- in


def from_dlpack(ext_tensor: Any, *, device: DeviceLike | None = None, copy: bool | None = None) -> Tensor:
    """Tensor over the memory of another library's array.

    Parameters
    ----------
    ext_tensor : object with ``__dlpack__`` and ``__dlpack_device__``, or a DLPack capsule
        An array in main memory. A capsule can be consumed once.
    device : device, optional
        Where the tensor shall be; by default where the memory is.
    copy : bool, optional
        Copy the memory; None and False share it.

    Returns
    -------
    Tensor
        Changes of one are seen in the other. It cannot be changed in place if the library says that the memory is
        read-only, or speaks a version of DLPack that cannot say.

    Raises
    ------
    TypeError
        `ext_tensor` is neither.
    BufferError
        The library does not give its memory, or NumPy has no such device or dtype.
    ValueError
        `copy` is False and the device has no data to share; or the capsule was consumed before.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import numpy as np
    >>> array = np.zeros(2)
    >>> gs.from_dlpack(array).add_(1)
    tensor([1., 1.], dtype=gradsmith.float64)
    >>> array
    array([1., 1.])
    """
    moves = device is not None and on_meta(device, "from_dlpack")
    if moves and copy is False:
        raise ValueError("from_dlpack(): nothing can be shared with the meta device, which has no data")
    array = _imported(ext_tensor)
    result = from_array(array.copy()) if copy else from_shared_array(array)
    return result.to(META) if moves else result


def _imported(ext_tensor: Any) -> Array:
    if hasattr(ext_tensor, "__dlpack__") and hasattr(ext_tensor, "__dlpack_device__"):
        return np.from_dlpack(ext_tensor)
    if is_capsule(ext_tensor, b"dltensor_versioned"):
        return np.from_dlpack(_Producer(ext_tensor))
    if is_capsule(ext_tensor, b"dltensor"):
        return _writeable(np.from_dlpack(_Producer(ext_tensor)))
    if type(ext_tensor).__name__ == "PyCapsule":
        raise ValueError("from_dlpack(): the capsule has been consumed before, or is not one of DLPack")
    raise TypeError(
        "from_dlpack(): expected an object with __dlpack__ and __dlpack_device__, or a DLPack capsule, but got "
        f"{type(ext_tensor).__name__}"
    )


def _writeable(array: Array) -> Array:
    """The same memory to write to. Whoever made a capsule by hand knows whose memory it is, as in PyTorch."""
    return array_over(array, array.dtype, array.shape, array.strides, 0)


class _Producer:
    """A capsule as NumPy wants it: from an object that makes it."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU  # not asked: the capsule says itself


def frombuffer(
    buffer: Any, *, dtype: DTypeLike, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Vector over the memory of what exports a buffer: bytes, `bytearray`, `memoryview`, `array.array`, `mmap`.

    Parameters
    ----------
    buffer : object with the buffer protocol
    dtype : dtype
        How its bytes are read.
    count : int, default -1
        Number of elements; a negative one takes all that are there.
    offset : int, default 0
        Bytes that are passed over.
    requires_grad : bool
        Whether operations on the tensor are recorded.

    Returns
    -------
    Tensor
        Changes of one are seen in the other. It cannot be changed in place if the buffer is read-only, as bytes are,
        of which a warning tells.

    Raises
    ------
    ValueError
        The object exports no buffer, or has not the bytes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.frombuffer(bytearray(b"\x01\x02\x03"), dtype=gs.uint8, offset=1)
    tensor([2, 3], dtype=gradsmith.uint8)
    """
    element = as_dtype(dtype, "frombuffer")
    array = np.frombuffer(_bytes_of(buffer), element, _count_of(buffer, element, count, offset), offset)
    if not array.flags.writeable:
        warn_caller(
            "The given buffer is not writable: changing this tensor in place raises. Copy it, as in "
            "frombuffer(bytearray(buffer), ...), if it is to be changed"
        )
    return from_shared_array(array).requires_grad_(requires_grad)


def _bytes_of(buffer: Any) -> memoryview:
    try:
        return memoryview(buffer)
    except TypeError:
        raise ValueError(f"frombuffer(): {type(buffer).__name__} does not implement Python buffer protocol") from None


def _count_of(buffer: Any, dtype: np.dtype[Any], count: int, offset: int) -> int:
    """How many elements there are to read, which must be in the buffer."""
    length = _bytes_of(buffer).nbytes
    if length == 0 or count == 0:
        raise ValueError(f"frombuffer(): both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"frombuffer(): offset ({offset} bytes) must be non-negative and less than buffer length ({length} bytes)"
        )
    if count < 0 and (length - offset) % dtype.itemsize:
        raise ValueError(
            f"frombuffer(): buffer length ({length} bytes) after offset ({offset} bytes) must be a multiple of element "
            f"size ({dtype.itemsize})"
        )
    if count * dtype.itemsize > length - offset:
        raise ValueError(
            f"frombuffer(): requested buffer length ({count} * {dtype.itemsize} bytes) after offset ({offset} bytes) "
            f"must not be greater than actual buffer length ({length} bytes)"
        )
    return (length - offset) // dtype.itemsize if count < 0 else count
