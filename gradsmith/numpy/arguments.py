"""What NumPy's functions do with arguments: arrays of anything, promotion, axes, and `out`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from gradsmith.generated import stack
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing, level_of, trace_of_thread
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.tensors.factories.creation import over_array
from gradsmith.runtime.tensors.factories.python_data import is_tensor as is_tensor

np: Any = numpy  # arguments are handed on to it that its types know nothing of
NO_VALUE = np._NoValue  # NumPy's own mark of what was not given
PYTHON_NUMBERS = (bool, int, float, complex)


def as_tensor(value: Any, dtype: Any = None) -> Any:
    """A tensor of what NumPy would take for an array. Tensors within lists keep their history."""
    if type(value) is Tensor and dtype is None:
        return value
    if type(value) in PYTHON_NUMBERS:
        return wrapped(np.asarray(value, dtype))  # NumPy's error where the number does not fit
    if not is_tensor(value):
        value = _joined(value) if contains_tensor(value) else wrapped(np.asarray(value))
        if not is_tensor(value):
            raise TypeError(f"tensors hold numbers, not elements of dtype {np.asarray(value).dtype}")
    return value if dtype is None else of_dtype(value, dtype)


def of_dtype(tensor: Any, dtype: Any) -> Any:
    """The tensor itself where it has the dtype. As in NumPy, the imaginary part is dropped for a real one."""
    wanted = np.dtype(dtype)
    if tensor.dtype == wanted:
        return tensor
    if tensor.dtype.kind == "c" and wanted.kind not in "cb":
        tensor = tensor.real
    return tensor.to(wanted)


def contains_tensor(value: Any) -> bool:
    """Whether a list or tuple has a tensor in it, at any depth."""
    return type(value) in (list, tuple) and any(is_tensor(item) or contains_tensor(item) for item in value)


def _joined(items: Any) -> Any:
    tensors = common([as_tensor(item) for item in items])
    if len({tuple(tensor.shape) for tensor in tensors}) > 1:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in tensors)
        raise ValueError(f"setting an array element with a sequence: the elements are of the shapes {shapes}")
    return stack(tensors)


def common(tensors: list[Any]) -> list[Any]:
    """The tensors in the dtype that NumPy's promotion gives arrays of these dtypes."""
    dtype = tensors[0].dtype
    if all(tensor.dtype is dtype for tensor in tensors):
        return tensors
    dtype = np.result_type(*[tensor.dtype for tensor in tensors])
    return [of_dtype(tensor, dtype) for tensor in tensors]


# ---- NumPy's side


def array_of(tensor: Any) -> Any:
    """The array of a tensor, which shares its memory, without its history."""
    # Called on the class: CPython 3.11 crashes where `x.method()` of a compiled type has seen instances and then sees
    # the type itself, as `x.pop()` does with `list`.
    return Tensor.detach(tensor).numpy()


def unwrapped(value: Any) -> Any:
    """Arguments for NumPy itself: arrays in place of tensors."""
    return mapped(array_of, value)


