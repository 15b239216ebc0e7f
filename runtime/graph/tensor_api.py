"""Python side of `TensorBase`: conversions to Python values, copying, pickling."""

from __future__ import annotations

import copy as copy_module
import math
import warnings
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, empty_of, has_no_data

# NumPy asks for an array in np.array([t, u]), array.dot(t) and array[...] = t alike, and does not say which it was.
NO_ARRAY_WITH_GRADIENT = (
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead. An array keeps no gradient; "
    "what does: gradsmith.numpy.array([t, u]) or gradsmith.stack of a list, array @ t or np.dot(array, t) of a product"
)

# Of a thread that traces a function: raises for what asks for a value. None until a trace has been made.
when_read: Any = None

# ---- batched tensors, whose arrays have a batch for their base; see runtime/batching


def data_of(array: np.ndarray[Any, Any]) -> Any:
    """The data of the batch."""
    return array.base.all_slices  # type: ignore[union-attr]


VALUE = "the value of a tensor (item(), or bool(), int() and float() of it)"


def known(array: np.ndarray[Any, Any], what: str) -> np.ndarray[Any, Any]:
    """The elements of a stand-in where these are the same for all that it stands for; else the error for `what`."""
    found = array.base.known()  # type: ignore[union-attr]
    if found is None:
        raise refused(array, what)
    return found  # type: ignore[no-any-return]


def refused(array: np.ndarray[Any, Any], what: str) -> Exception:
    """The error for what asks for a value, which differs from slice to slice."""
    return array.base.error(what)  # type: ignore[union-attr, no-any-return]


def is_batched(array: np.ndarray[Any, Any]) -> bool:
    """Is it the stand-in for an array of a batch?"""
    return hasattr(array.base, "all_slices") and has_no_data(array)


# ---- indexed gradients; see indexed_rows.pyx


def fill(tensor: Any) -> None:
    """Make an ordinary tensor of an indexed gradient."""
    from gradsmith.runtime.graph.indexed_rows import fill_tensor

    fill_tensor(tensor)


# ---- values within functions that are being differentiated


def is_given_arrays(call: Any) -> bool:
    """Is this call of a transform, or one around it, that of a function of arrays? See gradsmith.func.arrays."""
    while call is not None:
        if getattr(getattr(call.transform, "func", None), "is_given_arrays", False):
            return True
        call = call.outer
    return False


def warn_of_constant() -> None:
    """A tensor that is being differentiated becomes a number."""
    warnings.warn(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior: it is a constant of "
        "the function that is being differentiated. Consider using tensor.detach() first.",
        UserWarning,
        stacklevel=2,
    )


# ---- values


def item(array: np.ndarray[Any, Any]) -> Any:
    """The only element of `array` as a Python number."""
    if array.size != 1:
        raise RuntimeError(
            f"a Tensor with {array.size} elements cannot be converted to Scalar; its shape is {list(array.shape)}"
        )
    return _value(array)


def number(array: np.ndarray[Any, Any]) -> Any:
    """The only element for ``float(x)`` and the like, where Python expects a ValueError."""
    if array.size != 1:
        raise ValueError(
            "only one element tensors can be converted to Python scalars, got one of shape "
            f"{list(array.shape)} with {array.size} elements"
        )
    return _value(array)


def real_number(array: np.ndarray[Any, Any]) -> Any:
    """The only element for ``int(x)`` and ``float(x)``, which take a complex number that is real."""
    value = number(array)
    if not isinstance(value, complex):
        return value
    if value.imag != 0:
        raise RuntimeError(
            f"value cannot be converted to a real number without overflow: {value} has an imaginary part"
        )
    return value.real


def _value(array: np.ndarray[Any, Any]) -> Any:
    if has_no_data(array):
        if is_batched(array):
            return known(array, VALUE).item()
        raise RuntimeError("Tensor.item() cannot be called on meta tensors: they have no data")
    if when_read is not None:
        when_read(VALUE)
    return array.item()


