"""PyTorch's older words for dtypes: the classes ``FloatTensor``, ``LongTensor`` and so on, and what ``x.type()`` says.

No tensor is an instance of such a class, as far as Python knows. Calling one makes a tensor of its dtype, and
``isinstance(x, FloatTensor)`` asks for the dtype of `x`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.runtime.arrays import dtypes
from gradsmith.runtime.arrays.device import as_device, is_device_name
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.tensors.constructor import construct
from gradsmith.runtime.tensors.factories.python_data import is_tensor

__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "ComplexDoubleTensor", "ComplexFloatTensor", "DoubleTensor",
    "FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor", "UInt16Tensor", "UInt32Tensor",
    "UInt64Tensor", "typename",
]  # fmt: skip

# Name of the class -> dtype.
DTYPES: dict[str, np.dtype[Any]] = {
    "BoolTensor": dtypes.bool_,
    "ByteTensor": dtypes.uint8,
    "CharTensor": dtypes.int8,
    "ComplexDoubleTensor": dtypes.complex128,
    "ComplexFloatTensor": dtypes.complex64,
    "DoubleTensor": dtypes.float64,
    "FloatTensor": dtypes.float32,
    "HalfTensor": dtypes.float16,
    "IntTensor": dtypes.int32,
    "LongTensor": dtypes.int64,
    "ShortTensor": dtypes.int16,
    "UInt16Tensor": dtypes.uint16,
    "UInt32Tensor": dtypes.uint32,
    "UInt64Tensor": dtypes.uint64,
}
_OF_DEFAULT_TYPE = ("torch.Tensor", "gradsmith.Tensor")
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class TensorType(type):
    """Class of the typed constructors."""

    dtype: np.dtype[Any]

    def __call__(cls, *args: Any, **named: Any) -> Any:
        """A tensor of the dtype: of a size when given ints, with the elements of a sequence, or a view of a tensor."""
        return construct(args, named, cls.dtype, cls.__name__)

    def __instancecheck__(cls, value: object) -> bool:
        return is_tensor(value) and value.dtype == cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'gradsmith.{cls.__name__}'>"


def _typed(name: str) -> TensorType:
    dtype = DTYPES[name]
    doc = f"Tensors of {dtype.name}: ``{name}(2, 3)``, ``{name}([1, 2])``; `gradsmith.tensor` takes a dtype."
    return TensorType(name, (), {"dtype": dtype, "__doc__": doc, "__module__": "gradsmith"})


BoolTensor = _typed("BoolTensor")
ByteTensor = _typed("ByteTensor")
CharTensor = _typed("CharTensor")
ComplexDoubleTensor = _typed("ComplexDoubleTensor")
ComplexFloatTensor = _typed("ComplexFloatTensor")
DoubleTensor = _typed("DoubleTensor")
FloatTensor = _typed("FloatTensor")
HalfTensor = _typed("HalfTensor")
IntTensor = _typed("IntTensor")
LongTensor = _typed("LongTensor")
ShortTensor = _typed("ShortTensor")
UInt16Tensor = _typed("UInt16Tensor")
UInt32Tensor = _typed("UInt32Tensor")
UInt64Tensor = _typed("UInt64Tensor")


def type_name(tensor: Any) -> str:
    """What PyTorch calls the class of a tensor: ``'torch.FloatTensor'``."""
    return f"torch.{_NAMES[tensor.dtype]}"


def dtype_of_type(value: Any) -> Any:
    """The dtype that an argument of ``x.type(...)`` means: a dtype, one of the classes, or the name of either.

    `Tensor` itself, which PyTorch's older programs call for a tensor of the default dtype, means that one.

    Raises
    ------
    RuntimeError
        For a class of tensors on another device.
    ValueError
        For a text that names no dtype.
    """
    if isinstance(value, TensorType):
        return value.dtype
    if value in _OF_DEFAULT_TYPE or (isinstance(value, type) and issubclass(value, TensorBase)):
        return dtypes.get_default_dtype()
    if not isinstance(value, str):
        return value
    module, _, name = value.rpartition(".")
    if module.removeprefix("torch.") and is_device_name(module.removeprefix("torch.")):
        as_device(module.removeprefix("torch."), "type")
    if name in DTYPES and module in ("", "torch", "gradsmith"):
        return DTYPES[name]
    try:
        return dtypes.as_dtype(name if module in ("torch", "gradsmith") else value, "type")
    except TypeError as error:
        raise ValueError(f"invalid type: {value!r}; {error}") from None


def typename(obj: Any, /) -> str:
    """PyTorch's name for a tensor's type, such as ``"torch.FloatTensor"``, or the qualified name of any other object.

    A class or function gives its own name, any other object that of its class.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.typename(gs.ones(2)), gs.typename(gs.nn.Linear), gs.typename(3)
    ('torch.FloatTensor', 'gradsmith.nn.modules.linear.Linear', 'int')
    """
    if is_tensor(obj):
        return str(obj.type())
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    module = getattr(named, "__module__", None) or ""
    name = str(getattr(named, "__qualname__", None) or named.__name__)
    return name if module in ("", "builtins") else f"{module}.{name}"
