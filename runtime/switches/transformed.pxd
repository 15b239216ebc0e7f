from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t

cdef enum:
    DEEPEST = 7                 # calls within calls that tensors tell apart

cdef int running_calls          # in all threads: tested where tensors are made, and changed in place

cdef uint32_t call_depth() noexcept                     # of this thread; 0 outside of all calls
cdef TransformedCall innermost_call()                   # of this thread, or None


cdef class TransformedCall:
    cdef readonly object transform      # names the transform and its function in errors
    cdef readonly object arguments      # tuple of those of the function, positional and by keyword
    cdef readonly TransformedCall outer
    cdef uint32_t depth
    cdef void begin(self) noexcept      # what __enter__ and __exit__ do
    cdef void end(self) noexcept
