"""Forward mode: what the generated rules of ops are written with, and dual numbers. See tangent.pyx, Note [Levels].

Note [Tangents of views]
A view has no tangent of its own: it shows the memory of its base, and its tangent shows that of the base's tangent,
which is laid out alike. So a write to either is seen by the other, in value and in tangent. An op that writes in
place writes into the tangent too; only what has no tangent yet is given a new one (a base of zeros, for a view).

Note [Dual numbers are aliases]
`make_dual` leaves its tensor as it is: the dual number is another tensor over the same memory and version counter, whose
history is that of the tensor. It is no view, since its tangent is not that of its base. So neither may be written while
the other lives, where that gives the tensor another history.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_meta
from gradsmith.runtime.batching.batch cimport batch_of, current_trace, is_batched, slice_of_array
from gradsmith.runtime.calls.tangent_layout cimport (
    copied_like,
    fitting,
    has_room_for,
    laid_out_like,
    lie_in_one_order,
    overlaps_itself,
    zeros_like,
)
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.node_io cimport gradient, set_grad_input
from gradsmith.runtime.graph.tangent cimport (
    Level,
    Tangent,
    attach,
    expect_own,
    get_ceiling,
    get_rule,
    has_tangent_1,
    levels_of,
    swap_ceiling,
    swap_forward_mode,
    swap_rule,
)
from gradsmith.runtime.graph.tensor cimport (
    INFERENCE,
    IS_VIEW,
    TensorBase,
    TensorMeta,
    VIEW_RESTRICTIONS,
    meta_of,
    version_owner,
    wrap,
)
from gradsmith.runtime.history.history cimport collect_edge, has_gradient, requires_grad, set_history
from gradsmith.runtime.history.view cimport share_version, view_at
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, inference_mode_enabled, swap_grad_mode

import weakref

from numpy.lib.array_utils import byte_bounds

from gradsmith.runtime.batching.levels import has_recorded_data
from gradsmith.runtime.switches import upcalls

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *) noexcept


cdef TensorBase tangent_at(TensorBase t, Level level):
    """The tangent of `t` at a level, or None; that of a view shows its base's, see Note [Tangents of views]."""
    cdef Tangent tangent
    cdef TensorBase of_base
    if t is None:
        return None
    tangent = expect_own(t, level)
    if tangent is not None:
        return tangent.value
    if not t.flags & IS_VIEW:
        return None
    of_base = tangent_at(<TensorBase>t.base, level)
    return None if of_base is None else view_at(of_base, <TensorBase>t.base, t)


# ---- the rule of an op

cdef int carry_tangents(object results, tuple operands, TangentRule rule, tuple given) except -1:
    """Run the rule of an op for each level of its operands."""
    cdef LevelWalk walk = walk_levels(operands)
    while walk.next():
        found = rule(walk.tangents_of(operands), given)
        if isinstance(results, TensorBase):
            walk.set_tangent(<TensorBase>results, found)
        else:
            walk.set_tangents(results, found)
    return 0


cdef int carry_transposed(tuple results, tuple operands, TransposedRule rule, tuple given) except -1:
    """The same for a transposed rule: its formulas are recorded, and run backwards from the tangents of the operands."""
    cdef LevelWalk walk = walk_levels(operands)
    cdef tuple tangents
    cdef list stand_ins, formulas, cotangents
    while walk.next():
        tangents = walk.tangents_of(operands)
        stand_ins = walk.stand_ins(results)
        formulas, cotangents = [], []
        for operand, tangent, formula in zip(operands, tangents, rule(stand_ins, tangents, given)):
            collect_formula(operand, tangent, formula, formulas, cotangents)
        walk.give_transposed(results, stand_ins, formulas, cotangents)
    return 0


cdef int collect_formula(object operand, object tangent, object formula, list formulas, list cotangents) except -1:
    """One formula of a transposed rule and the tangent of its operand; of a list, those of its tensors."""
    if tangent is None or formula is None:
        return 0
    if isinstance(operand, TensorBase):
        formulas.append(fitting(<TensorBase>operand, formula))
        cotangents.append(tangent)
        return 0
    for operand_, tangent_, formula_ in zip(operand, tangent, formula):
        collect_formula(operand_, tangent_, formula_, formulas, cotangents)
    return 0


cdef object plus(object a, object b):
    if a is None or b is None:
        return b if a is None else a
    return [plus(x, y) for x, y in zip(a, b)] if isinstance(a, list) else upcalls.add(a, b)


