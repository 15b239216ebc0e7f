"""Transforms of many lines of complex numbers, which are computed side by side: Note [Lines side by side]."""

from cpython.pycapsule cimport PyCapsule_GetPointer
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.functions.ownership cimport fresh

import numpy as np

from functools import lru_cache

from gradsmith.runtime.arrays.array import parallel_loop

cnp.import_array()

cdef extern from "runtime/arrays/functions/spectra/lines_kernels.h":
    ctypedef struct Lines "gs_lines":
        const void *from_ "from"
        void *to
        npy_intp outer, length, inner
        int is_single, is_inverse
        double factor
        int n_factors
        int factors[16]
        const double *turns
        int is_out_of_memory
    void gs_transform_lines(void *lines, npy_intp first, npy_intp last) noexcept nogil
    npy_intp gs_groups_of_lines(const Lines *lines) noexcept

ctypedef void (*parallel_function)(
    void (*task)(void *, npy_intp, npy_intp) noexcept nogil, void *, npy_intp, npy_intp, npy_intp) noexcept

cdef parallel_function parallel = <parallel_function>PyCapsule_GetPointer(parallel_loop(), "gradsmith.parallel_loop")

cdef enum:
    SHORTEST = 8        # copying shorter lines takes longer than transforming them
    LONGEST = 4096      # elements, of which eight lines stay in the cache
    LONGEST_SINGLE = 128    # the same where NumPy computes in single precision, as it does what is scaled
    FEWEST = 6          # lines side by side: of eight that are computed, some would be empty
    COST = 64           # of an element of eight lines, in additions


cdef object transformed_lines(object a, int dim, bint inverse, object factor, bint in_place):
    """Transform along a dimension, multiplied by a factor; None where it is not one of many lines, row by row.

    In place, in the array itself: all of a line is read before anything of it is written.
    """
    cdef Lines lines
    cdef cnp.ndarray array = a
    cdef int i, ndim = cnp.PyArray_NDIM(array), number = cnp.PyArray_TYPE(array)
    dim += ndim if dim < 0 else 0
    if not 0 <= dim < ndim or number not in (cnp.NPY_COMPLEX64, cnp.NPY_COMPLEX128):
        return None
    if not (cnp.PyArray_CheckExact(array) and cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_ISBEHAVED_RO(array)):
        return None
    lines.outer = lines.inner = 1
    for i in range(dim):
        lines.outer *= cnp.PyArray_DIM(array, i)
    for i in range(dim + 1, ndim):
        lines.inner *= cnp.PyArray_DIM(array, i)
    lines.length = cnp.PyArray_DIM(array, dim)
    if number == cnp.NPY_COMPLEX64 and factor != 1 and lines.length > LONGEST_SINGLE:
        return None
    if not SHORTEST <= lines.length <= LONGEST or (lines.outer if lines.inner == 1 else lines.inner) < FEWEST:
        return None
    factors, turns = plan(lines.length)
    if factors is None:
        return None
    result = a if in_place else fresh(number, a.shape)
    lines.from_, lines.to = cnp.PyArray_DATA(array), cnp.PyArray_DATA(result)
    lines.is_single, lines.is_inverse, lines.factor = number == cnp.NPY_COMPLEX64, inverse, factor
    lines.turns, lines.is_out_of_memory, lines.n_factors = <const double *>cnp.PyArray_DATA(turns), 0, len(factors)
    for i in range(lines.n_factors):
        lines.factors[i] = factors[i]
    parallel(gs_transform_lines, &lines, gs_groups_of_lines(&lines), COST * lines.length, 1)
    if lines.is_out_of_memory:
        raise MemoryError(f"fft: there is no room for eight lines of {lines.length} numbers")
    return result


@lru_cache(64)
def plan(length):
    """The factors of a length, None where others than 2, 3 and 5 are among them, and the parts of a full turn."""
    factors, rest = [], length
    for factor in (8, 5, 4, 3, 2):
        while rest % factor == 0:
            factors.append(factor)
            rest //= factor
    if rest != 1:
        return None, None
    angles = np.arange(length) * (8 * np.arctan(np.longdouble(1)) / length)
    return factors, np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float64)
