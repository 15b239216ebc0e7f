from cpython.object cimport PyTypeObject, Py_TYPE

cdef PyTypeObject *size_type

cdef object size_of(object array)       # the shape of an array as a Size

cdef inline bint is_size(object value) noexcept:        # whose items are ints
    return Py_TYPE(value) is size_type
