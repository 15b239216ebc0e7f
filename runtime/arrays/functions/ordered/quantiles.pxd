cdef enum Mode:
    LINEAR
    LOWER
    HIGHER
    MIDPOINT
    NEAREST

cdef bint are_shares(object q) except -1
cdef tuple neighbours_of_quantiles(object rows, object q, str interpolation, bint ignore_nan)
