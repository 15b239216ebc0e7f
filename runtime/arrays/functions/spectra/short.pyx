"""Transforms of a few numbers by the inner loops of NumPy's ufuncs, whose calls cost more than such a transform.

Which loop a ufunc would take, and so in which precision it computes, NumPy says itself: of single ones too in double
precision where nothing is scaled. The numbers are converted to that, and back.
"""

cimport cython
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport empty_array
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, take

import numpy as np

cnp.import_array()

ctypedef void (*Transform)(char **, const npy_intp *, const npy_intp *, void *) noexcept

cdef extern from *:
    """
    static int failed(void) { return PyErr_Occurred() != NULL ? -1 : 0; }
    """
    int failed() except -1

# By the C header, which all versions of NumPy have: what they declare of a ufunc to Cython is not always all of this.
cdef extern from "numpy/ufuncobject.h":
    ctypedef struct Ufunc "PyUFuncObject":
        Transform *functions
        void **data
        int ntypes
        const char *types

cdef enum:
    FEW = 256           # elements, of what comes in and of what goes out, as many as their copies have room for

cdef dict known = {}        # (ufunc, type, whether it is scaled) -> number of the loop, which NumPy is asked for once


cdef object few_along(object loop, cnp.ndarray a, int dim, npy_intp size, int type_number, object factor):
    """The transform along a dimension, by one of NumPy's pocketfft ufuncs.

    The result has `size` elements along the dimension and the dtype of this number, and is multiplied by `factor`: the
    integer 1, or a number in its precision.
    """
    cdef npy_intp sizes[MAX_DIMS]
    cdef int ndim = cnp.PyArray_NDIM(a), i, number
    cdef npy_intp outer = 1, inner = 1
    if loop is None or not cnp.PyArray_CheckExact(a) or not cnp.PyArray_IS_C_CONTIGUOUS(a) or not cnp.PyArray_ISBEHAVED_RO(a):
        return None
    dim += ndim if dim < 0 else 0
    if not 0 <= dim < ndim or (<Ufunc *>loop).functions == NULL:
        return None
    for i in range(ndim):
        sizes[i] = cnp.PyArray_DIM(a, i)
        if i < dim:
            outer *= sizes[i]
        elif i > dim:
            inner *= sizes[i]
    if cnp.PyArray_SIZE(a) > FEW or outer * inner * size > FEW:
        return None
    sizes[dim] = size
    number = loop_for(loop, cnp.PyArray_TYPE(a), factor)
    if number < 0:
        return None
    found = take(empty_array(type_number, ndim, sizes))
    run(<Ufunc *>loop, number, a, found, outer, inner, cnp.PyArray_DIM(a, dim), size, factor)
    return found


cdef int loop_for(object loop, int type_number, object factor) except -2:
    """Which of its loops the ufunc runs for numbers of this type and this factor, -1 where that is none of those here."""
    cdef bint is_scaled = type(factor) is not int
    key = (loop, type_number, is_scaled)
    found = known.get(key)
    if found is None:
        found = known[key] = new_loop_for(loop, type_number, factor.dtype if is_scaled else int)
    return found


cdef int new_loop_for(object loop, int type_number, object factor_type) except -2:
    cdef Ufunc *fields = <Ufunc *>loop
    cdef int i
    resolve = getattr(loop, "resolve_dtypes", None)
    if resolve is None:         # of NumPy before 1.25
        return -1
    types = [dtype.num for dtype in resolve((np.dtype(cnp.PyArray_DescrFromType(type_number)), factor_type, None))]
    for i in range(fields.ntypes):
        if [fields.types[3 * i], fields.types[3 * i + 1], fields.types[3 * i + 2]] == types:
            return i if is_usual(types[0]) and is_usual(types[2]) else -1
    return -1


cdef bint is_usual(int type_number) noexcept:
    """Single or double precision."""
    return type_number in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64, cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128)