def tolist(array: np.ndarray[Any, Any]) -> Any:
    """Nested lists of Python numbers."""
    if has_no_data(array):
        if is_batched(array):
            return known(array, "tolist()").tolist()
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if when_read is not None:
        when_read("tolist()")
    return array.tolist()


def contains(array: np.ndarray[Any, Any], element: Any) -> bool:
    """Is an element of `array` equal to `element`, a number or a tensor that broadcasts?"""
    from gradsmith.runtime.graph.tensor import TensorBase

    if not isinstance(element, (TensorBase, bool, int, float, complex, np.number, np.bool_)):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element).__name__}"
        )
    other = element.numpy(force=True) if isinstance(element, TensorBase) else element
    if has_no_data(array):
        if is_batched(array):
            raise refused(array, "`in`")
        raise RuntimeError("Tensor.item() cannot be called on meta tensors: they have no data")
    return bool((array == other).any())


def truth(array: np.ndarray[Any, Any]) -> bool:
    """Truth of a one-element array."""
    if array.size != 1:
        values = "no values" if array.size == 0 else "more than one value"
        raise RuntimeError(
            f"Boolean value of Tensor with {values} is ambiguous; its shape is {list(array.shape)}. "
            "Use .any() or .all()."
        )
    return bool(_value(array))


def index(array: np.ndarray[Any, Any]) -> int:
    """A one-element integer array as an index."""
    if array.size != 1 or array.dtype.kind not in "iub":
        raise TypeError(
            "only integer tensors of a single element can be converted to an index, got a "
            f"{array.dtype} tensor of shape {list(array.shape)}"
        )
    return int(_value(array))


def strides_of(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Strides in elements; those of a contiguous tensor where there is no data, or NumPy gives none to no elements."""
    if is_batched(array):
        return array.base.steps  # type: ignore[union-attr, no-any-return]
    if has_no_data(array) or (array.size == 0 and not any(array.strides)):
        return tuple(math.prod(max(n, 1) for n in array.shape[axis + 1 :]) for axis in range(array.ndim))
    steps = [step // array.itemsize for step in array.strides]
    for axis in reversed(range(array.ndim)):
        if array.shape[axis] == 1 and not steps[axis]:  # NumPy's of a new dimension
            steps[axis] = array.shape[axis + 1] * steps[axis + 1] if axis + 1 < array.ndim else 1
    return tuple(steps)


def size_of(sizes: tuple[int, ...], dim: int) -> int:
    """Entry of a shape (or of strides) for a dimension, which may be negative."""
    ndim = len(sizes)
    if not -ndim <= dim < ndim:
        low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return sizes[dim]


def format_tensor(tensor: Any, array: np.ndarray[Any, Any], specification: str, is_plain: bool) -> str:
    """``format(tensor, ...)``: that of the only element, or of each one where a format is given.

    Parameters, and what has no data, have the text of the tensor in the place of their element, as in PyTorch.
    """
    if not specification and (array.ndim or not is_plain or has_no_data(array)):
        return repr(tensor)
    if array.ndim == 0:
        return format(item(array), specification)
    return _format_elements(tolist(tensor.numpy(force=True)), specification)


def _format_elements(values: Any, specification: str) -> str:
    if not isinstance(values, list):
        return format(values, specification)
    return f"[{', '.join(_format_elements(value, specification) for value in values)}]"


def deepcopy(tensor: Any, memo: dict[int, Any]) -> Any:
    """Copy of a leaf with its gradient. What shares memory with it shares that of the copy, when it is copied along."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment; "
            "detach() or clone() the tensor instead"
        )
    from gradsmith.runtime.graph.tensor import from_array

    copy = _as_leaf(type(tensor), from_array(_array_of_copy(tensor, memo)), tensor.requires_grad)
    memo[id(tensor)] = copy
    if attributes := _attributes(tensor):
        copy.__dict__ = copy_module.deepcopy(attributes, memo)
    if tensor.grad is not None:
        copy.grad = deepcopy(tensor.grad if tensor.grad.is_leaf else tensor.grad.detach(), memo)
    return copy


