cdef class Snapshot:
    cdef list modules               # pairs of the `__dict__` of a module, and its `training`
    cdef list held                  # pairs of a dict, and its values

    cdef int add(self, object module) except -1
    cpdef bint is_there(self) except -1
