"""Functions that make tensors: from data, filled, ranges, and like another tensor.

They differ in how they get an ndarray; `made` turns it into a tensor.  The random ones
are in `runtime/tensors/factories/random.py`.

All take PyTorch's `layout`, which is `strided` if it is given, and `pin_memory`, which has no effect on a CPU.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, copy_values, element_of, empty_of, has_no_data
from gradsmith.runtime.arrays.device import META, as_device, default_is_meta
from gradsmith.runtime.arrays.dtypes import (
    MissingDtype,
    as_dtype,
    default_complex_dtype,
    get_default_dtype,
    is_complex,
    number_dtype,
    require_supported,
)
from gradsmith.runtime.arrays.memory import is_capsule
from gradsmith.runtime.arrays.memory_format import expect_strided, format_of, preserve_format
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.batching.batch import batched, is_tracing, level_of, physical, trace_of_thread
from gradsmith.runtime.graph.tensor import TensorBase, array_behind, from_array, from_shared_array
from gradsmith.runtime.graph.tensor_api import is_batched
from gradsmith.runtime.switches.truth import check_flag, with_flag
from gradsmith.runtime.tensors.factories import quick, quick_data
from gradsmith.runtime.tensors.factories.no_elements import no_elements
from gradsmith.runtime.tensors.factories.python_data import array_of_data, existing_array, is_tensor, refuse_masked
from gradsmith.runtime.tensors.factories.ranges import (
    first_point,
    integer_count,
    integer_exponents,
    integer_line,
    integer_powers,
    integer_steps,
    line,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.generated.tensor import Tensor
    from gradsmith.runtime.arrays.device import DeviceLike

    Array = np.ndarray[Any, Any]
    DType = np.dtype[Any]

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "linspace",
    "logspace", "ones", "ones_like", "scalar_tensor", "tensor", "zeros", "zeros_like",
]  # fmt: skip


# ---- from data


def tensor(
    data: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Tensor with a copy of `data`.

    Parameters
    ----------
    data : number, nested lists, ndarray, Tensor
        Python floats take the default dtype, integers int64, complex numbers complex64 or
        complex128; what has a dtype keeps it.
    dtype : dtype, optional
        Converts to this dtype.
    requires_grad : bool
        Whether operations on the tensor are recorded.
    pin_memory : bool
        Without effect.

    Raises
    ------
    ValueError
        If nested lists are not equally long; the message names the place.
    """
    for quickly in (quick_data.of_data, quick_data.of_array):
        if (found := quickly(data, dtype, device, requires_grad)) is not None:
            return found
    if isinstance(dtype, MissingDtype):
        length = len(data) if isinstance(data, (list, tuple)) else 1
        return no_elements(dtype, (length,), "tensor")
    if is_tensor(data):
        warn_of_copy("gradsmith.tensor(sourceTensor)")
    return copied(data, dtype, device, requires_grad)


def warn_of_copy(call: str) -> None:
    """Warn where a tensor is copied by a function for data, which leaves its history behind without a word."""
    warn_caller(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {call}."
    )


def copied(
    data: Any, dtype: DTypeLike | None = None, device: DeviceLike | None = None, requires_grad: bool = False
) -> Tensor:
    """The same without a warning."""
    asked = _asked(dtype, "tensor")
    if is_batch(data):
        copy = data.detach().clone() if asked is None else data.detach().to(asked, copy=True)
        return with_flag("tensor", copy, requires_grad)  # type: ignore[no-any-return]
    if is_tensor(data) and data.is_meta and on_meta(device or data.device, "tensor"):
        array = array_without_data(data.shape, asked or data.dtype)
    else:
        array = array_of_data(data, asked, "tensor")
    return made(array, requires_grad, "tensor", device=device)


def as_tensor(data: Any, dtype: DTypeLike | None = None, device: DeviceLike | None = None) -> Tensor:
    """Tensor of `data`, sharing its memory where that is possible.

    A tensor of the asked dtype is returned as it is, with its history; an ndarray is shared;
    anything else is copied.
    """
    dtype = _asked(dtype, "as_tensor")
    if is_tensor(data):
        result = data if dtype is None or data.dtype == dtype else data.to(dtype)
        return _moved(result, device)
    if (found := quick_data.of_data(data, dtype, device, False)) is not None:
        return found
    array = existing_array(data)
    if array is None:
        return made(array_of_data(data, dtype, "as_tensor"), False, "as_tensor", device=device)
    if dtype is not None and dtype != array.dtype:
        return made(array.astype(dtype), False, "as_tensor", device=device)
    return _moved(from_shared_array(array), device)


