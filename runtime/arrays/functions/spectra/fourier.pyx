"""Discrete Fourier transforms along several dimensions, by NumPy's pocketfft, which keeps single precision.

Each is divided by a power of the number of elements: 0 for none, 0.5 for a unitary transform, 1.
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.arrays.functions.spectra.lines cimport transformed_lines
from gradsmith.runtime.arrays.functions.spectra.short cimport few_along

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.arrays.functions.spectra.loops import HAS_UFUNCS, along, complex_dtype, factor, real_along, to_real_along, ufuncs

cnp.import_array()

cdef enum:
    MOST = 256      # numbers along a dimension that are a few

cdef object FORWARD = ufuncs.fft if HAS_UFUNCS else None
cdef object BACKWARD = ufuncs.ifft if HAS_UFUNCS else None
cdef object REAL_EVEN = ufuncs.rfft_n_even if HAS_UFUNCS else None
cdef object REAL_ODD = ufuncs.rfft_n_odd if HAS_UFUNCS else None
cdef object TO_REAL = ufuncs.irfft if HAS_UFUNCS else None


cpdef object dft_of(object a, object dims, double power, bint inverse):
    """Transform of complex or real numbers into as many complex numbers."""
    a = floating(a)
    check_distinct(a, dims)
    if is_meta(<PyObject *>a):
        return array_without_data(a.shape, complex_dtype(a))
    if not dims:
        return a.astype(complex_dtype(a))
    last = len(dims) - 1
    return transformed_in_place(transformed(a, dims[last], power, inverse), reversed(dims[:last]), power, inverse)


cpdef object real_dft_of(object a, object dims, double power):
    """Transform of real numbers, with the nonnegative frequencies of the last dimension of `dims`."""
    if cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(<cnp.ndarray>a)):
        raise RuntimeError(f"rfft expects a real input tensor, but got {a.dtype}")
    a = floating(a)
    check_distinct(a, dims)
    if not dims:
        raise RuntimeError("fft: rfftn and ihfftn must transform at least one axis")
    last = dims[len(dims) - 1]
    if is_meta(<PyObject *>a):
        return array_without_data(resized(a.shape, last, a.shape[last] // 2 + 1), complex_dtype(a))
    found = real_transformed(a, last, power)
    return transformed_in_place(found, reversed(dims[:len(dims) - 1]), power, False)


cpdef object dft_to_real_of(object a, object dims, double power, object size):
    """The inverse of `real_dft_of`, not normalised; `size` is the size of the last dimension of `dims`."""
    a = floating(a)
    check_distinct(a, dims)
    last = dims[len(dims) - 1]
    check_half("irfft", a.shape[last], size)
    if is_meta(<PyObject *>a):
        return array_without_data(resized(a.shape, last, size), complex_dtype(a).char.lower())
    if len(dims) > 1:
        a = transformed_in_place(transformed(a, dims[0], power, True), dims[1 : len(dims) - 1], power, True)
    return made_real(a, last, power, size)


# ---- along one dimension: of a few numbers without the ufuncs, to which the rest is left


cdef object transformed_in_place(object a, object dims, double power, bint inverse):
    """Transform along several dimensions. Nobody else may hold the array: the result may reuse its memory."""
    for dim in dims:
        a = transformed(a, dim, power, inverse, True)
    return a


cdef object transformed(cnp.ndarray a, int dim, double power, bint inverse, bint in_place=False):
    cdef npy_intp length = length_along(a, dim)
    if 0 < length <= MOST:
        few = few_along(BACKWARD if inverse else FORWARD, a, dim, length, complex_type(a), scale_of(a, length, power))
        if few is not None:
            return few
    lines = transformed_lines(a, dim, inverse, scale_of(a, length, power), in_place) if length else None
    return along(a, dim, power, inverse) if lines is None else lines


cdef object real_transformed(cnp.ndarray a, int dim, double power):
    cdef npy_intp length = length_along(a, dim)
    if 0 < length <= MOST:
        loop = REAL_ODD if length % 2 else REAL_EVEN
        few = few_along(loop, a, dim, length // 2 + 1, complex_type(a), scale_of(a, length, power))
        if few is not None:
            return few
    return real_along(a, dim, power)


cdef object made_real(cnp.ndarray a, int dim, double power, npy_intp size):
    cdef int type_number = cnp.NPY_FLOAT32 if complex_type(a) == cnp.NPY_COMPLEX64 else cnp.NPY_FLOAT64
    if 0 < size <= MOST:
        few = few_along(TO_REAL, a, dim, size, type_number, scale_of(a, size, power))
        if few is not None:
            return few
    return to_real_along(a, dim, power, size)


cdef npy_intp length_along(cnp.ndarray a, int dim) noexcept:
    cdef int ndim = cnp.PyArray_NDIM(a)
    dim += ndim if dim < 0 else 0
    return cnp.PyArray_DIM(a, dim) if 0 <= dim < ndim else 0


cdef int complex_type(cnp.ndarray a) noexcept:
    cdef int number = cnp.PyArray_TYPE(a)
    return cnp.NPY_COMPLEX64 if number == cnp.NPY_FLOAT32 or number == cnp.NPY_COMPLEX64 else cnp.NPY_COMPLEX128


cdef object scale_of(cnp.ndarray a, npy_intp length, double power):
    return 1 if power == 0 else factor(length, power, complex_dtype(a))


# ---- parts of transforms


cpdef object scaled_pairs_of(object a, object dim, object size, object factor):
    """Scale the frequencies that also stand for their negatives: all but zero, and half of an even size."""
    check_half("scaled_pairs", a.shape[dim], size)
    scales = np.full(a.shape[dim], factor, a.real.dtype)
    scales[0] = 1
    if size % 2 == 0:
        scales[size // 2 :] = 1
    return a * scales.reshape(resized((1,) * a.ndim, dim, a.shape[dim]))


cpdef object framed_of(object a, object start, object size, object dims):
    """The window of these sizes, zero where it reaches beyond the array."""
    if not len(start) == len(size) == len(dims):
        raise RuntimeError(f"framed(): expected a start and a size for each of {len(dims)} dimensions")
    shape, source, target = list(a.shape), [slice(None)] * a.ndim, [slice(None)] * a.ndim
    for dim, first, length in zip(dims, start, size):
        low, high = max(first, 0), max(min(first + length, a.shape[dim]), 0)
        shape[dim] = length
        source[dim] = slice(low, max(low, high))
        target[dim] = slice(low - first, max(low, high) - first)
    found = np.zeros(shape, a.dtype)
    if all([part.start is None or part.start < part.stop for part in source]):
        found[tuple(target)] = a[tuple(source)]
    return found


cpdef object envelope_of(object a):
    """What a sum of frames is divided by."""
    if not is_meta(<PyObject *>a) and a.size and np.min(np.abs(a)) < 1e-11:
        raise RuntimeError("istft(): window overlap add min: 1; the squares of the windows sum to zero at some place")
    return np.array(a)


cdef int check_distinct(cnp.ndarray a, object dims) except -1:
    if len(dims) > 1 and len({dim % a.ndim for dim in dims}) < len(dims):
        raise RuntimeError(f"fft: FFT dims must be unique, but got {list(dims)}")
    return 0


cdef int check_half(str op, npy_intp length, npy_intp size) except -1:
    if size < 1 or length != size // 2 + 1:
        raise RuntimeError(f"{op}(): {length} frequencies are not those of {size} real numbers")
    return 0


cpdef object floating(object a):
    """Integers become the default dtype; half precision has no transforms, as in PyTorch."""
    cdef int number = cnp.PyArray_TYPE(<cnp.ndarray>a)
    if number == cnp.NPY_FLOAT16:
        raise RuntimeError("Unsupported dtype float16 for Fourier transforms; convert the tensor with .float()")
    if cnp.PyTypeNum_ISINTEGER(number) or number == cnp.NPY_BOOL:
        return a.astype(get_default_dtype())
    return a


cdef tuple resized(tuple shape, int dim, object length):
    dim += len(shape) if dim < 0 else 0
    return (*shape[:dim], length, *shape[dim + 1 :])