cdef TensorBase unlinked(TensorBase view):
    """The setter for the tangent of a view beside other results. A view itself shows its base's tangent already."""
    return wrap(<object>view.array) if view.flags & IS_VIEW else view


cdef object or_zeros(object tangent, object operand):
    """The tangent of an operand, zeros where it has none; of a missing tensor, nothing."""
    if tangent is not None or operand is None:
        return tangent
    return zeros_like(<TensorBase>operand, ()) if isinstance(operand, TensorBase) else [or_zeros(None, t) for t in operand]


# ---- the levels of operands

cdef LevelWalk walk_levels(tuple operands):
    cdef LevelWalk walk = LevelWalk.__new__(LevelWalk)
    walk.levels = levels_of(operands)
    return walk


cdef class LevelWalk:
    """Goes over the levels of an op's operands, old to young; see Note [Levels].

    ``while walk.next(): ...`` runs the rule for one level after the other. The walk ends with the function that holds
    it, also when that raises: the ceiling and the grad mode are those of before then.
    """

    def __cinit__(self):
        self.ceiling_before = get_ceiling()
        self.rule_before = get_rule()
        self.recording_before = -1

    def __dealloc__(self):
        swap_rule(self.rule_before)
        swap_ceiling(self.ceiling_before)
        if self.recording_before >= 0:
            swap_grad_mode(self.recording_before)

    cdef bint next(self) except -1:
        if self.position == len(self.levels):
            return False
        self.level = self.levels[self.position]
        self.position += 1
        swap_rule(self.level.number)
        return True

    cdef TensorBase tangent(self, TensorBase t):
        return tangent_at(t, self.level)

    cdef list tangents(self, object tensors):
        cdef list found = [None if t is None else tangent_at(t, self.level) for t in tensors or ()]
        if not any([tangent is not None for tangent in found]):
            return None
        return [or_zeros(tangent, t) for t, tangent in zip(tensors, found)]

    cdef tuple tangents_of(self, tuple operands):
        return tuple([
            self.tangents(t) if isinstance(t, list) else self.tangent(t) for t in operands
        ])

    cdef int set_tangent(self, TensorBase result, TensorBase tangent) except -1:
        """`tangent` is the result's; None is zero. One that the result has already, written in place, is overwritten."""
        cdef TensorBase present
        if not has_gradient(result):
            return 0
        if result.flags & IS_VIEW:
            make_writable(<TensorBase>result.base, self.level, tangent)
        present = tangent_at(result, self.level)
        if present is not None and may_be_written(present) and has_room_for(present, tangent):
            upcalls.fill_(present, 0) if tangent is None else upcalls.copy_(present, fitting(result, tangent))
        elif tangent is not None:
            attach(result, self.level, laid_out_like(result, fitting(result, tangent)))
        elif present is not None:
            attach(result, self.level, zeros_like(result, ()))
        return 0

    cdef int set_tangents(self, object results, object tangents) except -1:
        """Set the tangents of a list of results; None means zeros for all."""
        for result, tangent in zip(results, tangents or [None] * len(results)):
            if isinstance(result, TensorBase):
                self.set_tangent(<TensorBase>result, <TensorBase>tangent)
            elif result is not None:        # one that is absent has no tangent
                self.set_tangents(result, tangent)
        return 0

    cdef list stand_ins(self, tuple results):
        """Zeros in place of gradients: what is recorded from here on is the linear map that a formula is."""
        self.recording_before = swap_grad_mode(True)
        return [None if result is None else stand_in_for(<TensorBase>result) for result in results]

    cdef int give_transposed(self, tuple results, list stand_ins, list formulas, list cotangents) except -1:
        """Run the recorded formulas backwards, from the tangents of the operands to those of the results."""
        cdef bint recording = self.recording_before
        cdef list there = [i for i, stand_in in enumerate(stand_ins) if stand_in is not None and stand_in.requires_grad]
        self.recording_before = -1
        swap_grad_mode(recording)
        linear = [i for i, formula in enumerate(formulas) if formula.requires_grad]
        found = [None] * len(results)
        if linear:
            given = upcalls.grad(
                [formulas[i] for i in linear], [stand_ins[i] for i in there], [cotangents[i] for i in linear],
                create_graph=recording, allow_unused=True,
            )
            for i, tangent in zip(there, given):
                found[i] = tangent
        return self.set_tangents(results, found)


