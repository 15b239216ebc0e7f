cimport numpy as cnp
from libc.stdint cimport int64_t, uint32_t

cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        pass

ctypedef enum Distribution:
    EVEN_BETWEEN                # start, range
    NORMAL_AROUND               # mean, deviation
    EXPONENTIAL                 # rate
    CAUCHY                      # median, width
    GEOMETRIC                   # probability
    POISSON                     # of a rate for each element
    BERNOULLI                   # of a probability for each element

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
