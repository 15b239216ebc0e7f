from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

from gradsmith.runtime.graph.tensor cimport TensorBase

# Levels that are open, over all threads. While there is none, forward mode costs one test of this number.
cdef int open_levels


cdef class Level:
    cdef readonly uint64_t number       # younger levels have greater numbers
    cdef readonly bint is_open
    cdef PyObject *first                # borrowed: chain of the level's tangents, which leave it when they die

    cdef int close(self) except -1


cdef class Tangent:
    cdef TensorBase value               # None once the level has ended
    cdef Level level
    cdef Tangent older
    cdef PyObject *next                 # borrowed neighbours in the level's chain
    cdef PyObject *previous
    cdef bint in_level

    cdef void join_level(self) noexcept
    cdef void leave_level(self) noexcept


# ---- does the rule of forward mode have to run for these operands? None has no tangent.

cdef bint carries_tangent(TensorBase t) noexcept

cdef inline bint has_tangent_1(TensorBase a) noexcept:
    return open_levels != 0 and carries_tangent(a)

cdef inline bint has_tangent_2(TensorBase a, TensorBase b) noexcept:
    return open_levels != 0 and (carries_tangent(a) or carries_tangent(b))

cdef inline bint has_tangent_3(TensorBase a, TensorBase b, TensorBase c) noexcept:
    return open_levels != 0 and (carries_tangent(a) or carries_tangent(b) or carries_tangent(c))

cdef bint has_tangent_list(object tensors) except -1

cdef uint64_t get_ceiling() noexcept
cdef uint64_t get_rule() noexcept
cdef uint64_t swap_rule(uint64_t number) noexcept
cdef bint swap_forward_mode(bint enabled) noexcept
cdef uint64_t swap_ceiling(uint64_t ceiling) noexcept       # this thread sees tangents of levels below it only
cdef Tangent expect_own(TensorBase t, Level level)          # of the tensor itself, whatever it is a view of
cdef int attach(TensorBase t, Level level, TensorBase value) except -1
cdef list levels_of(tuple operands)
cdef object keep_tangents(PyObject *t)                      # what `t`, perhaps dying, has: for `restore_tangents`
cdef int restore_tangents(TensorBase t, object kept) except -1
