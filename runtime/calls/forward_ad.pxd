from libc.stdint cimport uint64_t

from gradsmith.runtime.graph.tangent cimport Level
from gradsmith.runtime.graph.tensor cimport TensorBase

# ---- what generated rules are written with

cdef class LevelWalk:
    cdef list levels                    # of the operands, old to young
    cdef Level level                    # the one that the rule runs for
    cdef Py_ssize_t position
    cdef uint64_t ceiling_before
    cdef int recording_before           # of a transposed rule; -1 while it has not been touched
    cdef list formulas, cotangents      # of a transposed rule

    cdef bint next(self) except -1
    cdef TensorBase tangent(self, TensorBase t)             # None when it has none
    cdef list tangents(self, object tensors)                # of a Tensor[]: zeros for those without, None when all are
    cdef object or_zeros(self, object tangent, object operand)      # None stays None only for an operand that is None
    cdef int set_tangent(self, TensorBase result, TensorBase tangent) except -1
    cdef int set_tangents(self, object results, object tangents) except -1
    cdef int transpose(self, TensorBase operand, TensorBase tangent, object formula) except -1
    cdef int transpose_list(self, object operands, list tangents, object formulas) except -1
    cdef int give_transposed(self, tuple results, tuple stand_ins) except -1

cdef LevelWalk walk_levels(tuple operands)
cdef TensorBase plus(TensorBase a, TensorBase b)            # None is zero
cdef list plus_list(list a, object b)
cdef TensorBase stand_in(LevelWalk walk, TensorBase result) # what a transposed rule calls `grad`
cdef list stand_in_list(LevelWalk walk, object results)     # and `grads`

# ---- for the rest of the runtime

cdef int copy_tangents(TensorBase source, TensorBase target) except -1
cdef int end_tangents(TensorBase t) except -1               # what was written in place depends on no tangent
cdef bint is_alias(TensorBase t) noexcept                   # a dual number with history
cdef bint has_alias(TensorBase t) except -1                 # shows anything else its memory, by a dual number
