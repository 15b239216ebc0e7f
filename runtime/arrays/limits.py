"""The limits of element types, as Python's own numbers.

NumPy's are scalars of the type itself. These would take part in arithmetic as arrays do: twice the largest float32
would be infinite, and a list with one of them would not be of the default dtype.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.dtypes import MissingDtype, as_dtype, bool_, get_default_dtype


class _Limits:
    """What both kinds of limits have."""

    __slots__ = ("bits", "dtype", "max", "min")

    bits: int
    dtype: str

    def __eq__(self, other: object) -> bool:
        return self.dtype == other.dtype if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype)


class finfo(_Limits):
    """Limits of floating point numbers; those of a complex dtype are those of its parts.

    Parameters
    ----------
    type : dtype, optional
        Default: the default dtype.

    Attributes
    ----------
    bits : int
        Width of a number.
    dtype : str
        Name of the dtype.
    eps : float
        Distance from 1 to the next larger number.
    max, min : float
        The largest number, and its negative.
    resolution : float
        10 to the minus number of decimals that are kept.
    smallest_normal, tiny : float
        The smallest positive number that has all digits.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.finfo(gs.float32).eps
    1.1920928955078125e-07
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    max: float
    min: float

    def __init__(self, type: Any = None) -> None:
        if isinstance(type, MissingDtype):
            self._take_missing(type)
            return
        dtype = get_default_dtype() if type is None else as_dtype(type, "finfo")
        if dtype.kind not in "fc":
            raise TypeError(
                f"finfo() requires a floating point input type, got {dtype}. iinfo() has the limits of integers"
            )
        limits = np.finfo(dtype)
        self.bits, self.dtype = limits.bits, limits.dtype.name
        self.min, self.max, self.eps = float(limits.min), float(limits.max), float(limits.eps)
        self.smallest_normal = self.tiny = float(limits.smallest_normal)
        self.resolution = 10.0**-limits.precision

    def _take_missing(self, dtype: MissingDtype) -> None:
        """Those of a dtype that NumPy does not have."""
        self.dtype = "float16" if dtype.is_complex else dtype.__name__
        self.bits = 8 * dtype.itemsize // (2 if dtype.is_complex else 1)
        self.min, self.max, self.eps = -dtype.largest, dtype.largest, 2.0**-dtype.mantissa
        self.smallest_normal = self.tiny = dtype.smallest_normal
        self.resolution = 10.0 ** -int(dtype.mantissa * math.log10(2))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits):
    """Limits of integers.

    Parameters
    ----------
    type : dtype

    Attributes
    ----------
    bits : int
        Width of a number.
    dtype : str
        Name of the dtype.
    max, min : int
        The largest and the smallest number.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.iinfo(gs.int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    __slots__ = ()

    max: int
    min: int

    def __init__(self, type: Any) -> None:
        dtype = as_dtype(type, "iinfo")
        if dtype == bool_:
            raise TypeError("bool is not supported by iinfo()")
        if dtype.kind not in "iu":
            raise TypeError(f"iinfo() requires an integer input type, got {dtype}. finfo() has the limits of floats")
        limits = np.iinfo(dtype)
        self.bits, self.dtype, self.min, self.max = limits.bits, dtype.name, int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
