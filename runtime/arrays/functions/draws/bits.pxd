cimport numpy as cnp

cpdef object bernoulli_number_of(object self, double p, object generator)
cpdef object kept_part_of(object self, object mask, double scale, double above, double below)
cdef int even_from_streams(object generator, cnp.ndarray out) except -1
cdef int normal_from_streams(object generator, cnp.ndarray out) except -1
