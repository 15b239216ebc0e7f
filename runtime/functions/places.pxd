cdef object gather_places(object a, int axis, object index)
cdef int scatter_places(object target, int axis, object index, object src, bint add) except -1
cdef object take_rows(object a, int axis, object index)
cdef int add_rows(object target, int first, int count, object index, object src) except -1
cdef bint is_addable(object a) noexcept
