from cpython.ref cimport PyObject

# The functions of a module, called once at its end; see second_names.pyx, Note [Second names].
cdef int take_second_names(dict module) except -1
# Gives a function of a module, afterwards, the name and the module by which users know it: det, gradsmith.linalg.
cdef int name_within(dict module, str name, str short_name, str namespace) except -1
