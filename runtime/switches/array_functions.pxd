cpdef object call_of_arrays(object function, tuple args, dict kwargs)

cdef bint is_called_of_arrays() noexcept
