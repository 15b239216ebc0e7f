cimport numpy as cnp
from libc.stdint cimport int64_t, uint32_t

cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        pass

cdef extern from "runtime/arrays/functions/draws/words_kernels.h":
    ctypedef enum Distribution "gs_distribution":
        EVEN_BETWEEN "GS_EVEN_BETWEEN"
        NORMAL_AROUND "GS_NORMAL_AROUND"
        EXPONENTIAL "GS_EXPONENTIAL"
        CAUCHY "GS_CAUCHY"
        GEOMETRIC "GS_GEOMETRIC"
        POISSON "GS_POISSON"
        BERNOULLI "GS_BERNOULLI"


cdef class Words:
    cdef bitgen_t *source
    cdef object generator, lock, unlock

    cdef int even(self, cnp.ndarray out) except -1
    cdef int normal(self, cnp.ndarray out) except -1
    cdef int integers(self, cnp.ndarray out, int64_t low, uint32_t last) except -1
    cdef int permutation(self, cnp.ndarray out) except -1
    cdef int counts(self, cnp.ndarray out, int64_t low, uint32_t last) except -1
    cdef int distribution(self, cnp.ndarray out, Distribution which, double first, double second) except -1
    cdef int of_each(self, cnp.ndarray out, Distribution which, cnp.ndarray parameters) except -1

cdef Words words_of(object generator)
cdef bint can_be_drawn_into(cnp.ndarray out) noexcept
cdef int move(cnp.ndarray drawn, object mean, object deviation) except -1