def by_numpy(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function of arrays gives, which has no derivative; in a trace a step of the program calls it in each run.

    In a trace it has to give arrays whose shapes do not depend on values.
    """
    tensors = tensors_in([args, kwargs])
    trace = trace_of_thread()
    levels = [level_of(one) for one in tensors if is_batched_tensor(one)]
    if not levels or any(level is not trace for level in levels):
        return wrapped(function(*unwrapped(args), **unwrapped(kwargs)))

    def run(*given: Any) -> Any:
        left = iter(given)
        arguments, options = mapped(lambda _: array_of(next(left)), [args, kwargs])
        return wrapped(function(*arguments, **options))

    return trace.call_of(run, tuple(tensors), function.__name__.lstrip("_"), has_effects=False)


def tensors_in(value: Any) -> list[Any]:
    """The tensors in lists, tuples, slices and dicts, in order."""
    found: list[Any] = []
    mapped(found.append, value)
    return found


def wrapped(value: Any) -> Any:
    """Results of NumPy: tensors in place of arrays and numbers of dtypes that tensors have."""
    if isinstance(value, np.ndarray):
        return _tensor_of(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return _tensor_of(np.asarray(value))
    if type(value) in (list, tuple):
        return type(value)(wrapped(item) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(wrapped, value))
    return value


def _tensor_of(array: Any) -> Any:
    if array.dtype.kind not in "biufc" or array.dtype.char in "gG":
        return array
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if type(array) is not np.ndarray or not native.flags.writeable:
        native = np.array(native)  # a view of read-only memory could be written to
    return over_array(native)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """`function` of each tensor in lists, tuples, slices and dicts; everything else is kept."""
    if is_tensor(value):
        return function(value)
    if type(value) in (list, tuple):
        return type(value)(mapped(function, item) for item in value)
    if type(value) is dict:
        return {key: mapped(function, item) for key, item in value.items()}
    if type(value) is slice:
        return slice(*(mapped(function, part) for part in (value.start, value.stop, value.step)))
    return value


# ---- dtypes


def dtype_of(value: Any) -> Any:
    """For promotion: the dtype of an array, the type of a Python number, which gives way to any dtype of its kind."""
    if is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        return value.dtype
    if type(value) in PYTHON_NUMBERS:
        return type(value)
    return as_tensor(value).dtype


def result_type(*values: Any) -> Any:
    """The dtype that NumPy's promotion gives these operands."""
    examples: dict[Any, Any] = {bool: np.dtype(bool), int: 0, float: 0.0, complex: 0j}
    return np.result_type(*[examples.get(kind, kind) for kind in map(dtype_of, values)])


def floating(tensor: Any) -> Any:
    """Integers and bools as float64, which NumPy computes means and roots in."""
    return tensor if exact(tensor) is False else of_dtype(tensor, np.float64)


def exact(tensor: Any) -> bool:
    """Whether the elements are integers or bools, of which there is no derivative."""
    return tensor.dtype.kind not in "fc"


def is_recorded(tensor: Any) -> bool:
    """Whether a derivative passes through the tensor."""
    return tensor.requires_grad or bool(all_tangents(tensor))


def without_data(tensors: Iterable[Any]) -> bool:
    """Whether NumPy cannot compute with these: meta tensors, those that stand for a batch in `vmap`, any in a trace."""
    return is_tracing() or any(tensor.is_meta or is_batched_tensor(tensor) for tensor in tensors)


def numpys_error(error: Exception, operands: Iterable[Any]) -> Exception:
    """The error of an op in the kind that NumPy's ufunc has: for a dtype without a loop, for shapes that do not fit."""
    if isinstance(error, NotImplementedError):
        return TypeError(str(error))
    if type(error) is RuntimeError:
        try:
            np.broadcast_shapes(*[tuple(getattr(operand, "shape", ())) for operand in operands])
        except ValueError:
            return ValueError(str(error))
    return error


# ---- axes and out


def axis_of(axis: Any, ndim: int) -> int:
    """A single axis, counted from the front."""
    return int(normalize_axis_index(axis, ndim))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """All axes for None."""
    return tuple(range(ndim)) if axis is None else tuple(normalize_axis_tuple(axis, ndim))


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The same for a reduction; an array without dimensions has an axis 0 there, as in NumPy."""
    is_first = isinstance(axis, (int, np.integer)) and axis in (0, -1)
    return () if is_first and not ndim else axes_of(axis, ndim)


def delivered(result: Any, out: Any, casting: Any = "same_kind") -> Any:
    """The result, or `out` with the result in it, which is recorded as a change in place."""
    if type(out) is tuple and len(out) == 1:
        (out,) = out
    if out is None:
        return result
    if tuple(out.shape) != tuple(result.shape):
        raise ValueError(f"out has the shape {tuple(out.shape)}, the result has the shape {tuple(result.shape)}")
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(f"Cannot cast the result from {result.dtype!r} to {out.dtype!r} with casting rule {casting!r}")
    if is_tensor(out):
        return out.copy_(result)
    if is_recorded(result):
        raise RuntimeError("out is an array, which would lose the history of the result; give a tensor")
    np.copyto(out, array_of(result), casting=casting)
    return out
