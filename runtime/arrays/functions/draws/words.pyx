"""The numbers that NumPy's `Generator` draws, without its calls, which cost more than a few numbers do.

Each word of the bit generator is read for what NumPy would read it for, so the numbers are the same, and so is the state
that is left; see words_kernels.c.  Large arrays are made otherwise, of streams: see bits.pyx.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t

import numpy as np

cnp.import_array()

cdef extern from "runtime/arrays/functions/draws/words_kernels.h" nogil:
    void gs_words_even_float(bitgen_t *source, float *out, cnp.npy_intp n)
    void gs_words_even_double(bitgen_t *source, double *out, cnp.npy_intp n)
    void gs_words_normal_float(bitgen_t *source, float *out, cnp.npy_intp n)
    void gs_words_normal_double(bitgen_t *source, double *out, cnp.npy_intp n)
    void gs_words_int32(bitgen_t *source, uint32_t last, int32_t low, int32_t *out, cnp.npy_intp n)
    void gs_words_int64(bitgen_t *source, uint32_t last, int64_t low, int64_t *out, cnp.npy_intp n)
    void gs_words_permutation(bitgen_t *source, int64_t *out, cnp.npy_intp n)
    void gs_words_even_counts_float(bitgen_t *source, uint32_t last, int64_t low, float *out, cnp.npy_intp n)
    void gs_words_even_counts_double(bitgen_t *source, uint32_t last, int64_t low, double *out, cnp.npy_intp n)
    void gs_words_distribution_float(
        Distribution which, bitgen_t *source, double first, double second, const float *each, float *out,
        cnp.npy_intp n)
    void gs_words_distribution_double(
        Distribution which, bitgen_t *source, double first, double second, const double *each, double *out,
        cnp.npy_intp n)
    ctypedef struct Parameter "gs_parameter":
        const void *each
        double number
    void gs_move_float(float *drawn, const Parameter *mean, const Parameter *deviation, cnp.npy_intp n)
    void gs_move_double(double *drawn, const Parameter *mean, const Parameter *deviation, cnp.npy_intp n)
    void gs_words_read_tables()

ctypedef enum Kind:
    EVEN_FLOAT
    EVEN_DOUBLE
    NORMAL_FLOAT
    NORMAL_DOUBLE
    INT32
    INT64
    COUNTS_FLOAT
    COUNTS_DOUBLE
    PERMUTATION

cdef enum:
    FEW = 4096                  # more numbers are drawn without the GIL

cdef bint has_tables = False
cdef Words latest = None        # of the generator that was asked last


cdef class Words:
    """The words of a generator.  Arrays to draw into are contiguous, aligned and writable."""

    cdef int even(self, cnp.ndarray out) except -1:
        """Numbers from 0 (included) to 1 into an array of float32 or float64."""
        return run(self, EVEN_FLOAT if cnp.PyArray_ITEMSIZE(out) == 4 else EVEN_DOUBLE, out, 0, 0)

    cdef int normal(self, cnp.ndarray out) except -1:
        """Normal numbers of mean 0 and variance 1 likewise."""
        read_tables()
        return run(self, NORMAL_FLOAT if cnp.PyArray_ITEMSIZE(out) == 4 else NORMAL_DOUBLE, out, 0, 0)

    cdef int integers(self, cnp.ndarray out, int64_t low, uint32_t last) except -1:
        """Numbers from `low` to `low` + `last`, included, into an array of int32 or int64."""
        return run(self, INT32 if cnp.PyArray_ITEMSIZE(out) == 4 else INT64, out, low, last)

    cdef int counts(self, cnp.ndarray out, int64_t low, uint32_t last) except -1:
        """The same into an array of float32 or float64."""
        return run(self, COUNTS_FLOAT if cnp.PyArray_ITEMSIZE(out) == 4 else COUNTS_DOUBLE, out, low, last)

    cdef int permutation(self, cnp.ndarray out) except -1:
        """The places of an array of int64, of one dimension, in random order."""
        return run(self, PERMUTATION, out, 0, 0)

    cdef int distribution(self, cnp.ndarray out, Distribution which, double first, double second) except -1:
        """Numbers in double precision into an array of it, or rounded into float32."""
        return run_distribution(self, which, out, first, second, NULL)

    cdef int of_each(self, cnp.ndarray out, Distribution which, cnp.ndarray parameters) except -1:
        """The same of parameters in an array like that."""
        return run_distribution(self, which, out, 0, 0, cnp.PyArray_DATA(parameters))


cdef int read_tables() except -1:
    global has_tables
    if not has_tables:
        gs_words_read_tables()
        has_tables = True
    return 0


cdef Words words_of(object generator):
    global latest
    cdef Words found = latest
    if found is not None and found.generator is generator:
        return found
    bits = generator.bit_generator
    found = Words.__new__(Words)
    found.generator = generator
    found.source = <bitgen_t *>PyCapsule_GetPointer(bits.capsule, "BitGenerator")
    found.lock, found.unlock = bits.lock.acquire, bits.lock.release
    latest = found
    return found


cdef int run(Words words, Kind kind, cnp.ndarray out, int64_t low, uint32_t last) except -1:
    cdef cnp.npy_intp n = cnp.PyArray_SIZE(out)
    cdef void *data = cnp.PyArray_DATA(out)
    words.lock()
    if n <= FEW:
        write(kind, words.source, data, n, low, last)
    else:
        with nogil:
            write(kind, words.source, data, n, low, last)
    words.unlock()
    return 0


cdef int run_distribution(
    Words words, Distribution which, cnp.ndarray out, double first, double second, const void *each
) except -1:
    cdef cnp.npy_intp n = cnp.PyArray_SIZE(out)
    cdef void *data = cnp.PyArray_DATA(out)
    cdef bint is_float = cnp.PyArray_ITEMSIZE(out) == 4
    read_tables()
    words.lock()
    if n <= FEW:
        write_distribution(which, is_float, words.source, first, second, each, data, n)
    else:
        with nogil:
            write_distribution(which, is_float, words.source, first, second, each, data, n)
    words.unlock()
    return 0


cdef void write(
    Kind kind, bitgen_t *source, void *out, cnp.npy_intp n, int64_t low, uint32_t last
) noexcept nogil:
    if kind == EVEN_FLOAT:
        gs_words_even_float(source, <float *>out, n)
    elif kind == EVEN_DOUBLE:
        gs_words_even_double(source, <double *>out, n)
    elif kind == NORMAL_FLOAT:
        gs_words_normal_float(source, <float *>out, n)
    elif kind == NORMAL_DOUBLE:
        gs_words_normal_double(source, <double *>out, n)
    elif kind == INT32:
        gs_words_int32(source, last, <int32_t>low, <int32_t *>out, n)
    elif kind == INT64:
        gs_words_int64(source, last, low, <int64_t *>out, n)
    elif kind == COUNTS_FLOAT:
        gs_words_even_counts_float(source, last, low, <float *>out, n)
    elif kind == COUNTS_DOUBLE:
        gs_words_even_counts_double(source, last, low, <double *>out, n)
    else:
        gs_words_permutation(source, <int64_t *>out, n)


cdef void write_distribution(
    Distribution which, bint is_float, bitgen_t *source, double first, double second, const void *each, void *out,
    cnp.npy_intp n,
) noexcept nogil:
    if is_float:
        gs_words_distribution_float(which, source, first, second, <const float *>each, <float *>out, n)
    else:
        gs_words_distribution_double(which, source, first, second, <const double *>each, <double *>out, n)


cdef bint can_be_drawn_into(cnp.ndarray out) noexcept:
    cdef bint is_real = cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT32 or cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT64
    return is_real and cnp.PyArray_IS_C_CONTIGUOUS(out) and cnp.PyArray_ISBEHAVED(out)


cdef int move(cnp.ndarray drawn, object mean, object deviation) except -1:
    """Multiply normal numbers by deviations and add means: numbers, or arrays of the shape and dtype of what was drawn."""
    cdef Parameter means = parameter(mean), deviations = parameter(deviation)
    if cnp.PyArray_ITEMSIZE(drawn) == 4:
        gs_move_float(<float *>cnp.PyArray_DATA(drawn), &means, &deviations, cnp.PyArray_SIZE(drawn))
    else:
        gs_move_double(<double *>cnp.PyArray_DATA(drawn), &means, &deviations, cnp.PyArray_SIZE(drawn))
    return 0


cdef Parameter parameter(object value) except *:
    cdef Parameter found
    found.each, found.number = NULL, 0
    if isinstance(value, cnp.ndarray):
        found.each = cnp.PyArray_DATA(<cnp.ndarray>value)
    else:
        found.number = value
    return found


# ---- for Python


def draw_even(object generator, cnp.ndarray out not None):
    """Fill an array of float32 or float64 with numbers from 0 (included) to 1."""
    expect(out, np.float32, np.float64)
    words_of(generator).even(out)


def draw_normal(object generator, cnp.ndarray out not None):
    """Fill an array of float32 or float64 with normal numbers of mean 0 and variance 1."""
    expect(out, np.float32, np.float64)
    words_of(generator).normal(out)


def draw_integers(object generator, cnp.ndarray out not None, object low, object high):
    """Fill an array of int32 or int64 with numbers from `low` to `high`, excluded, of which there are at most 2^32."""
    expect(out, np.int32, np.int64)
    limits = np.iinfo(out.dtype)
    if not limits.min <= low < high <= limits.max + 1 or high - low > 1 << 32:
        raise ValueError(f"integers from {low} to {high} are not made in {out.dtype}")
    words_of(generator).integers(out, low, high - 1 - low)


def draw_permutation(object generator, cnp.ndarray out not None):
    """Fill an array of int64 with its places in random order."""
    expect(out, np.int64, np.int64)
    if cnp.PyArray_NDIM(out) != 1 or cnp.PyArray_SIZE(out) >= 1 << 32:
        raise ValueError(f"places in random order are made in one dimension and less than 2^32, not in {(<object>out).shape}")
    words_of(generator).permutation(out)


cdef int expect(cnp.ndarray out, object one, object other) except -1:
    if out.dtype != one and out.dtype != other:
        raise TypeError(f"numbers are drawn into {np.dtype(one)} and {np.dtype(other)} here, not {out.dtype}")
    if not (cnp.PyArray_IS_C_CONTIGUOUS(out) and cnp.PyArray_ISBEHAVED(out)):
        raise ValueError("numbers are drawn into arrays that are contiguous, aligned and writable")
    return 0
