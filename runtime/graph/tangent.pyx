"""Tangents of forward mode: levels, and what a tensor holds at each.

Note [Levels]
A level is one perturbation, from `enter_dual_level` to `exit_dual_level`. A tensor has at most one tangent for each
open level, ``p + e1*t1 + e2*t2``. A level is younger than all that its thread sees when it is opened, and has a greater
number; a tangent of one level is a tensor that may itself have tangents of *older* levels only.

The rule of an op runs once for each level of its operands, old to young. While it runs for a level the thread sees
tangents of older levels only (the *ceiling*). So the ops that the rule consists of take care of the older levels by
themselves; perturbations never mix, and mixed derivatives need no rule of their own. A level that is opened inside of a
rule, as the `jvp` of a custom Function may do, is older than that of the rule, which is not seen there; between two
numbers there is room for that.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

from gradsmith.runtime.graph.tensor cimport IS_TANGENT, IS_VIEW, TensorBase, TensorMeta, meta_of
from gradsmith.runtime.switches.grad_mode cimport inference_mode_enabled

from gradsmith.runtime.switches.threads import register_switch

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) unsigned long long gs_ceiling = ~0ULL, gs_rule = ~0ULL;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread unsigned long long gs_ceiling __attribute__((tls_model("initial-exec"))) = ~0ULL;
    static __thread unsigned long long gs_rule __attribute__((tls_model("initial-exec"))) = ~0ULL;
    #else
    static _Thread_local unsigned long long gs_ceiling = ~0ULL, gs_rule = ~0ULL;
    #endif
    """
    unsigned long long gs_ceiling
    unsigned long long gs_rule          # number of the level whose rule runs, all ones outside of rules

cdef uint64_t NUMBERS_APART = <uint64_t>1 << 40
cdef int open_levels = 0
cdef list numbers_in_use = []           # of the levels that are open, over all threads


cdef uint64_t get_ceiling() noexcept:
    return gs_ceiling


cdef uint64_t swap_ceiling(uint64_t ceiling) noexcept:
    global gs_ceiling
    cdef uint64_t previous = gs_ceiling
    gs_ceiling = ceiling
    return previous


cdef uint64_t get_rule() noexcept:
    return gs_rule


cdef uint64_t swap_rule(uint64_t number) noexcept:
    """A rule begins or ends, and with it the ceiling changes; gives the number before."""
    global gs_ceiling, gs_rule
    cdef uint64_t previous = gs_rule
    gs_ceiling = gs_rule = number
    return previous


cdef bint swap_forward_mode(bint enabled) noexcept:
    """Carry tangents along, or not; gives what it was. A rule goes on to hide its own level and younger ones."""
    return swap_ceiling(gs_rule if enabled else 0) != 0


def runs_rule():
    """Does this thread run the rule of an op, which computes tangents?"""
    return gs_rule != <unsigned long long>-1


def state_of_thread():
    """The ceiling, and the number of the level whose rule runs."""
    return gs_ceiling, gs_rule


def put_state(state):
    """Set what `state_of_thread` gives."""
    global gs_ceiling, gs_rule
    gs_ceiling, gs_rule = state


register_switch(state_of_thread, put_state)


# ---- levels and their tangents