cdef int run(
    const Ufunc *loop, int number, cnp.ndarray a, cnp.ndarray found, npy_intp outer, npy_intp inner, npy_intp n,
    npy_intp size, object factor
) except -1:
    cdef double room[2 * FEW]
    cdef double found_room[2 * FEW]
    cdef int in_type = loop.types[3 * number], factor_type = loop.types[3 * number + 1]
    cdef int out_type = loop.types[3 * number + 2], own_type = cnp.PyArray_TYPE(a), found_type = cnp.PyArray_TYPE(found)
    cdef char *source = cnp.PyArray_BYTES(a)
    cdef char *target = cnp.PyArray_BYTES(found)
    cdef double wide = factor
    cdef float narrow = <float>wide
    cdef char *scale = <char *>&narrow if factor_type == cnp.NPY_FLOAT32 else <char *>&wide
    cdef npy_intp width_in = width_of(in_type), width_out = width_of(out_type)
    if own_type != in_type:
        convert(source, own_type, <char *>room, in_type, outer * n * inner)
        source = <char *>room
    if found_type != out_type:
        target = <char *>found_room
    transform(loop, number, source, target, scale, outer, inner, n, size, width_in, width_out)
    failed()        # for want of memory
    if target == <char *>found_room:
        convert(target, out_type, cnp.PyArray_BYTES(found), found_type, outer * size * inner)
    return 0


cdef void transform(
    const Ufunc *loop, int number, char *source, char *target, char *scale, npy_intp outer, npy_intp inner, npy_intp n,
    npy_intp size, npy_intp width_in, npy_intp width_out
) noexcept:
    """Rows along the dimension: those that lie side by side, or one after the other, in one call."""
    cdef Transform function = loop.functions[number]
    cdef void *data = NULL if loop.data == NULL else loop.data[number]
    cdef char *args[3]
    cdef npy_intp sizes[3]
    cdef npy_intp[5] steps
    cdef npy_intp o, calls = 1 if inner == 1 else outer
    sizes[0], sizes[1], sizes[2] = outer if inner == 1 else inner, n, size
    steps[0], steps[1], steps[2] = n * width_in if inner == 1 else width_in, 0, size * width_out if inner == 1 else width_out
    steps[3], steps[4] = inner * width_in, inner * width_out
    for o in range(calls):
        args[0], args[1], args[2] = source, scale, target
        function(args, sizes, steps, data)
        source += n * inner * width_in
        target += size * inner * width_out


cdef npy_intp width_of(int type_number) noexcept:
    return 4 if type_number == cnp.NPY_FLOAT32 else 16 if type_number == cnp.NPY_COMPLEX128 else 8


ctypedef fused Real:
    float
    double


cdef bint is_single(int type_number) noexcept:
    return type_number == cnp.NPY_FLOAT32 or type_number == cnp.NPY_COMPLEX64


cdef void convert(const char *source, int source_type, char *target, int target_type, npy_intp n) noexcept:
    """Complex numbers are made of real ones, and kept."""
    cdef bint is_complex = cnp.PyTypeNum_ISCOMPLEX(source_type)
    cdef bint becomes_complex = cnp.PyTypeNum_ISCOMPLEX(target_type)
    cdef npy_intp count = 2 * n if is_complex else n
    if is_single(source_type):
        from_reals(<const float *>source, target, target_type, count, becomes_complex and not is_complex)
    else:
        from_reals(<const double *>source, target, target_type, count, becomes_complex and not is_complex)


cdef void from_reals(const Real *source, char *target, int target_type, npy_intp n, bint apart) noexcept:
    if is_single(target_type):
        to_reals(source, <float *>target, n, apart)
    else:
        to_reals(source, <double *>target, n, apart)


cdef void to_reals(const Real *source, cython.floating *target, npy_intp n, bint apart) noexcept:
    cdef npy_intp i
    for i in range(n):
        target[2 * i if apart else i] = <cython.floating>source[i]
        if apart:
            target[2 * i + 1] = 0
