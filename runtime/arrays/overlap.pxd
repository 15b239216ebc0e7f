cimport numpy as cnp


cdef bint may_overlap_itself(cnp.ndarray array) noexcept
