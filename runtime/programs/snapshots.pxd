cdef class Snapshot:
    cdef list modules               # pairs of the `__dict__` of a module, and its `training`
    cdef list held                  # pairs of a dict, and its values

    cdef int add(self, object module) except -1
    cdef bint is_same(self) except -1
