from cpython.ref cimport PyObject
cimport numpy as cnp


cdef bint may_overlap_itself(cnp.ndarray array) noexcept
cdef bint ranges_meet(cnp.ndarray a, cnp.ndarray b) noexcept
cdef bint is_alone(PyObject *array) noexcept