def reduce_leaf(tensor: Any) -> tuple[Any, ...]:
    """Pickle a tensor that goes to another process, where a history would be missed and not only be left behind."""
    if not tensor.is_leaf:
        raise RuntimeError(
            "only leaf tensors go to other processes: the recorded history of this one cannot be sent; detach() it "
            "first"
        )
    return tensor.__reduce_ex__(5)  # type: ignore[no-any-return]


def reduce(tensor: Any) -> tuple[Any, ...]:
    """Pickle class, array, and whether it requires grad. A history stays behind: what had one comes back a leaf."""
    state = _attributes(tensor) or None  # which pickle puts into the tensor's `__dict__`
    if tensor.is_meta:
        return _rebuild_without_data, (type(tensor), tensor.shape, tensor.dtype, tensor.requires_grad), state
    return _rebuild, (type(tensor), tensor.numpy(force=True), tensor.requires_grad), state


def copy(tensor: Any) -> Any:
    """Another tensor over the same memory: of a leaf a leaf, of anything else a view."""
    plain = tensor.detach().requires_grad_(tensor.requires_grad) if tensor.is_leaf else tensor.view(tensor.shape)
    result = plain if type(plain) is type(tensor) else _as_class(plain, tensor)
    if attributes := _attributes(tensor):
        result.__dict__.update(attributes)
    return result


def _as_class(plain: Any, tensor: Any) -> Any:
    cls = type(tensor)
    return tensor._make_subclass(cls, plain, tensor.requires_grad) if tensor.is_leaf else tensor.as_subclass(cls)


def _attributes(tensor: Any) -> dict[str, Any]:
    from gradsmith.runtime.graph.attributes import attributes_if_any

    return attributes_if_any(tensor)


def _array_of_copy(tensor: Any, memo: dict[int, Any]) -> np.ndarray[Any, Any]:
    """An array for a deep copy.

    The memory of a tensor is copied as a whole, once for all tensors that are over it: `memo` has the copy.
    """
    root = None if tensor.is_meta else _root_of(tensor)
    if root is None:
        return copied_array(tensor)
    copy = memo.get(id(root))
    if copy is None:
        copy = memo[id(root)] = root.copy(order="K")
    array = tensor.numpy(force=True)
    offset = array.ctypes.data - root.ctypes.data
    part: np.ndarray[Any, Any] = np.ndarray(array.shape, array.dtype, copy.ravel(order="K"), offset, array.strides)
    return part


def _root_of(tensor: Any) -> np.ndarray[Any, Any] | None:
    """The array whose memory the tensor shows, or part of it. None where that is not to be copied as a whole."""
    from gradsmith.runtime.graph.tensor import array_behind

    array = tensor.numpy(force=True)  # an error where there is no value
    root = array_behind(tensor)
    while isinstance(root.base, np.ndarray):
        root = root.base
    is_memory = type(root) is np.ndarray and root.flags.forc and np.may_share_memory(array, root)
    return root if is_memory else None  # the array of a batch is no memory of its values


def copied_array(tensor: Any) -> np.ndarray[Any, Any]:
    """An array for a copy of the tensor, on its device."""
    if tensor.is_meta:
        return array_without_data(tensor.shape, tensor.dtype)
    array = tensor.numpy(force=True)
    copy = empty_of(array, array.dtype)
    copy[...] = array
    return copy


def _rebuild_without_data(cls: Any, shape: tuple[int, ...], dtype: np.dtype[Any], requires_grad: bool) -> Any:
    return _rebuild(cls, array_without_data(shape, dtype), requires_grad)


def _rebuild(cls: Any, array: np.ndarray[Any, Any], requires_grad: bool) -> Any:
    from gradsmith.runtime.graph.tensor import from_shared_array

    return _as_leaf(cls, from_shared_array(array), requires_grad)


def _as_leaf(cls: Any, plain: Any, requires_grad: bool) -> Any:
    return plain.requires_grad_(requires_grad) if type(plain) is cls else cls._make_subclass(cls, plain, requires_grad)
