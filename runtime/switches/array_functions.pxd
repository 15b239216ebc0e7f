cpdef object call_of_arrays(object function, tuple args, dict kwargs)
