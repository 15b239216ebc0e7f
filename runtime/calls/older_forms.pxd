from cpython.ref cimport PyObject

ctypedef PyObject *(*fast_call)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *) noexcept


cdef class OlderForm:
    cdef str name               # of the op, add_
    cdef tuple parameters       # in the order of the form
    cdef dict arguments         # by parameter, and `out`


# Called once the Tensor class is made; see older_forms.pyx, Note [Older forms].
cdef int take_older_forms(type tensor) except -1
# Of which older form is a call that failed? None if it is of none.
cdef OlderForm older_form(str name, bint is_method, PyObject *const *args, Py_ssize_t given, PyObject *names)
# The same call of today's function. Without an error set before.
cdef PyObject *call_of_today(OlderForm found, fast_call own, PyObject *self) except NULL
