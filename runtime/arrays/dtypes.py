"""Element types: their names, what is accepted as one, and how two of them combine.

A dtype of gradsmith is a plain ``numpy.dtype``, which gets PyTorch's attributes here.  Only the fourteen in `SUPPORTED`
may be the type of a tensor; everything that takes a ``dtype`` argument passes it
through `as_dtype`, so that an unknown one is refused in one place and one wording.
"""

from __future__ import annotations

import functools
from typing import Any, NoReturn

import numpy as np

from gradsmith.runtime.arrays import array as kernels

float16 = np.dtype(np.float16)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
bool_ = np.dtype(np.bool_)


def _to_real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the parts of complex numbers; any other dtype itself."""
    return np.dtype(dtype.type(0).real.dtype) if dtype.kind == "c" else dtype


def _to_complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The complex dtype whose parts are of this floating dtype."""
    if dtype.kind == "c":
        return dtype
    if dtype not in (float32, float64):
        raise RuntimeError(f"to_complex(): there is no complex dtype of two {dtype}")
    return complex64 if dtype == float32 else complex128


kernels.add_dtype_attributes({
    "is_floating_point": property(lambda dtype: dtype.kind == "f"),
    "is_complex": property(lambda dtype: dtype.kind == "c"),
    "is_signed": property(lambda dtype: dtype.kind in "fci"),
    "to_real": _to_real,
    "to_complex": _to_complex,
})  # fmt: skip


