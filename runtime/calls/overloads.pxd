cdef class Overload:
    """One signature."""
    cdef readonly str text          # (Tensor input, int dim, bool keepdim=False)
    cdef readonly tuple parameters  # Parameter, in order
    cdef int positional             # how many may be given by position
    cdef int spread                 # the list whose items may be given one by one, or -1

    cdef tuple expect_bound(self, tuple args, dict kwargs, int converted)


cdef class Overloads:
    """All signatures of one name, in the order in which they are tried."""
    cdef readonly str name
    cdef readonly tuple overloads

    cdef tuple bind(self, tuple args, dict kwargs, int *choice)
