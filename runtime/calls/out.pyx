"""The ``out=`` form: the results of an op, written into tensors that the caller gives.

Every tensor is checked, and its new values are made ready, before the first one is written or resized: what raises
changes none of them.
"""
from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.overlap cimport is_alone
from gradsmith.runtime.batching.batch cimport VmapLevel, innermost_level
from gradsmith.runtime.calls.inplace cimport check_inplace, check_result_dtype
from gradsmith.runtime.graph.indexed_rows cimport fill, is_indexed
from gradsmith.runtime.graph.saved_variable cimport replace_array
from gradsmith.runtime.graph.tangent cimport has_tangent_1
from gradsmith.runtime.graph.tensor cimport REQUIRES_GRAD, TensorBase, array_of, bump_version
from gradsmith.runtime.history.history cimport requires_grad_1
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.dtypes import as_dtype
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.switches import upcalls

cnp.import_array()


cdef object write_result(str op, object out, object result):
    cdef VmapLevel level = innermost_level((out, result))
    if level is not None and level.is_trace:
        return write_traced(op, out, result, level)
    if level is not None:
        raise level.call.error(f"{op}(): the form with out= writes into one tensor for all slices; use the one without")
    if isinstance(result, tuple):
        return write_results(op, out, result)
    check_without_derivative(op, result)
    return write_out(op, out, array_of(<TensorBase>result))


cdef object write_traced(str op, object out, object result, VmapLevel trace):
    """In a trace the result is an op of its own, and is copied; a program does not resize."""
    if isinstance(result, tuple):
        tensors = tensors_of(op, out, result._fields)
        return type(result)._make([write_traced(op, one, values, trace) for one, values in zip(tensors, result)])
    check_without_derivative(op, result)
    if not isinstance(out, TensorBase) or out.shape != result.shape:
        raise trace.call.error(f"{op}(): out= must be a tensor of shape {list(result.shape)}, which is not resized")
    return upcalls.copy_(out, result)


cdef object write_results(str op, object out, object results):
    """Several results, a named tuple, into a tuple or list of as many tensors."""
    cdef tuple tensors, arrays, names, values
    for result in results:
        check_without_derivative(op, result)
    tensors = tensors_of(op, out, results._fields)
    arrays = tuple([array_of(<TensorBase>result) for result in results])
    names = tuple([f"out[{i}] ({field})" for i, field in enumerate(results._fields)])
    for tensor, name, array in zip(tensors, names, arrays):
        check_fits(op, name, tensor, array)
    check_apart(op, tensors, names)
    values = tuple([values_for(tensor, apart_from(tensors, array)) for tensor, array in zip(tensors, arrays)])
    for tensor, name in zip(tensors, names):
        check_inplace(f"{op}, {name}", tensor)
    for tensor, array in zip(tensors, values):
        put(tensor, array)
    return type(results)._make(tensors)


cdef object write_out(str op, object out, object array):
    """One result, an array."""
    check_fits(op, "out", out, array)
    values = values_for(out, array)
    check_inplace(op, out)
    put(out, values)
    return out


def store(str op, out, array):
    """`write_out` for the creation functions, which are Python."""
    if isinstance(out, TensorBase) and is_meta((<TensorBase>out).array) and not is_indexed(<TensorBase>out):
        array = array_without_data(array.shape, array.dtype)
    return write_out(op, out, array)


# ---- what is refused

cdef int check_without_derivative(str op, object result) except -1:
    # Without recording, a result that requires grad is the input itself.
    if (<TensorBase?>result).flags & REQUIRES_GRAD and grad_enabled():
        raise RuntimeError(
            f"{op}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad. Use the form without out=, or no_grad()."
        )
    if has_tangent_1(<TensorBase>result):
        raise NotImplementedError(
            f"{op}(): forward mode does not support functions with out=... arguments, but one of the arguments has a "
            "tangent. Use the form without out=."
        )
    return 0


# Ops that convert to the dtype of `out` before they compute, and the kinds of dtypes in which they do.
cdef dict COMPUTE_IN_OUT = {"sum": "biufc", "prod": "biufc", "cumsum": "biufc", "mean": "fc"}


cdef object dtype_of_out(str op, object out, object input, object dtype):
    """The dtype in which an op computes. Without `dtype=` it is that of `out`; inputs that require grad keep theirs, since
    they are refused later.
    """
    if not isinstance(out, TensorBase) or isinstance(input, TensorBase) and requires_grad_1(<TensorBase>input):
        return dtype
    found = array_of(<TensorBase>out).dtype
    if dtype is None:
        return found if found.kind in COMPUTE_IN_OUT.get(op, "") else None
    check_dtype_of_out(op, found, as_dtype(dtype, op))
    return dtype


cdef int check_dtype_of_out(str op, object found, object wanted) except -1:
    if wanted.kind == "c" and op.endswith("norm"):     # computed from complex numbers, and real
        wanted = np.empty(0, wanted).real.dtype
    if found != wanted:
        raise RuntimeError(f"{op}(): Expected out tensor to have dtype {wanted}, but got {found} instead")
    return 0


