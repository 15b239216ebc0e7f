from libc.stdint cimport uint64_t

from gradsmith.runtime.graph.tangent cimport Level
from gradsmith.runtime.graph.tensor cimport TensorBase

# ---- what the ops of the table have for forward mode
# A rule gives the tangents of the results, from those of the operands and the other values that it reads. None is zero.
ctypedef object (*TangentRule)(tuple tangents, tuple given)
# A transposed rule gives the gradient formulas of the operands, from stand-ins for the gradients of the results.
ctypedef tuple (*TransposedRule)(list gradients, tuple tangents, tuple given)

cdef int carry_tangents(object results, tuple operands, TangentRule rule, tuple given) except -1
cdef int carry_transposed(tuple results, tuple operands, TransposedRule rule, tuple given) except -1

# Helpers for rules.
cdef object plus(object a, object b)                        # of tensors, or of lists of them; None is zero
cdef TensorBase unlinked(TensorBase view)                   # a view as a result without base
cdef object or_zeros(object tangent, object operand)        # None stays None only for an operand that is None

# ---- for the rest of the runtime

cdef class LevelWalk:
    cdef list levels                    # of the operands, old to young
    cdef Level level                    # the one that the rule runs for
    cdef Py_ssize_t position
    cdef uint64_t ceiling_before
    cdef uint64_t rule_before
    cdef int recording_before           # of a transposed rule; -1 while it has not been touched

    cdef bint next(self) except -1
    cdef TensorBase tangent(self, TensorBase t)             # None when it has none
    cdef list tangents(self, object tensors)                # of a Tensor[]: zeros for those without, None when all are
    cdef tuple tangents_of(self, tuple operands)            # each a tensor, a Tensor[] or None
    cdef int set_tangent(self, TensorBase result, TensorBase tangent) except -1
    cdef int set_tangents(self, object results, object tangents) except -1
    cdef list stand_ins(self, tuple results)
    cdef int give_transposed(self, tuple results, list stand_ins, list formulas, list cotangents) except -1

cdef LevelWalk walk_levels(tuple operands)

cdef int copy_tangents(TensorBase source, TensorBase target) except -1
cdef int end_tangents(TensorBase t) except -1               # what was written in place depends on no tangent
cdef bint is_alias(TensorBase t) noexcept                   # a dual number with history
cdef TensorBase alias_of(TensorBase t)                      # over the same memory; see Note [Dual numbers are aliases]
cdef bint has_alias(TensorBase t) except -1                 # shows anything else its memory, by a dual number
