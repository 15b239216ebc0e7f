cpdef tuple topk_of(object a, object k, Py_ssize_t dim, bint largest, bint sorted)
