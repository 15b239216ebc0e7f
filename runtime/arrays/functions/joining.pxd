cpdef object cat_of(list tensors, Py_ssize_t dim)
cpdef object stack_of(list tensors, Py_ssize_t dim)
cpdef object flip_of(object a, object dims)