cdef class Level:
    """One perturbation. Its tangents end with it. See Note [Levels]."""

    def __cinit__(self):
        global open_levels
        cdef uint64_t below = max([number for number in numbers_in_use if number < gs_rule], default=0)
        if gs_rule - below < 2:
            raise RuntimeError("too many levels of forward mode are open, one in the rule of the other")
        self.number = below + min(NUMBERS_APART, (gs_rule - below) // 2)
        numbers_in_use.append(self.number)
        self.is_open = True
        open_levels += 1

    cdef int close(self) except -1:
        """Remove every tangent. Destroying one may run anybody's code: each leaves the chain before that."""
        global open_levels
        cdef Tangent tangent
        cdef TensorBase value
        self.is_open = False
        open_levels -= 1
        numbers_in_use.remove(self.number)
        while self.first != NULL:
            tangent = <Tangent>self.first
            tangent.leave_level()
            value = tangent.value
            tangent.value = None
            value = None


cdef class Tangent:
    """The tangent of one tensor at one level; a tensor's tangents are linked from young to old."""

    cdef void join_level(self) noexcept:
        self.next = self.level.first
        if self.next != NULL:
            (<Tangent>self.next).previous = <PyObject *>self
        self.level.first = <PyObject *>self
        self.in_level = True

    cdef void leave_level(self) noexcept:
        if not self.in_level:
            return
        self.in_level = False
        if self.next != NULL:
            (<Tangent>self.next).previous = self.previous
        if self.previous != NULL:
            (<Tangent>self.previous).next = self.next
        else:
            self.level.first = self.next
        self.next = self.previous = NULL

    def __dealloc__(self):
        self.leave_level()


cdef Tangent make_tangent(Level level, TensorBase value, Tangent older):
    cdef Tangent tangent = Tangent.__new__(Tangent)
    tangent.level = level
    tangent.value = value
    tangent.older = older
    tangent.join_level()
    return tangent


# ---- the tangents of a tensor

cdef bint carries_tangent(TensorBase t) noexcept:
    """Has `t`, or the tensor that it is a view of, a tangent that this thread sees."""
    if t is None or inference_mode_enabled():
        return False
    if sees_tangent(t):
        return True
    return t.flags & IS_VIEW != 0 and carries_tangent(<TensorBase>t.base)


cdef bint sees_tangent(TensorBase t) noexcept:
    cdef Tangent tangent
    if t.meta is None:
        return False
    tangent = <Tangent>(<TensorMeta>t.meta).tangents
    while tangent is not None:
        if tangent.level.is_open and tangent.level.number < gs_ceiling:
            return True
        tangent = tangent.older
    return False


cdef bint has_tangent_list(object tensors) except -1:
    cdef TensorBase t
    if open_levels == 0:
        return False
    for t in tensors or ():
        if carries_tangent(t):
            return True
    return False


cdef Tangent expect_own(TensorBase t, Level level):
    cdef Tangent tangent
    if t.meta is None:
        return None
    tangent = <Tangent>(<TensorMeta>t.meta).tangents
    while tangent is not None and tangent.level is not level:
        tangent = tangent.older
    return tangent


cdef int attach(TensorBase t, Level level, TensorBase value) except -1:
    """Give `t`, which is no view, its tangent at a level."""
    cdef TensorMeta meta = meta_of(t)
    meta.tangents = inserted(meta.tangents, level, value)
    value.flags |= IS_TANGENT
    return 0


cdef Tangent inserted(Tangent chain, Level level, TensorBase value):
    """`chain` with one more tangent, young to old, without those whose level has ended."""
    while chain is not None and not chain.level.is_open:
        chain = chain.older
    if chain is not None and chain.level.number > level.number:
        chain.older = inserted(chain.older, level, value)
        return chain
    if chain is not None and chain.level is level:
        chain = chain.older
    return make_tangent(level, value, chain)


cdef list levels_of(tuple operands):
    """Levels, below the ceiling, at which an operand has a tangent; old to young."""
    cdef set found = set()
    for operand in operands:
        if isinstance(operand, TensorBase):
            add_levels(<TensorBase>operand, found)
        elif operand is not None:
            for t in operand:
                if t is not None:
                    add_levels(<TensorBase>t, found)
    return sorted(found, key=number_of)


def number_of(Level level):
    """The order of levels."""
    return level.number


cdef int add_levels(TensorBase t, set found) except -1:
    cdef Tangent tangent
    if t is None:
        return 0
    if t.meta is not None:
        tangent = <Tangent>(<TensorMeta>t.meta).tangents
        while tangent is not None:
            if tangent.level.is_open and tangent.level.number < gs_ceiling:
                found.add(tangent.level)
            tangent = tangent.older
    return add_levels(<TensorBase>t.base, found) if t.flags & IS_VIEW else 0


# ---- what outlives its tensor

cdef object keep_tangents(PyObject *t):
    cdef PyObject *meta = <PyObject *>(<TensorBase>t).meta
    if open_levels == 0 or <object>meta is None:
        return None
    return (<TensorMeta>meta).tangents


cdef int restore_tangents(TensorBase t, object kept) except -1:
    cdef Tangent tangent = kept
    while tangent is not None:
        if tangent.level.is_open:
            attach(t, tangent.level, tangent.value)
        tangent = tangent.older
    return 0
