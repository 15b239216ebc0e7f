cpdef object index_of(object a, object index)
cpdef object index_backward_of(object a, object shape, object index)
cpdef object index_put_of(object a, object index, object values, bint accumulate)
cpdef int index_put_into(object a, object index, object values, bint accumulate) except -1
cpdef object gather_of(object a, Py_ssize_t dim, object index, bint sparse_grad=*)
cpdef object scatter_of(object a, Py_ssize_t dim, object index, object src)
cpdef int scatter_into(object a, Py_ssize_t dim, object index, object src) except -1
cpdef object scatter_reduced_of(object a, Py_ssize_t dim, object index, object src, str reduce)
cpdef int scatter_reduced_into(object a, Py_ssize_t dim, object index, object src, str reduce) except -1
cpdef object grouped_of(object a, Py_ssize_t dim, object index, object src, str reduce, str op)
cpdef object scatter_add_of(object a, Py_ssize_t dim, object index, object src)
cpdef int scatter_add_into(object a, Py_ssize_t dim, object index, object src) except -1
cpdef object index_select_of(object a, Py_ssize_t dim, object index)
cpdef object index_add_of(object a, Py_ssize_t dim, object index, object source, object alpha)
cpdef int index_add_into(object a, Py_ssize_t dim, object index, object source, object alpha) except -1
cpdef object masked_fill_of(object a, object mask, object value)
cpdef int masked_fill_into(object a, object mask, object value) except -1
cpdef object nonzero_rows_of(object a)
cpdef object masked_select_of(object a, object mask)

cdef object filling(str op, object value, object dtype)       # a number, which may come as a tensor, as an element
cdef object apart_from(object target, object operand)        # which stays what it is while `target` is written
cdef bint can_reduce_groups(object a, str reduce) except -1
cdef int reduce_groups(object a, Py_ssize_t dim, object index, object src, str reduce, bint include_self, str op) except -1
cdef bint masked_scatter(object a, object mask, object source) except -1        # False of what the op refuses
cdef tuple products_of_groups(object a, Py_ssize_t dim, object index, object src)
