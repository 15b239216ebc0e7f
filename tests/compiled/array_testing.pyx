"""Python faces of the array kernels, for tests and benchmarks only.

Arguments and results are ndarrays and go through unchanged; ufuncs are named by
NumPy's upper-case names. ``time_*`` return nanoseconds per call at C level.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from cpython.ref cimport Py_INCREF
from cpython.time cimport perf_counter

from gradsmith.runtime.arrays.array cimport *
from numpy cimport npy_intp

cdef extern from "array_testing_kernels.h":
    # x * scalar; x * (1 - y * y); x + y * z
    const FusedKernel gs_test_scale, gs_test_tanh_backward, gs_test_multiply_add

cdef extern from *:
    """
    static const char *const gs_ufunc_names[] = {
    #define GS_UFUNC(NAME, name, rule, cost) #NAME,
    #include "runtime/arrays/kernels/support/ufunc_list.h"
    #undef GS_UFUNC
    };
    """
    const char *gs_ufunc_names[]
    int GS_N_UFUNCS

cdef dict _numbers = {gs_ufunc_names[i].decode(): i for i in range(GS_N_UFUNCS)}


cdef object _owned(PyObject *array):
    """The object of a new reference."""
    cdef object result = <object>array
    release_array(array)
    return result


cdef PyObject *_pointer(object array) except NULL:
    if type(array).__name__ != "ndarray":
        raise TypeError(f"expected an ndarray, got {type(array).__name__}")
    return <PyObject *>array


def ufunc_names():
    return list(_numbers)


def apply_unary(str name, a, out=None):
    if out is None:
        return _owned(unary(_numbers[name], _pointer(a)))
    unary_into(_numbers[name], _pointer(a), _pointer(out))
    return out


def apply_binary(str name, a, b, out=None):
    if out is None:
        return _owned(binary(_numbers[name], _pointer(a), _pointer(b)))
    binary_into(_numbers[name], _pointer(a), _pointer(b), _pointer(out))
    return out


def apply_scalar(str name, a, number, bint number_first=False, out=None):
    if out is None:
        return _owned(binary_scalar(_numbers[name], _pointer(a), number, number_first))
    binary_scalar_into(_numbers[name], _pointer(a), number, number_first, _pointer(out))
    return out


cdef const FusedKernel *_kernel(str name) except NULL:
    if name == "scale":
        return &gs_test_scale
    if name == "tanh_backward":
        return &gs_test_tanh_backward
    if name == "multiply_add":
        return &gs_test_multiply_add
    return &gs_pass


def apply_fused(str name, list inputs, list scalars=[], reuse=None):
    """The kernel's result, or None when the inputs are not fusable."""
    cdef PyObject *pointers[8]
    cdef double numbers[8]
    cdef PyObject *result
    for i, array in enumerate(inputs):
        pointers[i] = _pointer(array)
    for i, number in enumerate(scalars):
        numbers[i] = number
    result = fused(_kernel(name), pointers, numbers, NULL if reuse is None else _pointer(reuse))
    return None if result == NULL else _owned(result)


def apply_fused_over(str name, list inputs, list scalars, out):
    """Whether the kernel has written its result over `out`."""
    cdef PyObject *pointers[8]
    cdef double numbers[8]
    for i, array in enumerate(inputs):
        pointers[i] = _pointer(array)
    for i, number in enumerate(scalars):
        numbers[i] = number
    return bool(fused_over(_kernel(name), pointers, numbers, _pointer(out)))


def apply_where(condition, a, b):
    return _owned(where(_pointer(condition), _pointer(a), _pointer(b)))


def apply_accumulate(a, b):
    """`a + b` through a slot; the caller's references keep both from being overwritten."""
    cdef PyObject *slot = _pointer(a)
    Py_INCREF(a)
    Py_INCREF(b)
    accumulate(&slot, _pointer(b))
    return _owned(slot)


def accumulate_owned(a, b):
    """`a + b` of copies that only the slot owns, and whether the sum reused one of them."""
    cdef PyObject *slot = clone(_pointer(a))
    cdef PyObject *value = clone(_pointer(b))
    cdef PyObject *first = slot
    cdef PyObject *second = value
    accumulate(&slot, value)
    return _owned(slot), slot == first or slot == second


def apply_cast(a, int type_num):
    return _owned(cast(_pointer(a), type_num))


def apply_clone(a):
    return _owned(clone(_pointer(a)))


def apply_contiguous(a):
    return _owned(contiguous(_pointer(a)))


def apply_copy_into(out, a):
    copy_into(_pointer(out), _pointer(a))
    return out


def apply_fill(out, number):
    fill(_pointer(out), number)
    return out


def apply_sum(a, axes=None, bint keepdims=False):
    return _owned(sum_axes(_pointer(a), axes, keepdims))


