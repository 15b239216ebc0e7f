cpdef tuple mode_of(object a, Py_ssize_t dim, bint keepdim)
