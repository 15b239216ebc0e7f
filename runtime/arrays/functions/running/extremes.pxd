cpdef tuple cummax_of(object a, Py_ssize_t dim)
cpdef tuple cummin_of(object a, Py_ssize_t dim)
