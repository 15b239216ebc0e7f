from cpython.ref cimport PyObject

cdef object clamped_integers(PyObject *array, object least, object greatest, PyObject *out)
