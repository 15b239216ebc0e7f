"""Boxes: arrays within a function that is being differentiated, and the way into and out of them."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from gradsmith.numpy.arguments import array_of, as_tensor, is_recorded, is_tensor, mapped, np, wrapped

METHODS = (
    "all any argmax argmin argpartition argsort choose clip compress conj conjugate copy cumprod cumsum"
    " diagonal dot max mean min nonzero prod ptp ravel repeat reshape round searchsorted squeeze std sum"
    " swapaxes take trace transpose var"
)


class Box:
    """What stands for a value within a function that is being differentiated.

    `type_mappings` says for a type how a box is made of a value, the trace and the node; libraries add types of theirs.
    """

    __slots__ = ()
    type_mappings: ClassVar[dict[type, Callable[..., Any]]] = {}

    @classmethod
    def register(cls, value_type: type) -> None:
        Box.type_mappings[value_type] = cls


class ArrayBox(Box):
    """An array that is differentiated by, with NumPy's attributes and methods. Users do not make it.

    Libraries make it of a value, a trace and a node, as `Box.type_mappings` says.
    """

    __slots__ = ("tensor",)
    __array_priority__ = 100.0
    __pandas_priority__ = 5000  # above that of tables, so that `column * box` is a box

    def __init__(self, tensor: Any, *trace_and_node: Any) -> None:
        self.tensor = tensor_of(tensor) if trace_and_node else tensor

    @property
    def _value(self) -> Any:
        return getval(self)

    @property
    def _trace(self) -> Any:
        return importlib.import_module("gradsmith.compat.hips.tracer").trace_of(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        return len(self.tensor.shape)

    @property
    def size(self) -> int:
        return int(self.tensor.numel())

    @property
    def dtype(self) -> Any:
        return self.tensor.dtype

    @property
    def T(self) -> Any:
        return _function("transpose")(self)

    @property
    def real(self) -> Any:
        return _function("real")(self)

    @property
    def imag(self) -> Any:
        return _function("imag")(self)

    @property
    def flat(self) -> Any:
        return iter(_function("ravel")(self))

    def flatten(self, order: str = "C") -> Any:
        return _function("ravel")(self, order)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        return boxed(as_tensor(self.tensor, dtype))

    def sort(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("boxes are not changed in place; use np.sort(x)")

    def item(self, *args: Any) -> Any:
        raise TypeError("item() would lose the derivative; getval(x) gives the value alone")

    def tolist(self) -> Any:
        return list(self) if self.ndim == 1 else [row.tolist() for row in self] if self.ndim else self

    def __getitem__(self, index: Any) -> Any:
        return boxed(self.tensor[places(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("'ArrayBox' object does not support item assignment; build the array by np.array or np.where")

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return iter([boxed(row) for row in self.tensor.unbind(0)])

    def __contains__(self, item: Any) -> bool:
        return bool((getval(self) == getval(item)).any())

    def __bool__(self) -> bool:
        return bool(getval(self))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"Autograd ArrayBox with value {getval(self)}"

    def __float__(self) -> float:
        raise TypeError("a float would lose the derivative; getval(x) gives the value alone")

    __int__ = __complex__ = __index__ = __float__

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "an array would lose the derivative; use functions of gradsmith.compat.hips.numpy, np.array(x) among them. "
            "getval(x) gives the value alone"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        function = _function(ufunc.__name__)
        return (function if method == "__call__" else getattr(function, method))(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not (has_box(args) or has_box(kwargs)):
            args = [_listed(arg) for arg in args]  # NumPy has found a box in something that is iterated over
        inner = func.__module__.partition(".")[2]
        space = f"numpy.{inner}" if inner in ("linalg", "fft", "random") else "numpy"
        return getattr(importlib.import_module(f"gradsmith.compat.hips.{space}"), func.__name__)(*args, **kwargs)


def _listed(arg: Any) -> Any:
    found = list(arg) if isinstance(arg, Iterable) and not isinstance(arg, (str, np.ndarray)) else arg
    return found if has_box(found) else arg


@functools.cache
def _function(name: str) -> Any:
    return getattr(importlib.import_module("gradsmith.compat.hips.numpy"), name)


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if name in ("reshape", "transpose") and len(args) > 1:
            args = (args,)
        if name == "transpose" and args == (None,):
            args = ()
        return _function(name)(self, *args, **kwargs)

    method.__name__ = name
    return method


def _operator(name: str, swapped: bool) -> Callable[..., Any]:
    def operator(self: Any, *others: Any) -> Any:
        if any(other is None or isinstance(other, str) for other in others):
            return NotImplemented
        return _function(name)(*others, self) if swapped else _function(name)(self, *others)

    return operator


def _equip() -> None:
    for name in METHODS.split():
        setattr(ArrayBox, name, _method(name))
    pairs = {
        "add": "add", "sub": "subtract", "mul": "multiply", "pow": "power", "mod": "mod", "truediv": "true_divide",
        "matmul": "matmul", "floordiv": "floor_divide", "divmod": "divmod",
    }  # fmt: skip
    for short, name in pairs.items():
        setattr(ArrayBox, f"__{short}__", _operator(name, False))
        setattr(ArrayBox, f"__r{short}__", _operator(name, True))
    rest = {
        "neg": "negative", "pos": "positive", "abs": "abs", "eq": "equal", "ne": "not_equal", "gt": "greater",
        "ge": "greater_equal", "lt": "less", "le": "less_equal",
    }  # fmt: skip
    for short, name in rest.items():
        setattr(ArrayBox, f"__{short}__", _operator(name, False))


_equip()
for _type in (np.ndarray, float, complex, *(np.dtype(char).type for char in "efdgFDG")):
    ArrayBox.register(_type)


# ---- in and out


def boxed(value: Any) -> Any:
    """Results: a tensor with a history becomes a box, another one an array or a number."""
    if is_tensor(value):
        return ArrayBox(value) if is_recorded(value) else array_of(value)[()]
    if isinstance(value, (list, tuple)):
        items = [boxed(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def unboxed(value: Any) -> Any:
    """Arguments for functions of tensors: tensors in place of boxes, and functions that may be given boxes."""
    if isinstance(value, ArrayBox):
        return value.tensor
    if isinstance(value, (list, tuple)):
        items = [unboxed(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: unboxed(item) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(unboxed(part) for part in (value.start, value.stop, value.step)))
    return _of_tensors(value) if inspect.isroutine(value) and not isinstance(value, type) else value


def places(index: Any) -> Any:
    """An index for tensors: arrays in place of lists, and of what NumPy takes for arrays, as columns of tables are."""
    if isinstance(index, tuple):
        return tuple(map(places, index))
    if is_tensor(index) or isinstance(index, np.generic):
        return index
    if isinstance(index, list) or (hasattr(index, "__array__") and not isinstance(index, ArrayBox)):
        array = np.asarray(unboxed_values(index))
        return array.astype(np.intp) if array.dtype.kind in "iu" or (isinstance(index, list) and not index) else array
    return unboxed(index)


def _of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of boxes as one of tensors."""

    @functools.wraps(function)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        return unboxed(function(*mapped(boxed, args), **mapped(boxed, kwargs)))

    return of_tensors