cdef TensorBase stand_in_for(TensorBase result):
    """Integers, such as places, have no gradient."""
    cdef TensorBase zeros = zeros_like(result, ())
    return zeros.requires_grad_() if has_gradient(result) else zeros


cdef int make_writable(TensorBase base, Level level, TensorBase tangent) except -1:
    """`tangent` is about to be written into a view of that of `base`, which has to be one that takes it."""
    cdef TensorBase present = tangent_at(base, level)
    if present is None:
        if tangent is not None:
            attach(base, level, zeros_like(base, (tangent,)))
    elif not (may_be_written(present) and has_room_for(present, tangent)):
        attach(base, level, copied_like(base, present, (tangent,)))
    return 0


cdef bint may_be_written(TensorBase tangent) except -1:
    """Not where `check_inplace` would refuse, as of one that the user wants a gradient of: the value is written already."""
    cdef TensorBase owner = <TensorBase>tangent.base if tangent.flags & IS_VIEW else tangent
    if tangent.flags & INFERENCE and not inference_mode_enabled():
        return False
    if is_batched(tangent):
        return can_be_written_at_once(batch_of(tangent.array).physical)
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray>tangent.array):
        return is_meta(tangent.array)
    if not grad_enabled() or not requires_grad(tangent):
        return True
    return owner.grad_fn != NULL and not is_alias(owner) and not tangent.flags & VIEW_RESTRICTIONS


cdef bint can_be_written_at_once(TensorBase physical) except -1:
    """Of the data of a batched tangent: not where the slices lie in one place."""
    return may_be_written(physical) and not repeats_elements(slice_of_array(<object>physical.array))


cdef bint repeats_elements(object array):
    return any([not step and size > 1 for step, size in zip(array.strides, array.shape)])


# ---- for the rest of the runtime

cdef int copy_tangents(TensorBase source, TensorBase target) except -1:
    """Copies of all tangents: those of a value that is about to be overwritten, with its tangents."""
    cdef LevelWalk walk
    if not has_tangent_1(source):
        return 0
    walk = walk_levels((source,))
    while walk.next():
        attach(target, walk.level, laid_out_like(target, upcalls.clone(walk.tangent(source))))
    return 0


cdef int end_tangents(TensorBase t) except -1:
    cdef LevelWalk walk
    if not has_tangent_1(t):
        return 0
    walk = walk_levels((t,))
    while walk.next():
        walk.set_tangent(t, None)
    return 0


# ---- dual numbers

cdef class AliasBackward0(Node):
    """The gradient of a dual number is that of the tensor it was made of."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        if self.wants(0):
            set_grad_input(grad_inputs, 0, gradient(grads, 0))
        return 0


cdef TensorBase alias_of(TensorBase t):
    """See Note [Dual numbers are aliases]."""
    cdef TensorBase alias = share_version(t, <object>t.array)
    cdef AliasBackward0 node
    cdef object trace = current_trace()
    if trace is not None and not is_batched(t):
        trace.slot(t)  # which the alias then shares, so that the program reads what `t` shows, and has its gradient
    if grad_enabled() and requires_grad(t):
        node = AliasBackward0.__new__(AliasBackward0)
        node.init(1, 0, 0)
        collect_edge(node, 0, t)
        set_history(alias, node)
    note_alias(meta_of(<TensorBase>version_owner(<PyObject *>t)), alias)
    return alias


cdef int note_alias(TensorMeta meta, TensorBase alias) except -1:
    meta.aliases = [known for known in meta.aliases or () if known() is not None]
    meta.aliases.append(weakref.ref(alias))
    return 0


cdef bint has_alias(TensorBase t) except -1:
    """Does anything else show the memory of `t`, as a dual number or what it was made of, but not its next history?"""
    cdef list aliases = aliases_of(version_owner(<PyObject *>t))
    cdef TensorBase root = <TensorBase>t.base if t.flags & IS_VIEW else t
    if aliases is None:
        return False
    if root.base != NULL:
        return is_held_below(root)
    return any([reference() is not None for reference in aliases])


cdef list aliases_of(PyObject *owner):
    meta = (<TensorBase>owner).meta
    return None if meta is None else (<TensorMeta>meta).aliases


cdef bint is_held_below(TensorBase alias) noexcept:
    """Does anything but `alias` hold what it was made of? All that shows the memory does, directly or not."""
    cdef PyObject *below = alias.base
    while below != NULL:
        if Py_REFCNT(below) > 1:
            return True
        below = (<TensorBase>below).base
    return False


cdef bint is_alias(TensorBase t) noexcept:
    return t.base != NULL and not t.flags & IS_VIEW and t.grad_fn != NULL and isinstance(<object>t.grad_fn, AliasBackward0)


def open_level():
    """A new level, younger than all."""
    return Level()


def close_level(Level level not None):
    """End a level: every tangent of it is taken away."""
    level.close()


def alias(TensorBase tensor not None):
    """Another tensor of the same memory and tangents; with the same history when recording is on, with none otherwise."""
    cdef TensorBase other = alias_of(tensor)
    for level in levels_of((tensor,)):
        attach(other, level, tangent_of_alias(other, tangent_at(tensor, level)))
    return other


cdef TensorBase tangent_of_alias(TensorBase other, TensorBase tangent):
    """A copy; of a batch whose data is part of an outer graph an alias: a copy made without recording would lose that."""
    return alias(tangent) if is_batched(tangent) and has_recorded_data() else laid_out_like(other, tangent)


def all_tangents(TensorBase tensor not None):
    """The tangents of a tensor at all levels that this thread sees, and the tangents of these."""
    cdef list found = []
    if not has_tangent_1(tensor):
        return found
    for level in levels_of((tensor,)):
        tangent = tangent_at(tensor, level)
        found += [tangent, *all_tangents(tangent)]
    return found


def innermost_tangent(TensorBase tensor not None):
    """The tangent of the youngest level that this thread sees, or None."""
    cdef list levels = levels_of((tensor,)) if has_tangent_1(tensor) else []
    return tangent_at(tensor, levels[len(levels) - 1]) if levels else None


def parted_view(TensorBase view not None):
    """A tensor over the memory of a view that has the tangents itself which the view shows of its base's, of all levels."""
    cdef TensorBase found = wrap(<object>view.array)
    cdef uint64_t ceiling = swap_ceiling(<uint64_t>-1)
    try:
        for level in levels_of((view,)):
            attach(found, level, tangent_at(view, level))
    finally:
        swap_ceiling(ceiling)
    return found


