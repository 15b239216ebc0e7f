from cpython.ref cimport PyObject

# Has a class that takes calls over been met, or a mode been entered? While not, functions ask nobody.
cdef bint overriding
cpdef int start() except -1
# Does an argument, or an item of a list or tuple among them, take the call over; or a mode of this thread?
cdef bint is_taken_over(PyObject *const *args, Py_ssize_t n) except -1
cdef bint is_taken_over_packed(PyObject *args, PyObject *kwargs) except -1
# The result that it gives instead.
cdef object handed_over(object function, PyObject *const *args, Py_ssize_t given, PyObject *names)
cdef object handed_over_packed(object function, PyObject *args, PyObject *kwargs)
cdef object call(object function, object own, tuple args, dict kwargs)
cpdef object handed(object function, object relevant, tuple args, dict kwargs)
