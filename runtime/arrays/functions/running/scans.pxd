cpdef object cumprod_of(object a, Py_ssize_t dim, object dtype)
cpdef object recurrence_of(object a, object weight, Py_ssize_t dim)
cpdef object recurrence_reversed_of(object a, object weight, Py_ssize_t dim)
cpdef object logcumsumexp_of(object a, Py_ssize_t dim)
cpdef object p_norm_of(object a, object p, object dim, bint keepdim)
cdef int add_along(object a, int axis, bint reverse) except -1         # a running sum, in place
