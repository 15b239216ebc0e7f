"""Answers that follow from sizes alone, kept for the next call with the same ones."""

cdef class Answers:
    cdef object compute
    cdef object may_be_kept
    cdef dict known

    cdef object to(self, tuple question)

cdef bint is_plain(object setting)