def apply_mean(a, axes=None, bint keepdims=False):
    return _owned(mean_axes(_pointer(a), axes, keepdims))


def apply_amax(a, axes=None, bint keepdims=False):
    return _owned(amax_axes(_pointer(a), axes, keepdims))


def apply_amin(a, axes=None, bint keepdims=False):
    return _owned(amin_axes(_pointer(a), axes, keepdims))


def apply_sum_to(a, tuple shape):
    cdef npy_intp dims[64]
    for i, size in enumerate(shape):
        dims[i] = size
    return _owned(sum_to(_pointer(a), len(shape), dims))


def apply_softmax(a, int axis):
    return _owned(softmax(_pointer(a), axis))


def apply_softmax_backward(grad, result, int axis):
    return _owned(softmax_backward(_pointer(grad), _pointer(result), axis))


def apply_log_softmax(a, int axis):
    return _owned(log_softmax(_pointer(a), axis))


def apply_log_softmax_backward(grad, result, int axis):
    return _owned(log_softmax_backward(_pointer(grad), _pointer(result), axis))


def apply_logsumexp(a, axes=None, bint keepdims=False):
    return _owned(logsumexp(_pointer(a), axes, keepdims))


def apply_matmul(a, b, bint transpose_a=False, bint transpose_b=False):
    return _owned(matmul_transposed(_pointer(a), transpose_a, _pointer(b), transpose_b))


def apply_linear(x, weight, bias=None):
    return _owned(linear(_pointer(x), _pointer(weight), NULL if bias is None else _pointer(bias)))


def result_type(a, b):
    return result_type_of(_pointer(a), _pointer(b))


def release_and_allocate(tuple shape, int type_num):
    """Addresses of an array that is released and of the next one of its shape, and what the second looks like."""
    cdef npy_intp dims[64]
    for i, size in enumerate(shape):
        dims[i] = size
    cdef PyObject *first = empty_array(type_num, len(shape), dims)
    release_array(first)
    cdef PyObject *second = empty_array(type_num, len(shape), dims)
    return <size_t>first, <size_t>second, _owned(second)


def release_last(list holder):
    """Release the only reference to the array in `holder`."""
    a = holder.pop()
    cdef PyObject *pointer = _pointer(a)
    Py_INCREF(a)
    a = None
    release_array(pointer)


# ---- timing


cdef double _per_call(double start, int n) noexcept:
    return (perf_counter() - start) * 1e9 / n


cdef int drop(PyObject *array) except -1:
    """Release a result; an error when there is none."""
    if array == NULL:
        return -1
    release_array(array)
    return 0


def time_unary(str name, a, int n):
    cdef int ufunc = _numbers[name], i
    cdef double start = perf_counter()
    for i in range(n):
        drop(unary(ufunc, <PyObject *>a))
    return _per_call(start, n)


def time_binary(str name, a, b, int n):
    cdef int ufunc = _numbers[name], i
    cdef double start = perf_counter()
    for i in range(n):
        drop(binary(ufunc, <PyObject *>a, <PyObject *>b))
    return _per_call(start, n)


def time_scalar(str name, a, number, int n):
    cdef int ufunc = _numbers[name], i
    cdef double start = perf_counter()
    for i in range(n):
        drop(binary_scalar(ufunc, <PyObject *>a, number, False))
    return _per_call(start, n)


def time_fused(str name, list inputs, int n):
    cdef PyObject *pointers[8]
    cdef double numbers[8]
    cdef int i
    for i, array in enumerate(inputs):
        pointers[i] = _pointer(array)
    numbers[0] = 2.0
    cdef const FusedKernel *kernel = _kernel(name)
    cdef double start = perf_counter()
    for i in range(n):
        drop(fused(kernel, pointers, numbers, NULL))
    return _per_call(start, n)


def time_sum(a, axes, int n):
    cdef int i
    cdef double start = perf_counter()
    for i in range(n):
        drop(sum_axes(<PyObject *>a, axes, False))
    return _per_call(start, n)


def time_softmax(a, int axis, int n):
    cdef int i
    cdef double start = perf_counter()
    for i in range(n):
        drop(softmax(<PyObject *>a, axis))
    return _per_call(start, n)


def time_matmul(a, b, bint transpose_a, bint transpose_b, int n):
    cdef int i
    cdef double start = perf_counter()
    for i in range(n):
        drop(matmul_transposed(<PyObject *>a, transpose_a, <PyObject *>b, transpose_b))
    return _per_call(start, n)


def time_linear(x, weight, bias, int n):
    cdef int i
    cdef double start = perf_counter()
    for i in range(n):
        drop(linear(<PyObject *>x, <PyObject *>weight, <PyObject *>bias))
    return _per_call(start, n)
