cpdef object call_of_arrays(object function, tuple args, dict kwargs)

# Has there been a function of arrays? Then its tensors have methods with NumPy's meanings.
cdef bint tensors_have_methods
cdef bint is_called_of_arrays() noexcept