upcalls.fill(innermost_tangent=innermost_tangent, parted_view=parted_view)


def make_dual(TensorBase tensor not None, TensorBase tangent not None, Level level not None):
    """Alias of `tensor` with a tangent at `level`, besides those that `tensor` has at other levels.

    Of a tensor whose elements share memory it is a copy: a view of these could not tell which tangent is its own.
    """
    cdef TensorBase dual = alias(upcalls.clone(tensor) if overlaps_itself(tensor) else tensor)
    attach(dual, level, tangent if lies_alike(dual, tensor, tangent) else copied_like(dual, tangent, ()))
    return dual


cdef bint lies_alike(TensorBase dual, TensorBase tensor, TensorBase tangent) except -1:
    """Is `tangent` itself taken, as in PyTorch: with the strides of `tensor`, and at the same place of as much memory?"""
    if not lie_in_one_order(dual, tangent):
        return False
    if is_batched(tensor) or is_batched(tangent):
        return shows_all(tensor) and shows_all(tangent)
    if not (tensor.flags | tangent.flags) & IS_VIEW:
        return True
    return place_in_memory(tensor) == place_in_memory(tangent)


cdef bint shows_all(TensorBase t) except -1:
    """Is it no view, or a view of all of its base?"""
    if not t.flags & IS_VIEW:
        return True
    return byte_bounds(<object>(<TensorBase>t.base).array) == byte_bounds(<object>t.array)


cdef tuple place_in_memory(TensorBase t):
    """Bytes between the start of the memory of its base and that of `t`, and the size of that memory."""
    low, high = byte_bounds(<object>(<TensorBase>t.base).array if t.flags & IS_VIEW else <object>t.array)
    return <size_t>cnp.PyArray_DATA(<cnp.ndarray>t.array) - low, high - low


def tangent_of(TensorBase tensor not None, Level level not None):
    """The tangent at `level`, or None."""
    return tangent_at(tensor, level)


def primal_of(TensorBase tensor not None, Level level not None):
    """Alias of `tensor` with its tangents of levels older than `level` alone."""
    cdef TensorBase primal = alias_of(tensor)
    for other in levels_of((tensor,)):
        if other.number < level.number:
            attach(primal, other, laid_out_like(primal, tangent_at(tensor, other)))
    return primal


def is_forward_enabled():
    """Are tangents carried along in this thread."""
    return get_ceiling() != 0


def set_forward_enabled(bint enabled):
    """Carry tangents along, or not; gives what it was."""
    return swap_forward_mode(enabled)
