from cpython.ref cimport PyObject

# The functions of a module, called once at its end; see second_names.pyx, Note [Second names].
cdef int take_second_names(dict module) except -1