def _moved(result: Tensor, device: DeviceLike | None) -> Tensor:
    """Result of `as_tensor`, on the requested or the default device."""
    device = META if on_meta(device, "as_tensor") else device
    return result if device is None else result.to(as_device(device, "as_tensor"))


def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Tensor of `obj`: shared when possible, or copied when `copy` is True.

    Parameters
    ----------
    obj : Tensor, array, number, nested sequence of numbers, or DLPack capsule
    dtype, device : optional
        By default those of `obj`.
    copy : bool, optional
        Whether the result has memory of its own; by default where it must.
    requires_grad : bool, optional
        By default that of `obj`. The history of a tensor is that of the result, unless this is False.

    Raises
    ------
    ValueError
        If `copy` is False and a copy cannot be avoided.
    """
    if is_capsule(obj, b"dltensor_versioned") or is_capsule(obj, b"dltensor"):
        from gradsmith.runtime.tensors.factories.exchange import from_dlpack

        obj = from_dlpack(obj)
    if copy and not is_tensor(obj):
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    result = as_tensor(obj, dtype, None if device is None else as_device(device, "asarray"))
    if copy is False and not _shares(obj, result):
        raise ValueError(f"asarray(): cannot make a tensor of this {type(obj).__name__} without a copy")
    if copy and result is obj:
        result = result.clone()
    if requires_grad is None or requires_grad == result.requires_grad:
        return result
    return result.detach().requires_grad_(requires_grad)


def _shares(source: Any, result: Tensor) -> bool:
    if is_tensor(source) and source.is_meta:
        return source is result
    array = existing_array(source)
    return array is not None and (array.size == 0 or np.shares_memory(array, result.numpy(force=True)))


def from_numpy(array: Array | Tensor) -> Tensor:
    """Tensor that shares the memory of an ndarray: changes of one are seen in the other.

    A read-only array gives a tensor whose values cannot be changed in place, and a warning. A tensor is returned as it
    is: functions of NumPy give tensors for tensors, where programs for PyTorch expect arrays.

    Raises
    ------
    TypeError
        If `array` is no ndarray, or its dtype has no place in a tensor.
    """
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        warn_caller(
            "The given NumPy array is not writable: changing this tensor in place raises. Copy the array, or make it "
            "writable, if it is to be changed"
        )
    return over_array(array)


def over_array(array: Array | Tensor) -> Tensor:
    """`from_numpy` for gradsmith's own functions: fixed arrays give no warning."""
    if is_tensor(array):
        return array
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy(): expected np.ndarray (got {type(array).__name__})")
    refuse_masked(array)
    return from_shared_array(array)


# ---- filled