class MissingDtype:
    """A dtype of PyTorch that NumPy does not have. It may be compared with dtypes; no tensor can have it.

    `isinstance` takes it for a dtype, since programs keep it in tables of dtypes. Of its numbers the size and `finfo`
    are known: `itemsize` is in bytes, `mantissa` counts the bits behind the point, and `largest` and `smallest_normal`
    are values.
    """

    __slots__ = ("__name__", "is_complex", "itemsize", "largest", "mantissa", "smallest_normal")

    def __init__(
        self, name: str, itemsize: int, mantissa: int, largest: float, smallest_normal: float, is_complex: bool = False
    ) -> None:
        self.__name__ = name
        self.itemsize = itemsize
        self.mantissa = mantissa
        self.largest = largest
        self.smallest_normal = smallest_normal
        self.is_complex = is_complex

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.dtype

    @property
    def is_floating_point(self) -> bool:
        return not self.is_complex

    @property
    def is_signed(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"gradsmith.{self.__name__}"

    def __reduce__(self) -> str:
        return self.__name__


bfloat16 = MissingDtype("bfloat16", 2, 7, (2 - 2.0**-7) * 2.0**127, 2.0**-126)
complex32 = chalf = MissingDtype("complex32", 4, 10, (2 - 2.0**-10) * 2.0**15, 2.0**-14, is_complex=True)
float8_e4m3fn = MissingDtype("float8_e4m3fn", 1, 3, 1.75 * 2.0**8, 2.0**-6)  # all ones is NaN
float8_e5m2 = MissingDtype("float8_e5m2", 1, 2, 1.75 * 2.0**15, 2.0**-14)
MISSING = {dtype.__name__: dtype for dtype in (bfloat16, complex32, float8_e4m3fn, float8_e5m2)}

# In the order in which messages list them.
SUPPORTED = (
    float64, float32, float16, complex64, complex128,
    int64, int32, int16, int8, uint64, uint32, uint16, uint8, bool_,
)  # fmt: skip

# PyTorch's second names.  Three of them are names of Python builtins, which is why
# they are handed out by `gradsmith/__init__.py` and are no globals of this module.
ALIASES: dict[str, np.dtype[Any]] = {
    "half": float16,
    "float": float32,
    "double": float64,
    "cfloat": complex64,
    "cdouble": complex128,
    "short": int16,
    "int": int32,
    "long": int64,
    "bool": bool_,
}

_PYTHON_TYPES: dict[Any, np.dtype[Any]] = {bool: bool_, int: int64, float: float64, complex: complex128}

# Everything that names a supported dtype: the dtype, its scalar type, a Python type, its text.
# A second type number of equal width (`longlong` beside `int64`) compares equal and
# is turned into the usual one here.
_KNOWN: dict[Any, np.dtype[Any]] = {
    **{dtype: dtype for dtype in SUPPORTED},
    **{dtype.type: dtype for dtype in SUPPORTED},
    **{dtype.name: dtype for dtype in SUPPORTED},
    **ALIASES,
    **_PYTHON_TYPES,
}

_COMPLEX_OF: dict[np.dtype[Any], np.dtype[Any]] = {float16: complex64, float32: complex64, float64: complex128}

_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def as_dtype(value: Any, op: str) -> np.dtype[Any]:
    """The supported dtype that `value` names.

    Parameters
    ----------
    value : numpy.dtype, str, type
        A dtype, its name, a NumPy scalar type, or Python's bool, int, float or complex.
    op : str
        The caller, named in the message.

    Raises
    ------
    TypeError
        If `value` names no dtype, or one that a tensor cannot have.
    """
    try:
        return _KNOWN[value]
    except (KeyError, TypeError):  # TypeError: not hashable
        return _as_rare_dtype(value, op)


def _as_rare_dtype(value: Any, op: str) -> np.dtype[Any]:
    """A dtype that NumPy understands beyond the names above (``"f4"``, ``np.number`` ...), or the error."""
    if isinstance(value, MissingDtype):
        refuse_missing(value, op)
    if value is None or not isinstance(value, (str, type, np.dtype)):
        raise TypeError(f"{op}(): argument 'dtype' must be a dtype, not {type(value).__name__}")
    try:
        dtype = np.dtype(value)
    except TypeError:
        raise TypeError(f"{op}(): {_unknown(value)}") from None
    return require_supported(dtype)


def refuse_missing(dtype: MissingDtype, op: str) -> NoReturn:
    raise TypeError(
        f"{op}(): NumPy has no dtype {dtype.__name__}, so no tensor can have it. gradsmith.float32 is the dtype of "
        "parameters, and gradsmith.float16 takes half the memory"
    )


def _unknown(value: Any) -> str:
    from difflib import get_close_matches

    names = [key for key in _KNOWN if type(key) is str]
    near = get_close_matches(value, names, n=1) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown dtype {value!r}.{hint} Known: {_listing()}"


def _listing() -> str:
    names = [dtype.name for dtype in SUPPORTED]
    return f"{', '.join(names[:-1])}, and {names[-1]}."


def require_supported(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The usual form of an array's dtype, or the error that a tensor cannot have it."""
    known = _KNOWN.get(dtype)
    if known is not None:
        return known
    if dtype.newbyteorder("=") in _KNOWN:
        raise ValueError(
            f"the array's byte order ({dtype.str!r}) differs from the machine's, which is not supported. "
            "Convert it first: array.astype(array.dtype.newbyteorder('='))"
        )
    raise TypeError(
        f"can't convert np.ndarray of type numpy.{dtype.type.__name__}. The only supported types are: {_listing()}"
    )


def check_array_dtype(array: np.ndarray[Any, Any]) -> None:
    """Refuse an array whose elements cannot be a tensor's: objects, text, dates, foreign byte order."""
    if array.dtype not in _KNOWN:
        require_supported(array.dtype)


def get_default_dtype() -> np.dtype[Any]:
    """The floating dtype given to Python floats (float32 unless set)."""
    return kernels.get_default_dtype()


def set_default_dtype(dtype: Any) -> None:
    """Set the floating dtype given to Python floats.

    Parameters
    ----------
    dtype : numpy.dtype, str or type
        float32, float64 or float16.
    """
    dtype = as_dtype(dtype, "set_default_dtype")
    if dtype.kind != "f":
        raise TypeError(
            "only floating-point types are supported as the default type: float32, float64 or float16, got "
            f"{dtype.name}"
        )
    kernels.set_default_dtype(dtype)


def default_complex_dtype() -> np.dtype[Any]:
    """The complex dtype whose parts have the default dtype."""
    return complex128 if get_default_dtype() == float64 else complex64


def is_floating_point(input: Any) -> bool:
    """Whether a tensor or dtype is of a real floating type."""
    return bool(_dtype_of(input, "is_floating_point").kind == "f")


def is_complex(input: Any) -> bool:
    """Whether a tensor or dtype is of a complex type."""
    return bool(_dtype_of(input, "is_complex").kind == "c")


def _dtype_of(value: Any, op: str) -> np.dtype[Any]:
    dtype = getattr(value, "dtype", None)
    # A NumPy scalar type has a `dtype` too, but there it is a descriptor.
    return dtype if isinstance(dtype, np.dtype) else as_dtype(value, op)


def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """The dtype of the result of an op on tensors of the two dtypes.

    The higher category (bool, integer, floating, complex) wins, whatever the widths:
    int64 with float32 is float32, where NumPy would give float64.
    """
    if bfloat16 in (type1, type2):
        promoted: np.dtype[Any] = _promoted_with_bfloat16(type2 if type1 is bfloat16 else type1)
        return promoted
    first, second = as_dtype(type1, "promote_types"), as_dtype(type2, "promote_types")
    low, high = sorted((first, second), key=category)
    if category(low) == category(high) or (high.kind == "c" and low.kind == "f"):
        result = np.promote_types(low, high)
        if category(result) != category(high):  # uint64 with a signed integer
            raise RuntimeError(f"promotion of {first.name} and {second.name} is not supported: no integer holds both")
        return _KNOWN[result]
    return high


def _promoted_with_bfloat16(other: Any) -> Any:
    """What PyTorch makes of bfloat16 and another dtype, for programs that ask; no tensor has it here."""
    if other is bfloat16:
        return bfloat16
    dtype = as_dtype(other, "promote_types")
    if category(dtype) < category(float32):
        return bfloat16
    return float32 if dtype == float16 else dtype


def category(dtype: np.dtype[Any]) -> int:
    """0 for bool, 1 for integers, 2 for floating, 3 for complex."""
    return _CATEGORY[dtype.kind]


def can_cast(from_: Any, to: Any) -> bool:
    """Whether an op may write values of the first dtype into a tensor of the second.

    Widths do not matter, categories do: float64 goes into float32, float32 not into int64.
    """
    source, target = (float32 if one is bfloat16 else as_dtype(one, "can_cast") for one in (from_, to))
    return category(source) <= category(target)


def result_type(tensor1: Any, tensor2: Any) -> np.dtype[Any]:
    """The dtype of the result of an op on two tensors or numbers.

    A tensor without dimensions, and still more a number, changes the dtype of an
    operand with dimensions only by its category: float32 with the number 2.0 stays
    float32, int64 with 2.0 becomes the default dtype.
    """
    return common_dtype(tensor1, tensor2)


def common_dtype(*operands: Any) -> np.dtype[Any]:
    """The dtype in which an op computes with all of these tensors and numbers; see `result_type`."""
    by_rank: dict[int, np.dtype[Any]] = {}
    for rank, dtype in map(_operand, operands):
        by_rank[rank] = promote_types(by_rank[rank], dtype) if rank in by_rank else dtype
    strongest_first = [by_rank[rank] for rank in sorted(by_rank, reverse=True)]
    return functools.reduce(_with_weak, strongest_first)


def _with_weak(strong: np.dtype[Any], weak: np.dtype[Any]) -> np.dtype[Any]:
    if category(weak) <= category(strong):
        return strong
    # The width of the weak one counts only where the strong one has none: complex numbers keep that of the floats.
    return _COMPLEX_OF.get(strong, weak)


def _operand(value: Any) -> tuple[int, np.dtype[Any]]:
    """Rank in promotion (0 number, 1 without dimensions, 2 with) and dtype."""
    if isinstance(value, np.generic) and value.dtype.kind in _CATEGORY:  # a number as any other, as for ops
        value = value.item()
    if isinstance(value, (bool, int, float, complex)):
        return 0, number_dtype(value)
    dtype = _dtype_of(value, "result_type")
    return (2 if value.ndim else 1), dtype


def number_dtype(value: bool | int | float | complex) -> np.dtype[Any]:
    """The dtype of a tensor made of this Python number."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return get_default_dtype() if isinstance(value, float) else default_complex_dtype()
