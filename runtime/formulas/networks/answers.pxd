"""Answers that follow from sizes alone, kept for the next call with the same ones."""

cdef class Answers:
    cdef dict known

    cdef object find(self, tuple question)
    cdef object keep(self, tuple question, object answer)

cdef bint is_plain(object setting)
