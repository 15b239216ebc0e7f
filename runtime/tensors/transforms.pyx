"""The plain case of `func.grad`, without Python around the user's function.

`gradsmith.func.reverse` has the general case, and the errors.
"""
from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport full_array, is_meta
from gradsmith.runtime.arrays.separate_arrays cimport separate
from gradsmith.runtime.batching.batch cimport living
from gradsmith.runtime.calls.forward_ad cimport alias_of
from gradsmith.runtime.graph.tangent cimport open_levels
from gradsmith.runtime.graph.tensor cimport INFERENCE, REQUIRES_GRAD, TensorBase, wrap, wrap_owned
from gradsmith.runtime.history.history cimport requires_grad
from gradsmith.runtime.switches.array_functions cimport call_of_arrays
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, swap_grad_mode
from gradsmith.runtime.switches.transformed cimport TransformedCall

import numpy as np

from gradsmith.runtime.tensors.entry_points import run_grad, run_transform

cnp.import_array()


def plain_gradient(call, tuple args, dict kwargs, Py_ssize_t position, finish):
    """Gradient of a number that ``call.func`` gives, by a tensor among its arguments; None when this is not so plain.

    The function has been called then only where `finish` is called too: with its result, the private tensor that stood
    for the argument, and whether the caller records.
    """
    if not is_plain(args, position):
        return None
    return gradient_of_call(call, call.func, False, args, kwargs, position, alias_of(<TensorBase>args[position]), finish)


def plain_gradient_of_array(call, function, tuple args, dict kwargs, Py_ssize_t position, finish):
    """The same by an array, or a number, of floating point for `function`, a function of arrays that ``call.func`` wraps.

    The result is an array, or a number of NumPy's. It stays a tensor where something else than this call may have a say.
    """
    array = plain_array(args, position)
    if array is None:
        return None
    found = gradient_of_call(call, function, True, args, kwargs, position, wrap(array), finish)
    if living or open_levels or requires_grad(<TensorBase?>found):
        return found
    array = separate(<object>(<TensorBase>found).array)
    return array if cnp.PyArray_NDIM(<cnp.ndarray>array) else array[()]


cdef object gradient_of_call(
    object call, object function, bint of_arrays, tuple args, dict kwargs, Py_ssize_t position, TensorBase private,
    object finish,
):
    """Call the function with a private tensor in the place of an argument."""
    cdef bint recording = grad_enabled()
    cdef TransformedCall running
    private.flags |= REQUIRES_GRAD
    args = (private,) if len(args) == 1 else (*args[:position], private, *args[position + 1:])
    running = TransformedCall(call, args, kwargs)
    swap_grad_mode(True)
    running.begin()
    try:
        if of_arrays:
            result = call_of_arrays(function, args, kwargs)
        else:
            result = function(*args) if not kwargs else function(*args, **kwargs)
    finally:
        running.end()
        swap_grad_mode(recording)
    if not is_plain_number(result):
        return finish(result, private, recording)
    return gradient_of(<TensorBase>result, private, recording)


cdef object plain_array(tuple args, Py_ssize_t position):
    """The array, or a copy of the number, as tensors have it; None where something else has a say."""
    cdef int number
    if living or open_levels or not 0 <= position < len(args):
        return None
    given = args[position]
    if isinstance(given, float):
        return np.asarray(given)
    if type(given) is not np.ndarray:
        return None
    number = cnp.PyArray_TYPE(<cnp.ndarray>given)
    if number != cnp.NPY_FLOAT and number != cnp.NPY_DOUBLE or not cnp.PyArray_ISBEHAVED_RO(<cnp.ndarray>given):
        return None
    return separate(given)


cdef bint is_plain(tuple args, Py_ssize_t position) except -1:
    """Is the argument a tensor of floats, and is there no other transform around that has a say?"""
    cdef TensorBase tensor
    if living or open_levels or not 0 <= position < len(args) or not isinstance(args[position], TensorBase):
        return False
    tensor = <TensorBase>args[position]
    return (
        cnp.PyArray_ISFLOAT(<cnp.ndarray>tensor.array) and not tensor.flags & INFERENCE and not is_meta(tensor.array)
    )


cdef bint is_plain_number(object result) except -1:
    cdef TensorBase number
    if living or open_levels or not isinstance(result, TensorBase):
        return False
    number = <TensorBase>result
    return (
        cnp.PyArray_NDIM(<cnp.ndarray>number.array) == 0
        and cnp.PyArray_ISFLOAT(<cnp.ndarray>number.array)
        and not is_meta(number.array)
    )


cdef object gradient_of(TensorBase number, TensorBase private, bint recording):
    cdef list found
    if not requires_grad(number):
        return wrap(np.zeros_like(<object>private.array))
    ones = wrap_owned(full_array(cnp.PyArray_TYPE(<cnp.ndarray>number.array), 0, NULL, 1))
    if recording:
        found = run_transform([number], [ones], [private])
    else:
        found = run_grad([number], [ones], False, False, [private])
    return wrap(np.zeros_like(<object>private.array)) if found[0] is None else found[0]
