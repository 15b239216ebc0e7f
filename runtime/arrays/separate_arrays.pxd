cpdef object separate(object array)     # another ndarray over the memory of `array`
cdef list separate_list(list arrays)
cdef object owned(object result)        # what a function of the user's gave: no array of it is the user's object
cdef object own_memory(object result)   # of an expression that computes: no array of it shares memory with another
