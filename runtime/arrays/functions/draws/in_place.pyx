"""Random numbers in the place of those of an array: the array itself where they were written into it, else values for it.

Nothing is drawn for an array without data: a model can be initialised on the meta device whatever its size.
"""

cimport numpy as cnp
from cpython.ref cimport PyObject
from libc.float cimport DBL_MAX, FLT_MAX
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t

from gradsmith.runtime.arrays.array cimport cast, is_meta
from gradsmith.runtime.arrays.functions.draws.words cimport (
    can_be_drawn_into,
    CAUCHY,
    Distribution,
    EVEN_BETWEEN,
    EXPONENTIAL,
    GEOMETRIC,
    NORMAL_AROUND,
    words_of,
)
from gradsmith.runtime.arrays.functions.ownership cimport take

import numpy as np

cnp.import_array()


cpdef object uniform_of(object self, double start, double to, object generator):
    """Numbers evenly from `start` to `to`, and those of complex numbers in each part."""
    check_bounds(self.dtype, start, to)
    if drawn_into(self, EVEN_BETWEEN, start, to - start, generator):
        return self
    found = generator.uniform(start, to, self.shape)
    return found + 1j * generator.uniform(start, to, self.shape) if self.dtype.kind == "c" else found


cdef int check_bounds(object dtype, double start, double to) except -1:
    cdef double largest = DBL_MAX
    if dtype.num == cnp.NPY_FLOAT16:
        largest = 65504.0
    elif dtype.num == cnp.NPY_FLOAT32 or dtype.num == cnp.NPY_COMPLEX64:
        largest = FLT_MAX
    if not -largest <= start or not to <= largest:
        raise RuntimeError(f"uniform_(): numbers from {start} to {to} are out of bounds for {dtype}")
    if not isfinite(to - start):
        raise RuntimeError(f"uniform_(): the distance from {start} to {to} is larger than any {dtype} number")
    return 0


cpdef object normal_of(object self, double mean, double std, object generator):
    """Normal numbers; each part of a complex number has half of the variance."""
    if drawn_into(self, NORMAL_AROUND, mean, std, generator):
        return self
    found = generator.standard_normal(self.shape)
    if self.dtype.kind == "c":
        return mean * (1 + 1j) + std * np.sqrt(0.5) * (found + 1j * generator.standard_normal(self.shape))
    return mean + std * found


cpdef object exponential_of(object self, double lambd, object generator):
    if drawn_into(self, EXPONENTIAL, lambd, 0, generator):
        return self
    return generator.standard_exponential(self.shape) / lambd


cpdef object log_normal_of(object self, double mean, double std, object generator):
    if is_meta(<PyObject *>self):
        return self
    cdef cnp.ndarray numbers = np.empty(self.shape, np.float64)
    words_of(generator).distribution(numbers, NORMAL_AROUND, mean, std)
    np.exp(numbers, out=numbers)
    return take(cast(<PyObject *>numbers, cnp.PyArray_TYPE(<cnp.ndarray>self)))


cpdef object cauchy_of(object self, double median, double sigma, object generator):
    if drawn_into(self, CAUCHY, median, sigma, generator):
        return self
    return median + sigma * generator.standard_cauchy(self.shape)


cdef bint drawn_into(object self, Distribution which, double first, double second, object generator) except -1:
    """Draw into the array, if it is one for that."""
    if is_meta(<PyObject *>self):
        return True
    if not can_be_drawn_into(<cnp.ndarray>self):
        return False
    words_of(generator).distribution(<cnp.ndarray>self, which, first, second)
    return True


# ---- integers


cpdef object geometric_of(object self, double p, object generator):
    """How many trials it takes until one succeeds."""
    if drawn_into(self, GEOMETRIC, p, 0, generator):
        return self
    return generator.geometric(p, self.shape).astype(self.dtype)


cpdef object random_of(object self, object start, object to, object generator):
    """Integers from `start` to `to`, excluded. One number alone is the end; none means all that the dtype counts to."""
    first, end = (0, start) if to is None else (0 if start is None else start, to)
    if end is None or not is_within(cnp.PyArray_TYPE(<cnp.ndarray>self), first, end):
        end = expect_within(self.dtype, first, end)
    if is_meta(<PyObject *>self):
        return self
    if end > 2**63 or end - first > 1 << 32:
        return generator.integers(first, end, self.shape, np.uint64 if end > 2**63 else np.int64).astype(self.dtype)
    if can_be_drawn_into(<cnp.ndarray>self):
        words_of(generator).counts(<cnp.ndarray>self, first, end - 1 - first)
        return self
    drawn = np.empty(self.shape, np.int64)
    words_of(generator).integers(drawn, first, end - 1 - first)
    return drawn.astype(self.dtype, copy=False)


cdef bint is_within(int type_number, object first, object end) except -1:
    """Is it quickly seen that there are numbers, all of which the dtype has?"""
    cdef bint is_usual = (
        type_number == cnp.NPY_FLOAT32 or type_number == cnp.NPY_FLOAT64 or type_number == cnp.NPY_INT64
        or type_number == cnp.NPY_INT32
    )
    return is_usual and -(1 << 31) <= first < end <= 1 << 31


cdef object expect_within(object dtype, object first, object end):
    """The end of the range, or an error."""
    end = greatest_of(dtype) + 1 if end is None else end
    if first >= end:
        raise RuntimeError(f"random_(): expects 'from' to be less than 'to', but got from={first} >= to={end}")
    if dtype.kind in "iub" and not (least_of(dtype) <= first and end - 1 <= greatest_of(dtype)):
        raise RuntimeError(f"random_(): numbers from {first} to {end - 1} do not fit in {dtype}")
    return end


cdef object greatest_of(object dtype):
    if dtype.kind == "f":
        return 2 ** (np.finfo(dtype).nmant + 1)
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


cdef object least_of(object dtype):
    return 0 if dtype.kind == "b" else int(np.iinfo(dtype).min)