def zeros(
    *size: Any,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Tensor of zeros; `size` is given as numbers or as one sequence."""
    expect_strided("zeros", layout)
    return _filled("zeros", np.zeros, 0, size, named, out, dtype, device, requires_grad)


def ones(
    *size: Any,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    **named: Any,
) -> Tensor:
    """Tensor of ones; `size` is given as numbers or as one sequence."""
    expect_strided("ones", layout)
    return _filled("ones", _ones, 1, size, named, out, dtype, device, requires_grad)


def empty(
    *size: Any,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
    **named: Any,
) -> Tensor:
    """Tensor with uninitialised values."""
    expect_strided("empty", layout)
    if isinstance(dtype, MissingDtype):
        return no_elements(dtype, as_size("empty", size, named), "empty")
    result = _filled("empty", np.empty, None, size, named, out, dtype, device, requires_grad)
    return in_format("empty", result, memory_format)


def _filled(
    op: str,
    fill: Callable[..., Array],
    value: int | None,
    size: tuple[Any, ...],
    named: dict[str, Any],
    out: Tensor | None,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    """Tensor of `value`, which `fill` makes row by row."""
    if out is None and not named:
        found = quick.filled(size, value, dtype, device, requires_grad)
        if found is not None:
            return found
    shape = as_size(op, size, named)
    array = allocate(op, filler(fill, device, out, op), shape, _dtype_or(dtype, out, op))
    return made(array, requires_grad, op, out, device)


def full(
    size: Sequence[int],
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Tensor of one value everywhere; its dtype is that of the value unless given."""
    expect_strided("full", layout)
    if out is None:
        found = quick.full(size, fill_value, dtype, device, requires_grad)
        if found is not None:
            return found
    value = _number("full", "fill_value", fill_value)
    dtype = _asked(dtype, "full") or (number_dtype(value) if out is None else out.dtype)
    shape = as_size("full", (size,), {}, one_number=False)
    array = _fill("full", shape, value, dtype, filler(np.empty, device, out, "full"))
    return made(array, requires_grad, "full", out, device)


def scalar_tensor(
    s: Any,
    *,
    dtype: DTypeLike | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Tensor without dimensions, of the default dtype unless another is given; `tensor` takes the number's own.

    Parameters
    ----------
    s : number
    layout, pin_memory
        Without effect: there is one layout, and one device.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.scalar_tensor(2)
    tensor(2.)
    """
    expect_strided("scalar_tensor", layout)
    found = quick.element(s, dtype, device, requires_grad)
    if found is not None:
        return found
    value, wanted = _number("scalar_tensor", "s", s), _asked(dtype, "scalar_tensor") or get_default_dtype()
    array = _fill("scalar_tensor", (), value, wanted, filler(np.empty, device, None, "scalar_tensor"))
    return made(array, requires_grad, "scalar_tensor", device=device)


def _ones(shape: tuple[int, ...], dtype: DType) -> Array:
    array = np.empty(shape, dtype)
    copy_values(array, element_of(1, array.dtype))
    return array


def _fill(op: str, shape: tuple[int, ...], value: Any, dtype: DType, empty: Callable[..., Array]) -> Array:
    """New array of one value, refused when the dtype has no such value."""
    try:
        element = element_of(value, dtype)
    except RuntimeError:
        raise RuntimeError(f"{op}(): value {value} cannot be converted to type {dtype.name} without overflow") from None
    array = allocate(op, empty, shape, dtype)
    if not has_no_data(array):
        copy_values(array, element)
    return array


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Matrix of `n` rows and `m` (or `n`) columns with ones on the diagonal."""
    expect_strided("eye", layout)
    if out is None:
        found = quick.identity(n, n if m is None else m, dtype, device, requires_grad)
        if found is not None:
            return found
    rows, columns = as_count("eye", "n", n), as_count("eye", "m", n if m is None else m)
    fill = filler(lambda shape, dtype: np.eye(*shape, dtype=dtype), device, out, "eye")
    array = allocate("eye", fill, (rows, columns), _dtype_or(dtype, out, "eye"))
    return made(array, requires_grad, "eye", out, device)


# ---- like another tensor


def zeros_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Tensor of zeros with the shape and dtype of `input`."""
    expect_strided("zeros_like", layout)
    result = _filled_like("zeros_like", np.zeros, 0, input, dtype, device, requires_grad)
    return in_format("zeros_like", result, memory_format)


def ones_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Tensor of ones with the shape and dtype of `input`."""
    expect_strided("ones_like", layout)
    result = _filled_like("ones_like", _ones, 1, input, dtype, device, requires_grad)
    return in_format("ones_like", result, memory_format)


def empty_like(
    input: Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Tensor with the shape and dtype of `input` with uninitialised values."""
    expect_strided("empty_like", layout)
    if memory_format is None and (found := quick.filled_like(input, None, dtype, device, requires_grad)) is not None:
        return found
    if is_batch(input):
        result = like_slices(empty_like, input, requires_grad, dtype=dtype, device=device)
    else:
        shape, dtype, device = like("empty_like", input, dtype, device)
        array = filler(_empty_like(input), device, None, "empty_like")(shape, dtype)
        result = made(array, requires_grad, "empty_like", device=device)
    return in_format("empty_like", result, memory_format)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Tensor of one value with the shape and dtype of `input`."""
    expect_strided("full_like", layout)
    if memory_format is None:
        found = quick.full_like(input, fill_value, dtype, device, requires_grad)
        if found is not None:
            return found
    if is_batch(input):
        result = like_slices(full_like, input, requires_grad, fill_value, dtype=dtype, device=device)
    else:
        shape, dtype, device = like("full_like", input, dtype, device)
        value = _number("full_like", "fill_value", fill_value)
        array = _fill("full_like", shape, value, dtype, filler(_empty_like(input), device, None, "full_like"))
        result = made(array, requires_grad, "full_like", device=device)
    return in_format("full_like", result, memory_format)


def _filled_like(
    op: str,
    fill: Callable[..., Array],
    value: int,
    input: Tensor,
    dtype: DTypeLike | None,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    """Tensor of `value` everywhere, which `fill` makes row by row."""
    if (found := quick.filled_like(input, value, dtype, device, requires_grad)) is not None:
        return found
    if is_batch(input):
        return like_slices(full_like, input, requires_grad, value, dtype=dtype, device=device)
    shape, dtype, device = like(op, input, dtype, device)
    if input.is_contiguous():
        return made(filler(fill, device, None, op)(shape, dtype), requires_grad, op, device=device)
    array = _fill(op, shape, value, dtype, filler(_empty_like(input), device, None, op))
    return made(array, requires_grad, op, device=device)


def is_batch(value: Any) -> bool:
    """Is it a tensor that stands for a batch of slices, under `vmap`?"""
    return is_tensor(value) and is_batched(array_behind(value))


def like_slices(make: Callable[..., Tensor], input: Tensor, requires_grad: bool, *args: Any, **kwargs: Any) -> Tensor:
    """A tensor for each slice of a batch, so that it may be written with what differs from slice to slice."""
    level = level_of(input)
    assert level is not None
    result: Tensor = with_flag(make.__name__, batched(make(physical(input), *args, **kwargs), level), requires_grad)
    return result


def _empty_like(input: Tensor) -> Callable[..., Array]:
    """A function that makes an uninitialised array with the dimension order of `input`."""
    if input.is_contiguous():
        return np.empty
    return lambda shape, dtype: empty_of(array_behind(input), dtype)


def ordered_like(input: Tensor, array: Array) -> Array:
    """A new array of the shape of `input`, with its dimensions in memory in the same order."""
    if input.is_contiguous() or has_no_data(array):
        return array
    ordered = empty_of(array_behind(input), array.dtype)
    ordered[...] = array
    return ordered


# ---- ranges

_BOUNDS = ("start", "end", "step")


def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Values from `start` up to, not including, `end` in steps of `step`.

    Called with one number, that is the end.  All integers give int64, else the default dtype.
    """
    expect_strided("arange", layout)
    if end is None:
        start, end = None, start
        if end is None:
            raise TypeError('arange() missing 1 required positional arguments: "end", as in arange(end)')
    if start is None:
        start = 0
    if out is None:
        found = quick.counted(start, end, step, dtype, device, requires_grad)
        if found is not None:
            return found
    start, end, step = (_real("arange", name, number) for name, number in zip(_BOUNDS, (start, end, step), strict=True))
    dtype = _asked(dtype, "arange") or (_range_dtype(start, end, step) if out is None else out.dtype)
    if dtype.kind in "bc":
        raise NotImplementedError(f"arange(): not defined for dtype {dtype.name}")
    _check_range(start, end, step)
    fill = filler(lambda _, dtype: _range(start, end, step, dtype).astype(dtype, copy=False), device, out, "arange")
    count = integer_count(start, end, step, dtype) if dtype.kind in "iu" else _steps_between(start, end, step)
    return made(allocate("arange", fill, (count,), dtype), requires_grad, "arange", out, device)


def _range_dtype(*bounds: int | float) -> DType:
    return get_default_dtype() if any(isinstance(bound, float) for bound in bounds) else number_dtype(0)


def _range(start: int | float, end: int | float, step: int | float, dtype: DType) -> Array:
    return integer_steps(start, end, step, dtype) if dtype.kind in "iu" else _stepped(start, end, step)


def _check_range(start: int | float, end: int | float, step: int | float) -> None:
    if step == 0:
        raise RuntimeError("arange(): step must be nonzero")
    if not all(map(math.isfinite, (start, end, step))):
        raise RuntimeError(f"arange(): unsupported range: {start} -> {end} in steps of {step}")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange(): no way from {start} to {end} in steps of {step}: the step has the wrong sign")


def _steps_between(start: int | float, end: int | float, step: int | float) -> int:
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return -((start - end) // step)
    return math.ceil((end - start) / step)


def _stepped(start: int | float, end: int | float, step: int | float) -> Array:
    """The values of a range, each rounded once: adding the step up would let errors grow."""
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return np.arange(start, end, step, dtype=np.int64)
    return start + step * np.arange(_steps_between(start, end, step), dtype=np.float64)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """`steps` values evenly spaced from `start` to `end`, both included."""
    expect_strided("linspace", layout)
    if out is None:
        found = quick.spaced(start, end, steps, dtype, device, requires_grad)
        if found is not None:
            return found
    array = _spaced("linspace", start, end, steps, dtype, out, device)
    return made(array, requires_grad, "linspace", out, device)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: Any = 10.0,
    *,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """`steps` values evenly spaced on a logarithmic scale from ``base**start`` to ``base**end``."""
    expect_strided("logspace", layout)
    if out is None:
        found = quick.powers(start, end, steps, base, dtype, device, requires_grad)
        if found is not None:
            return found
    array = _spaced("logspace", start, end, steps, dtype, out, device, _number("logspace", "base", base))
    return made(array, requires_grad, "logspace", out, device)


def _spaced(
    op: str,
    start: Any,
    end: Any,
    steps: Any,
    dtype: DTypeLike | None,
    out: Tensor | None,
    device: DeviceLike | None,
    base: Any = None,
) -> Array:
    """Evenly spaced values, or with a base the powers of it that have them for exponents."""
    first, last = +_number(op, "start", start), +_number(op, "end", end)  # of bools the integers

    def fill(shape: tuple[int, ...], dtype: DType) -> Array:
        if shape[0] < 2:
            return first_point(first, base, shape[0], dtype)
        if dtype.kind in "biu":
            if base is None:
                return integer_line(op, first, last, shape[0], dtype).astype(dtype)
            return integer_powers(base, integer_exponents(op, first, last, shape[0], dtype)).astype(dtype)
        for bound in (first, last):
            element_of(bound, dtype)  # refused where it does not fit
        values = line(first, last, shape[0])
        with np.errstate(all="ignore"):
            return (values if base is None else np.asarray(np.power(base, values))).astype(dtype)

    asked = _spaced_dtype(op, any(isinstance(number, complex) for number in (first, last, base)), dtype, out)
    return allocate(op, filler(fill, device, out, op), (as_count(op, "steps", steps),), asked)


def _spaced_dtype(op: str, has_complex: bool, dtype: DTypeLike | None, out: Tensor | None) -> DType:
    """The asked dtype, by default the default dtype of the numbers' category."""
    asked = _asked(dtype, op)
    if asked is None:
        asked = out.dtype if out is not None else default_complex_dtype() if has_complex else get_default_dtype()
    if has_complex and not is_complex(asked):
        raise RuntimeError(f"{op}(): complex bounds cannot give a tensor of type {asked.name}")
    return asked


# ---- shared by all creation functions, also the random ones


def in_format(op: str, result: Tensor, memory_format: Any) -> Tensor:
    """A new tensor, with its dimensions in memory in the order of a format, which is None for that which they have."""
    if memory_format is None or (order := format_of(op, memory_format)) is preserve_format:
        return result
    ordered = result.detach().contiguous(memory_format=order)
    return ordered.requires_grad_() if result.requires_grad else ordered


def made(
    array: Array, requires_grad: bool, op: str = "", out: Tensor | None = None, device: DeviceLike | None = None
) -> Tensor:
    """The tensor around a new array, on a device, or `out` with its values."""
    check_flag(op, requires_grad)
    if on_meta(device, op, out) and not has_no_data(array):
        array = array_without_data(array.shape, array.dtype)
    if out is not None and is_tracing():
        result = out.copy_(from_array(array))
    elif out is not None:
        _check_out(out, device, op)
        from gradsmith.runtime.calls.out import store

        result = store(op, out, array)
    else:
        result = from_array(array)
    if is_tracing() and out is None:
        result = trace_of_thread().constant(result)
    return with_flag(op, result, requires_grad)


def _check_out(out: Any, device: DeviceLike | None, op: str) -> None:
    if device is not None and is_tensor(out) and out.device != as_device(device, op):
        raise RuntimeError(f"{op}(): device {device} does not match that of the out tensor, {out.device}")


def on_meta(device: DeviceLike | None, op: str, out: Any = None) -> bool:
    """Whether a tensor to be made has no data; without `device` and `out` it is made on the default device."""
    if device is None:
        return out is None and default_is_meta()
    return as_device(device, op) is META


def filler(fill: Callable[..., Array], device: DeviceLike | None, out: Tensor | None, op: str) -> Callable[..., Array]:
    """A function that makes an array of a shape and dtype: `fill`, or its stand-in for a meta tensor."""
    if on_meta(device, op, out) or (device is None and is_tensor(out) and out.is_meta):
        return array_without_data
    return fill


def as_size(op: str, size: tuple[Any, ...], named: dict[str, Any], *, one_number: bool = True) -> tuple[int, ...]:
    """The shape that a caller means by ``(2, 3)``, ``((2, 3),)`` or ``size=(2, 3)``."""
    if named:
        size = _named_size(op, size, named)
    elif not size:
        raise TypeError(f"{op}() missing 1 required positional argument: 'size'")
    if len(size) == 1 and (not one_number or not hasattr(size[0], "__index__")):
        size = size[0]
    try:
        shape = tuple(map(operator.index, size))
    except TypeError:
        raise TypeError(f"{op}(): argument 'size' must be ints or a tuple of ints, not {_type_names(size)}") from None
    if any(length < 0 for length in shape):
        raise RuntimeError(f"{op}(): every dimension must be non-negative, got {shape}")
    return shape


def _named_size(op: str, size: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    unknown = [name for name in named if name != "size"]
    if unknown:
        raise TypeError(f"{op}() got an unexpected keyword argument '{unknown[0]}'")
    if size:
        raise TypeError(f"{op}() got multiple values for argument 'size'")
    return (named["size"],)


def _type_names(value: Any) -> str:
    if not isinstance(value, (tuple, list)):
        return type(value).__name__
    return f"{type(value).__name__} of ({', '.join(type(item).__name__ for item in value)})"


def as_count(op: str, name: str, value: Any) -> int:
    """A non-negative integer argument."""
    try:
        number: Any = None if isinstance(value, bool) else value
        count = operator.index(number)
    except TypeError:
        raise TypeError(f"{op}(): argument '{name}' must be int, not {type(value).__name__}") from None
    if count < 0:
        raise RuntimeError(f"{op}(): {name} must be greater or equal to 0, got {count}")
    return count


def allocate(op: str, fill: Callable[..., Array], shape: tuple[int, ...], dtype: DType) -> Array:
    try:
        return np.asarray(fill(shape, dtype))
    except ValueError as error:  # NumPy: too many dimensions, or more bytes than can be counted
        raise RuntimeError(f"{op}(): cannot make a tensor of shape {shape}: {error}") from None


def like(
    op: str, input: Any, dtype: DTypeLike | None, device: DeviceLike | None
) -> tuple[tuple[int, ...], DType, DeviceLike]:
    """Shape, dtype and device of a tensor to be made like `input`."""
    if not is_tensor(input):
        raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return tuple(input.shape), _asked(dtype, op) or input.dtype, input.device if device is None else device


def _asked(dtype: DTypeLike | None, op: str) -> DType | None:
    return None if dtype is None else as_dtype(dtype, op)


def _dtype_or(dtype: DTypeLike | None, out: Tensor | None, op: str) -> DType:
    """The asked dtype, else that of `out`, else the default."""
    if dtype is not None:
        return as_dtype(dtype, op)
    return get_default_dtype() if out is None else require_supported(out.dtype)


def _number(op: str, name: str, value: Any) -> Any:
    """A number argument as a Python number; a tensor or array with one element counts as one."""
    if isinstance(value, (TensorBase, np.generic, np.ndarray)) and np.prod(value.shape) == 1:
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"{op}(): argument '{name}' must be Number, not {type(value).__name__}")
    return value


def _real(op: str, name: str, value: Any) -> int | float:
    number = _number(op, name, value)
    if isinstance(number, complex):
        raise RuntimeError(f"{op}(): argument '{name}' must be real, got {number}")
    return int(number) if isinstance(number, bool) else number