def has_box(value: Any) -> bool:
    """Whether there is a box, in lists, tuples and dicts too."""
    if isinstance(value, ArrayBox):
        return True
    if isinstance(value, (list, tuple)):
        return any(map(has_box, value))
    return isinstance(value, dict) and any(map(has_box, value.values()))


def getval(value: Any) -> Any:
    """The array or number in a box, without its derivative; anything else as it is."""
    return array_of(value.tensor)[()] if isinstance(value, ArrayBox) else value


def unboxed_values(value: Any) -> Any:
    """Trees with the values of their boxes."""
    if isinstance(value, (list, tuple)):
        items = [unboxed_values(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: unboxed_values(item) for key, item in value.items()}
    return getval(value)


def lifted(ours: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """`own` of arrays, and `ours`, a function of tensors, where there is a box among the arguments."""
    return Lifted(ours, own)


class Lifted:
    """A function of arrays and boxes."""

    def __init__(self, ours: Callable[..., Any], own: Callable[..., Any]) -> None:
        self.ours, self.own = ours, own
        self.rules: Any = None  # of the user's, a primitive
        self.__name__ = self.__qualname__ = getattr(own, "__name__", type(own).__name__)
        self.__doc__ = own.__doc__
        self.__module__ = "gradsmith.compat.hips.numpy"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (has_box(args) or has_box(kwargs)):
            return self.own(*args, **kwargs)
        return self.without_rules(*args, **kwargs) if self.rules is None else self.rules(*args, **kwargs)

    def without_rules(self, *args: Any, **kwargs: Any) -> Any:
        if not (has_box(args) or has_box(kwargs)):
            return self.own(*args, **kwargs)
        return boxed(self.ours(*unboxed(args), **unboxed(kwargs)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.own, name)
        return Lifted(getattr(self.ours, name), found) if callable(found) and hasattr(self.ours, name) else found

    def __repr__(self) -> str:
        return f"<function {self.__name__} of arrays and boxes>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


def leaf_of(value: Any) -> Any:
    """A leaf that is differentiated by, as a tensor; libraries have a say in values of their types."""
    made_by = Box.type_mappings.get(type(value), ArrayBox)
    return tensor_of(value) if made_by is ArrayBox else made_by(value, None, None).tensor


def tensor_of(value: Any) -> Any:
    """A number, an array or a box as a tensor.

    Raises
    ------
    TypeError
        There is no derivative by it.
    """
    if isinstance(value, ArrayBox):
        return value.tensor
    if isinstance(value, (bool, int)) or not isinstance(value, (float, complex, np.ndarray, np.generic)):
        raise TypeError(f"Can't differentiate w.r.t. type {type(value)}; give floats, arrays, or trees of these")
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        array = array.astype(np.float64)
    found = wrapped(array)
    if not is_tensor(found):
        raise TypeError(f"Can't differentiate w.r.t. arrays of dtype {array.dtype}")
    return found
