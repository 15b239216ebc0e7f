"""Data types of the standard, and what there is to know about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.array_api.operands import DType, Tensor, result_type, tensor_of
from gradsmith.runtime.arrays.dtypes import (
    as_dtype,
    bool_,
    complex64,
    complex128,
    default_complex_dtype,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "__array_namespace_info__", "astype", "can_cast", "complex64", "complex128", "finfo", "float32", "float64", "iinfo",
    "int8", "int16", "int32", "int64", "isdtype", "result_type", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

_ALL = {
    dtype.name: dtype
    for dtype in (
        bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128,
    )
}  # fmt: skip


def astype(x: Tensor, dtype: DType, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """`x` in another dtype, with its history.

    Parameters
    ----------
    copy : bool
        Whether a tensor that has the dtype is copied.
    device : device, optional
        Where the result shall be; by default where `x` is.
    """
    return tensor_of("astype", x).to(x.device if device is None else device, as_dtype(dtype, "astype"), copy=copy)


def can_cast(from_: Any, to: DType, /) -> bool:
    """Whether values of a dtype, or a tensor's, are all values of another."""
    source = from_.dtype if isinstance(from_, Tensor) else as_dtype(from_, "can_cast")
    return bool(np.can_cast(source, as_dtype(to, "can_cast")))


def isdtype(dtype: DType, kind: Any) -> bool:
    """Whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype
    kind : str, dtype or tuple of them
        A dtype, or "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating" or
        "numeric". Of a tuple one must fit.

    Raises
    ------
    ValueError
        There is no such kind.

    Examples
    --------
    >>> import gradsmith.array_api as xp
    >>> xp.isdtype(xp.int8, ("signed integer", xp.float32))
    True
    """
    return bool(np.isdtype(as_dtype(dtype, "isdtype"), kind))


@dataclass(frozen=True)
class FloatInfo:
    """Limits of a floating dtype; those of a complex one are its parts'."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerInfo:
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating dtype, or of a tensor's, as Python floats."""
    info = gs.finfo(type.dtype if isinstance(type, Tensor) else type)
    return FloatInfo(info.bits, info.eps, info.max, info.min, info.smallest_normal, np.dtype(info.dtype))


def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of an integer dtype, or of a tensor's."""
    info = gs.iinfo(type.dtype if isinstance(type, Tensor) else type)
    return IntegerInfo(info.bits, info.max, info.min, np.dtype(info.dtype))


class NamespaceInfo:
    """Capabilities of the namespace.

    Examples
    --------
    >>> import gradsmith.array_api as xp
    >>> xp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int64')
    """

    def capabilities(self) -> dict[str, Any]:
        """Optional abilities: all of them."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Where new tensors are."""
        return gs.get_default_device()

    def devices(self) -> list[Any]:
        """Where tensors with data can be."""
        return [gs.device("cpu")]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Dtypes of Python numbers; `gradsmith.set_default_dtype` sets the floating one."""
        return {
            "real floating": get_default_dtype(),
            "complex floating": default_complex_dtype(),
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The dtypes of the standard, all or those of a kind; see `isdtype`."""
        return {name: dtype for name, dtype in _ALL.items() if kind is None or isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Devices, dtypes, defaults and optional capabilities of the namespace."""
    return NamespaceInfo()
