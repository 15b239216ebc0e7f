from cpython.ref cimport PyObject

# Has a class with overrides been met, or a mode been entered? Until then, nothing looks for overrides.
cdef bint overriding
cpdef int start() except -1
# Does an argument, an item of a list or tuple among the arguments, or a mode of this thread override the call?
cdef bint is_overridden(PyObject *const *args, Py_ssize_t n) except -1
cdef bint is_overridden_packed(PyObject *args, PyObject *kwargs) except -1
# The result of the override.
cdef object dispatched(object function, PyObject *const *args, Py_ssize_t given, PyObject *names)
cdef object dispatched_packed(object function, PyObject *args, PyObject *kwargs)
cdef object call(object function, object own, tuple args, dict kwargs)
cpdef object dispatch_call(object function, object relevant, tuple args, dict kwargs)
