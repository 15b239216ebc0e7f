cimport numpy as cnp

cdef object elements_under(object a, object mask)       # None where it is not that simple, here and below False
cdef bint write_under(object a, object mask, object source, cnp.npy_intp count) except -1
cdef bint fill_under(object a, object mask, object value) except -1
