cdef class Read:
    cdef readonly object holder, name, value

    cpdef bint is_there(self) except -1
