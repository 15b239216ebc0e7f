cimport numpy as cnp

cpdef object diagonal_of(cnp.ndarray a, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2)
cpdef object embedded_diagonals_of(object a, Py_ssize_t offset, Py_ssize_t one, Py_ssize_t other)
cpdef object diagonal_scatter_of(object a, object src, Py_ssize_t offset, Py_ssize_t dim1, Py_ssize_t dim2)
cpdef object unfold_of(cnp.ndarray a, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step)
cpdef object unfold_backward_of(object a, object shape, Py_ssize_t dim, Py_ssize_t size, Py_ssize_t step)
cpdef object roll_along_of(object a, object shifts, object dims)
cpdef object tril_of(object a, Py_ssize_t diagonal)
cpdef object triu_of(object a, Py_ssize_t diagonal)
cpdef int tril_into(object a, Py_ssize_t diagonal) except -1
cpdef int triu_into(object a, Py_ssize_t diagonal) except -1
cpdef object repeated_places_of(object repeats, object output_size)
cpdef object repeat_interleave_of(object a, object repeats, object dim, object output_size)
