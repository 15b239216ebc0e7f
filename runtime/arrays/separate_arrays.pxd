cpdef object separate(object array)     # another ndarray over the memory of `array`
cdef object lent(object value)          # the same of all arrays in `value`, for functions that may not write them
cdef object readonly(object value)      # without separation, for what keeps none of them
cdef object owned(object result)        # what a function of the user's gave: no array of it is the user's object
cdef object own_memory(object result)   # of an expression that computes: no array of it shares memory with another
