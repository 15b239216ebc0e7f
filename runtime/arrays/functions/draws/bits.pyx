"""Arrays of random numbers, made of streams of bits, and what remains of arrays with random zeros.

See Note [Streams] in bits_kernels.c. All functions take NumPy's generator and ask it for two words, the key of the streams.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.math cimport ldexp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from gradsmith.runtime.arrays.array cimport ADD, binary, contiguous, is_meta, MULTIPLY
from gradsmith.runtime.arrays.functions.draws.words cimport can_be_drawn_into
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

import numpy as np

from gradsmith.runtime.arrays.array import call_each

cnp.import_array()

cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        void *state
        uint64_t (*next_uint64)(void *state) noexcept nogil

cdef extern from "runtime/arrays/functions/draws/bits_kernels.h" nogil:
    const cnp.npy_intp STREAM "GS_STREAM"
    ctypedef struct Stream "gs_stream":
        uint64_t[2] key
        uint64_t stream
    ctypedef struct KeptNumbers "gs_kept_numbers":
        double scale, above, below
    void gs_fill_kept(const Stream *s, uint64_t threshold, uint8_t *out, cnp.npy_intp n)
    void gs_fill_even_float(const Stream *s, float *out, cnp.npy_intp n)
    void gs_fill_even_double(const Stream *s, double *out, cnp.npy_intp n)
    void gs_fill_normal_float(const Stream *s, float *out, cnp.npy_intp n)
    void gs_fill_int32(const Stream *s, uint64_t range, int32_t low, int32_t *out, cnp.npy_intp n)
    void gs_fill_int64(const Stream *s, uint64_t range, int64_t low, int64_t *out, cnp.npy_intp n)
    void gs_keep_float(const KeptNumbers *k, const float *x, const uint8_t *kept, float *out, cnp.npy_intp n)
    void gs_keep_double(const KeptNumbers *k, const double *x, const uint8_t *kept, double *out, cnp.npy_intp n)

ctypedef enum Kind:
    KEPT
    EVEN_FLOAT
    EVEN_DOUBLE
    NORMAL_FLOAT
    INT32
    INT64
    KEEP_FLOAT
    KEEP_DOUBLE

# Arrays of this many elements and more are made of streams where a generator could make them too.
STREAM_SIZE = STREAM


cdef class Job:
    """Pieces of arrays that are written on several threads: ``job(i)`` writes piece `i`."""
    cdef Kind kind
    cdef Stream stream
    cdef uint64_t threshold
    cdef int64_t low
    cdef KeptNumbers numbers
    cdef cnp.npy_intp size, itemsize
    cdef const char *x              # of what is kept
    cdef const uint8_t *kept
    cdef char *out

    def __call__(self, uint64_t number):
        cdef Stream stream = self.stream
        cdef cnp.npy_intp first = <cnp.npy_intp>number * STREAM
        stream.stream = number
        if first < self.size:
            with nogil:
                write_piece(self.kind, self, &stream, first, min(STREAM, self.size - first))

    cdef int run(self) except -1:
        if self.size <= STREAM:
            self(0)
        else:
            call_each(self, (self.size + STREAM - 1) // STREAM)
        return 0


cdef void write_piece(Kind kind, Job job, const Stream *stream, cnp.npy_intp first, cnp.npy_intp n) noexcept nogil:
    cdef char *out = job.out + first * job.itemsize
    cdef const char *x
    if kind == KEPT:
        gs_fill_kept(stream, job.threshold, <uint8_t *>out, n)
    elif kind == EVEN_FLOAT:
        gs_fill_even_float(stream, <float *>out, n)
    elif kind == EVEN_DOUBLE:
        gs_fill_even_double(stream, <double *>out, n)
    elif kind == NORMAL_FLOAT:
        gs_fill_normal_float(stream, <float *>out, n)
    elif kind == INT32:
        gs_fill_int32(stream, job.threshold, <int32_t>job.low, <int32_t *>out, n)
    elif kind == INT64:
        gs_fill_int64(stream, job.threshold, job.low, <int64_t *>out, n)
    else:
        x = job.x + first * job.itemsize
        if kind == KEEP_FLOAT:
            gs_keep_float(&job.numbers, <const float *>x, job.kept + first, <float *>out, n)
        else:
            gs_keep_double(&job.numbers, <const double *>x, job.kept + first, <double *>out, n)


cdef Job job_for(Kind kind, cnp.ndarray out):
    if not (cnp.PyArray_IS_C_CONTIGUOUS(out) and cnp.PyArray_ISBEHAVED(out)):
        raise ValueError("numbers are drawn into arrays that are contiguous, aligned and writable")
    cdef Job job = Job.__new__(Job)
    job.kind = kind
    job.size, job.itemsize = cnp.PyArray_SIZE(out), cnp.PyArray_ITEMSIZE(out)
    job.out = cnp.PyArray_BYTES(out)
    return job


cdef int draw_key(object generator, Stream *stream) except -1:
    """The next two words of the generator."""
    cdef object bits = generator.bit_generator
    cdef bitgen_t *source = <bitgen_t *>PyCapsule_GetPointer(bits.capsule, "BitGenerator")
    with bits.lock:
        stream.key[0] = source.next_uint64(source.state)
        stream.key[1] = source.next_uint64(source.state)
    return 0


def kept(object generator, object shape, double chance):
    """Mask that is true with a probability, which counts to 2^-64."""
    if not 0 <= chance <= 1:
        raise RuntimeError(f"a probability is from 0 to 1, but it is {chance}")
    cdef cnp.ndarray out = fresh(cnp.NPY_BOOL, tuple(shape))
    cdef Job job = job_for(KEPT, out)
    draw_key(generator, &job.stream)
    if chance == 1:
        out.fill(True)
        return out
    job.threshold = <uint64_t>ldexp(chance, 64)
    job.run()
    return out


def uninitialised(object shape, cnp.dtype dtype not None):
    """A new array, which costs no page faults when one of its size has died before."""
    return fresh(dtype.num, tuple(shape))


def fill_even(object generator, cnp.ndarray out not None):
    """Fill an array of float32 or float64 with numbers from 0 (included) to 1."""
    if out.dtype != np.float32 and out.dtype != np.float64:
        raise TypeError(f"even numbers are made in float32 and float64, not {out.dtype}")
    even_from_streams(generator, out)


cdef int even_from_streams(object generator, cnp.ndarray out) except -1:
    cdef Job job = job_for(EVEN_FLOAT if cnp.PyArray_ITEMSIZE(out) == 4 else EVEN_DOUBLE, out)
    draw_key(generator, &job.stream)
    return job.run()


def fill_normal(object generator, cnp.ndarray out not None):
    """Fill an array of float32 with normal numbers of mean 0 and variance 1."""
    if out.dtype != np.float32:
        raise TypeError(f"normal numbers are made in float32, not {out.dtype}")
    normal_from_streams(generator, out)


cdef int normal_from_streams(object generator, cnp.ndarray out) except -1:
    cdef Job job = job_for(NORMAL_FLOAT, out)
    draw_key(generator, &job.stream)
    return job.run()


def fill_integers(object generator, cnp.ndarray out not None, object low, object high):
    """Fill an array of int32 or int64 with numbers from `low` to `high`, excluded, of which there are at most 2^32."""
    limits = np.iinfo(out.dtype) if out.dtype in (np.int32, np.int64) else None
    if limits is None or not limits.min <= low < high <= limits.max + 1 or high - low > 1 << 32:
        raise ValueError(f"integers from {low} to {high} are not made in {out.dtype}")
    cdef Job job = job_for(INT32 if cnp.PyArray_ITEMSIZE(out) == 4 else INT64, out)
    draw_key(generator, &job.stream)
    job.threshold, job.low = high - low, low
    job.run()


# ---- for tables


cpdef object bernoulli_number_of(object self, double p, object generator):
    """Ones with a probability, and zeros, in the place of the elements of an array; or values for it. See in_place.pyx."""
    if is_meta(<PyObject *>self):
        return self
    cdef cnp.ndarray mask = kept(generator, self.shape, p), array = self
    cdef const uint8_t *ones = <const uint8_t *>cnp.PyArray_DATA(mask)
    cdef cnp.npy_intp n = cnp.PyArray_SIZE(mask), i
    if not can_be_drawn_into(array):
        return (<object>mask).astype(self.dtype)
    if cnp.PyArray_ITEMSIZE(array) == 4:
        for i in range(n):
            (<float *>cnp.PyArray_DATA(array))[i] = ones[i]
    else:
        for i in range(n):
            (<double *>cnp.PyArray_DATA(array))[i] = ones[i]
    return self


cpdef object kept_part_of(object self, object mask, double scale, double above, double below):
    """`self` times `scale` plus `above` where the mask is true, times zero plus `below` elsewhere."""
    if mask.dtype != np.bool_:
        raise RuntimeError(f"kept_part(): expects a mask of bool, got {mask.dtype}")
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"kept_part(): expects a floating dtype, got {self.dtype}")
    if is_meta(<PyObject *>self) or is_meta(<PyObject *>mask):
        shape = np.broadcast_shapes(self.shape, mask.shape)
        return fresh_beside(self if is_meta(<PyObject *>self) else mask, cnp.PyArray_TYPE(self), shape)
    if has_kernel(self, mask):
        # A gradient that is one number for all is written out first.
        return kept_row(take(contiguous(<PyObject *>self)), mask, scale, above, below)
    factor = np.where(mask, self.dtype.type(scale), self.dtype.type(0))
    found = take(binary(MULTIPLY, <PyObject *>self, <PyObject *>factor))
    if above or below:
        term = np.where(mask, self.dtype.type(above), self.dtype.type(below))
        found = take(binary(ADD, <PyObject *>found, <PyObject *>term))
    return found


cdef bint has_kernel(cnp.ndarray self, cnp.ndarray mask):
    cdef bint is_known = cnp.PyArray_TYPE(self) == cnp.NPY_FLOAT32 or cnp.PyArray_TYPE(self) == cnp.NPY_FLOAT64
    return (
        is_known and cnp.PyArray_SAMESHAPE(self, mask) and cnp.PyArray_ISBEHAVED_RO(self)
        and cnp.PyArray_IS_C_CONTIGUOUS(mask)
    )


cdef object kept_row(cnp.ndarray self, cnp.ndarray mask, double scale, double above, double below):
    out = fresh(cnp.PyArray_TYPE(self), (<object>self).shape)
    cdef Job job = job_for(KEEP_FLOAT if cnp.PyArray_ITEMSIZE(self) == 4 else KEEP_DOUBLE, out)
    job.numbers.scale, job.numbers.above, job.numbers.below = scale, above, below
    job.x, job.kept = cnp.PyArray_BYTES(self), <const uint8_t *>cnp.PyArray_BYTES(mask)
    job.run()
    return out
