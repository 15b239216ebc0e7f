from gradsmith.runtime.programs.program cimport Program


cdef class UsedUp:
    cdef Py_ssize_t result
    cdef tuple inputs
    cdef str text
    cdef object apply

    cpdef tuple with_history(self, tuple found, object leaves)


cdef class Recorder:
    cdef tuple results, inputs, kept, sources, captured, gradients
    cdef Program backward
    cdef object recording

    cpdef tuple with_history(self, tuple found, object leaves, list states)
    cdef tuple as_views(self, tuple found, tuple results, tuple inputs, tuple saved, object leaves, list states)
    cdef object gradients_of(self, tuple cotangents, tuple saved)