cdef tuple tensors_of(str op, object out, tuple fields):
    """The tensors in `out`, which must be as many as there are results."""
    cdef str wanted = f"{op}(): argument 'out' must be a tuple of {len(fields)} Tensors ({', '.join(fields)})"
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{wanted}, not {type(out).__name__}")
    cdef tuple tensors = tuple(out)
    if len(tensors) != len(fields):
        raise TypeError(f"{wanted}, not of {len(tensors)}")
    return tensors


cdef int check_fits(str op, str name, object out, object array) except -1:
    """Refuse what `array` cannot be written into; the caller knows `out` by `name`."""
    cdef TensorBase target
    if not isinstance(out, TensorBase):
        raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(out).__name__}")
    target = out
    if is_indexed(target):
        fill(target)
    if requires_grad_1(target):
        raise RuntimeError(
            f"{op}(): functions with out=... arguments don't support automatic differentiation, but the {name} tensor "
            "requires grad. Use the form without out=, or no_grad()."
        )
    if has_tangent_1(target):
        raise NotImplementedError(
            f"{op}(): forward mode does not support functions with out=... arguments, but the {name} tensor has a "
            "tangent. Use the form without out=."
        )
    if is_meta(target.array) != is_meta(<PyObject *>array):
        raise RuntimeError(
            f"{op}(): the result is on device {'meta' if is_meta(<PyObject *>array) else 'cpu'} and the {name} tensor "
            f"on {target.device}; cross-device copies are not allowed"
        )
    check_out_dtype(op if name == "out" else f"{op}, {name}", array.dtype, target.dtype)
    if array.shape != target.shape and target.numel() != 0:
        check_resized(op, name, target, array.shape)
    return 0


cdef int check_resized(str op, str name, TensorBase target, object shape) except -1:
    """Elements are given up with a warning, as in PyTorch, but memory that others see is not: they would keep the old."""
    if not is_alone(target.array):
        raise RuntimeError(
            f"{op}(): {name} has shape {list(target.shape)} but the result has shape {list(shape)}, and its memory is "
            "that of other tensors or arrays, too; give an out tensor of that shape, or one with no elements to have it "
            "resized"
        )
    warn_caller(
        f"{op}(): An output with one or more elements was resized since it had shape {list(target.shape)}, which does "
        f"not match the required output shape {list(shape)}. This behavior is deprecated. You can explicitly reuse an "
        "out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
    )
    return 0


# Ops that give truth values, as bool or as uint8.
cdef frozenset GIVE_TRUTH = frozenset(("all", "any"))


cdef int check_out_dtype(str op, object found, object target) except -1:
    if op not in GIVE_TRUTH:
        return check_result_dtype(op, found, target)
    if target.kind != "b" and target != np.uint8:
        raise RuntimeError(f"{op} only supports bool and uint8 tensors for result, got: {target}")
    return 0


cdef int check_apart(str op, tuple tensors, tuple names) except -1:
    """Of results in one memory the last would overwrite the others. (PyTorch lets it.)"""
    cdef int i, j
    for i in range(len(tensors)):
        for j in range(i):
            if tensors[i] is tensors[j] or share_elements(tensors[i], tensors[j]):
                raise RuntimeError(
                    f"{op}(): unsupported operation: {names[j]} and {names[i]} refer to the same memory, but each is "
                    "to receive a result of its own. Give tensors that share none."
                )
    return 0


cdef bint share_elements(TensorBase one, TensorBase other) except -1:
    if is_meta(one.array) or is_meta(other.array):
        return False
    return np.shares_memory(<object>one.array, <object>other.array)


# ---- what is written

cdef object apart_from(tuple tensors, object array):
    """`array`, or a copy: a result that shares memory with one of `tensors` would change when that is written."""
    for tensor in tensors:
        if not is_meta(<PyObject *>array) and np.may_share_memory(array, <object>(<TensorBase>tensor).array):
            return array.copy()
    return array


cdef object values_for(TensorBase target, object array):
    """The new value of `target`, in its dtype. Where it is to be resized this is the array that it gets.

    The conversion may raise, for a number that is too large or for lack of memory; the write that follows does not.
    """
    cdef bint resized = array.shape != target.shape
    if is_meta(target.array):
        return array_without_data(array.shape, target.dtype) if resized else array
    if resized or array.dtype != target.dtype:
        return np.array(array, dtype=target.dtype)
    return array


cdef int put(TensorBase target, object values) except -1:
    """Write what fits. No Python code runs, and so no signal handler, between the first of several and the last."""
    if values.shape != target.shape:
        replace_array(target, values)
    elif not is_meta(target.array):
        cnp.PyArray_CopyInto(<cnp.ndarray>target.array, values)
    bump_version(target)
    return 0
