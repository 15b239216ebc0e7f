cpdef object embedded_of(object weight, object indices, Py_ssize_t padding_idx, bint scale_grad_by_freq, bint sparse)
cpdef object rows_summed_of(object a, object indices, Py_ssize_t count)
