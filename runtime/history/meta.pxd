"""Ops on tensors without data; called by observers.pyx while there is one."""


# Is the op one on the meta device? RuntimeError when its tensors are on several.
cdef bint begin_meta(str name, tuple operands) except -1
# Takes the data that was computed on the way from what such an op gives.
cdef int end_meta(object result) except -1
