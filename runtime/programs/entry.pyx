"""The short way from a call of a compiled function to its program.

An entry knows one kind of arguments, compares a call with it in C, and runs the program. Whatever is out of the ordinary (an
argument that the function captures too) is left to the longer way, in Python.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.ref cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport default_type, is_meta
from gradsmith.runtime.arrays.overlap cimport ranges_meet
from gradsmith.runtime.batching.batch cimport living
from gradsmith.runtime.engine.anomaly_mode cimport anomaly_enabled
from gradsmith.runtime.graph.saved_variable cimport PACKS, save_mode
from gradsmith.runtime.graph.tangent cimport open_levels
from gradsmith.runtime.graph.tensor cimport IS_VIEW, REQUIRES_GRAD, TensorBase, TensorMeta, meta_of
from gradsmith.runtime.overrides.dispatch cimport is_overridden, overriding
from gradsmith.runtime.programs.program cimport Program
from gradsmith.runtime.programs.reads cimport Read
from gradsmith.runtime.programs.recorded cimport Recorder, UsedUp
from gradsmith.runtime.programs.snapshots cimport Snapshot
from gradsmith.runtime.programs.sources cimport grad_of, leaf_in, values_of
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, inference_mode_enabled

from gradsmith.runtime.programs.trace import Outdated
from gradsmith.runtime.tensors.factories.random import go_back, place_of

cnp.import_array()

cdef extern from "Python.h":
    PyObject **PySequence_Fast_ITEMS(object) noexcept   # of a list or tuple

cdef enum:
    FLAGS = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_WRITEABLE | cnp.NPY_ARRAY_ALIGNED

NO_MATCH = object()


cdef struct Leaf:
    bint is_tensor
    bint requires_grad
    bint is_leaf
    int ndim
    int flags
    PyObject *descr             # borrowed: `kept` has it
    npy_intp *sizes             # dimensions, then strides


def called(list entries not None, tuple args not None):
    """The result of the first entry that the arguments are for, or `NO_MATCH`."""
    cdef Entry entry
    for entry in entries:
        found = entry.call(args)
        if found is not NO_MATCH:
            return found
    return NO_MATCH


cdef class Entry:
    """A program, and the calls that it is for.

    Parameters
    ----------
    leaves : sequence
        The arguments that it was made for.
    captured : sequence of Tensor
        What it reads besides; has to be laid out as it is now.
    program : Program
    sources : list
        Of its inputs; see sources.pyx.
    results : list
        Of each leaf of the results: ("slot", place among the outputs), ("argument", number), ("value", object), or the
        `.grad` of a leaf after the call, ("gradient", leaf), or before it, ("had", leaf).
    make : callable or None
        Makes the result of a list of these; None where there is only one, which is the result.
    reads : list of Read and Snapshot
        Values outside of the arguments that must not have changed.
    had : list
        Pairs of a leaf (an argument's number or a tensor) and its `.grad`, which has to be laid out as it is now, or None.
    gradients : list
        Pairs of a leaf and the place among the outputs of its new `.grad`, or None for none.
    writes : bool
        Does it write to memory from outside? Then, or where it changes a `.grad`, no argument may share memory with another
        one, or with what is captured.
    recorder : Recorder or None
        Of calls whose results have a history.
    generators : sequence
        Those that such a call draws from.
    guarded : sequence or None
        If a run may be given up, the generators that are put back then; else None.
    plain : sequence of int
        Outputs that do not require grad, even if they show a leaf, whose views do in `no_grad`.
    used_up : sequence of UsedUp
        Of the results whose graph the function frees.
    """

    cdef Leaf *leaves
    cdef Py_ssize_t n_leaves, n_known   # arguments, and these with what is captured
    cdef tuple captured
    cdef Program program
    cdef list sources, results, reads, snapshots, had, gradients
    cdef Leaf *had_leaves
    cdef tuple had_kept
    cdef bint writes
    cdef object make
    cdef Recorder recorder
    cdef tuple generators, guarded, plain, used_up
    cdef tuple kept
    cdef bint records, infers
    cdef int dtype

    def __init__(
        self, leaves not None, captured not None, Program program not None, list sources not None, list results not None, make,
        list reads not None, list had not None, list gradients not None, bint writes, Recorder recorder=None, generators=(),
        guarded=None, plain=(), used_up=(),
    ):
        cdef Py_ssize_t i
        self.had, self.gradients, self.writes = [leaf for leaf, _ in had], gradients, writes
        self.had_kept = tuple([kept_of(grad) for _, grad in had])
        self.had_leaves = new_leaves(len(had))
        for i, (_, grad) in enumerate(had):
            describe(&self.had_leaves[i], grad, self.had_kept[i])
        self.captured = tuple(captured)
        self.kept = tuple([kept_of(leaf) for leaf in (*leaves, *captured)])
        self.n_leaves, self.n_known = len(leaves), len(self.kept)
        self.program, self.sources, self.results, self.make = program, sources, results, make
        self.recorder, self.generators = recorder, tuple(generators)
        self.guarded, self.plain = None if guarded is None else tuple(guarded), tuple(plain)
        self.used_up = tuple(used_up)
        self.reads = [one for one in reads if isinstance(one, Read)]
        self.snapshots = [one for one in reads if isinstance(one, Snapshot)]
        self.records, self.infers, self.dtype = grad_enabled(), inference_mode_enabled(), default_type()
        self.leaves = new_leaves(self.n_known)
        for i, leaf in enumerate((*leaves, *captured)):
            describe(&self.leaves[i], leaf, self.kept[i])

    def __dealloc__(self):
        free_leaves(self.leaves, self.n_known)
        free_leaves(self.had_leaves, 0 if self.had_kept is None else len(self.had_kept))

    cpdef call(self, object leaves):
        """The result of a call, or `NO_MATCH`."""
        if not self.is_for(leaves):
            return NO_MATCH
        cdef Py_ssize_t number
        cdef tuple found
        cdef list states = [(generator, generator.get_state()) for generator in self.generators]
        cdef list results = [None] * len(self.results)      # before anything is written: no memory may be left then
        found = self.program.run(values_of(self.sources, leaves)) if self.guarded is None else self.run_or_none(leaves)
        if found is None:
            return NO_MATCH
        for number in self.plain:
            if (<TensorBase>found[number]).flags & (IS_VIEW | REQUIRES_GRAD) and found[number].requires_grad:
                found = (*found[:number], found[number].detach(), *found[number + 1:])
        if self.recorder is not None:
            found = self.recorder.with_history(found, leaves, states)
        for one in self.used_up:
            found = (<UsedUp>one).with_history(found, leaves)
        for number in range(len(results)):
            kind, value = self.results[number]
            if kind == "slot":
                results[number] = found[value]
            elif kind == "had":
                results[number] = grad_of(leaf_in(leaves, value))
            else:
                results[number] = leaves[value] if kind == "argument" else value
        for leaf, place in self.gradients:
            put_grad(leaf_in(leaves, leaf), None if place is None else gradient_of(<TensorBase>found[place]))
        for number in range(len(results)):
            kind, value = self.results[number]
            if kind == "gradient":
                results[number] = grad_of(leaf_in(leaves, value))
        return results[0] if self.make is None else self.make(results)

    cdef tuple run_or_none(self, object leaves):
        """The outputs of the program; None, with nothing changed, where a guard fails."""
        cdef list places = [place_of(generator) for generator in self.guarded]
        try:
            return self.program.run(values_of(self.sources, leaves))
        except Outdated:
            for generator, place in zip(self.guarded, places):
                go_back(generator, place)
            return None

    cdef bint is_for(self, object leaves) except -1:
        cdef Py_ssize_t i
        if living or open_levels or save_mode() & PACKS or anomaly_enabled() or len(leaves) != self.n_leaves:
            return False
        if overriding and is_overridden(PySequence_Fast_ITEMS(leaves), self.n_leaves):
            return False
        if grad_enabled() != self.records or inference_mode_enabled() != self.infers or default_type() != self.dtype:
            return False
        for i in range(self.n_leaves):
            if not is_alike(&self.leaves[i], leaves[i], self.kept[i]):
                return False
        for i in range(self.n_leaves, self.n_known):
            if not is_alike(&self.leaves[i], self.captured[i - self.n_leaves], self.kept[i]):
                return False
        for i in range(len(self.had)):
            if not is_alike(&self.had_leaves[i], grad_of(leaf_in(leaves, self.had[i])), self.had_kept[i]):
                return False
        return self.is_as_captured() and not ((self.writes or self.gradients) and self.is_shared(leaves))

    cdef bint is_shared(self, object leaves) except -1:
        """May an argument share memory with another one, or with what is captured?"""
        cdef list tensors = [leaf for leaf in leaves if isinstance(leaf, TensorBase)]
        cdef Py_ssize_t i, j
        for i in range(len(tensors)):
            for j in range(i):
                if ranges_meet(<cnp.ndarray>(<TensorBase>tensors[i]).array, <cnp.ndarray>(<TensorBase>tensors[j]).array):
                    return True
            for other in self.captured:
                if ranges_meet(<cnp.ndarray>(<TensorBase>tensors[i]).array, <cnp.ndarray>(<TensorBase>other).array):
                    return True
        return False

    cdef bint is_as_captured(self) except -1:
        for read in self.reads:
            if not (<Read>read).is_there():
                return False
        for snapshot in self.snapshots:
            if not (<Snapshot>snapshot).is_there():
                return False
        return True


cdef Leaf *new_leaves(Py_ssize_t count) except NULL:
    cdef Leaf *leaves = <Leaf *>PyMem_Calloc(max(count, 1), sizeof(Leaf))
    if leaves == NULL:
        raise MemoryError()
    return leaves


cdef void free_leaves(Leaf *leaves, Py_ssize_t count) noexcept:
    cdef Py_ssize_t i
    if leaves != NULL:
        for i in range(count):
            PyMem_Free(leaves[i].sizes)
    PyMem_Free(leaves)


cdef int put_grad(TensorBase leaf, object value) except -1:
    if value is not None:
        meta_of(leaf).grad = value
    elif leaf.meta is not None:
        (<TensorMeta>leaf.meta).grad = None
    return 0


cdef object gradient_of(TensorBase found):
    """A result, as the `.grad` of a leaf: without its history."""
    return found if found.grad_fn == NULL else found.detach()


def exchange_memory(TensorBase one not None, TensorBase other not None):
    """Give each of two tensors the array of the other."""
    one.array, other.array = other.array, one.array


def exchange_hooks(TensorBase leaf not None, hooks):
    """Give a leaf another table of hooks, or None; that before."""
    if leaf.meta is None:
        return None
    before = (<TensorMeta>leaf.meta).hooks
    (<TensorMeta>leaf.meta).hooks = hooks
    return before


def exchange_gradients(tuple params not None, tuple gradients not None):
    """Give parameters other gradients, which are known to be for them or None; those before."""
    cdef list before = []
    cdef TensorBase p
    for p, gradient in zip(params, gradients, strict=True):
        if gradient is not None and not isinstance(gradient, TensorBase):
            raise TypeError(f"a gradient is a Tensor or None, not a {type(gradient).__name__}")
        before.append(meta_of(p).grad)
        meta_of(p).grad = gradient
    return tuple(before)


cdef object kept_of(object leaf):
    return (<object>(<TensorBase>leaf).array).dtype if isinstance(leaf, TensorBase) else leaf


cdef int describe(Leaf *leaf, object value, object kept) except -1:
    cdef cnp.ndarray array
    cdef int i
    leaf.is_tensor = isinstance(value, TensorBase)
    if not leaf.is_tensor:
        return 0
    array = <cnp.ndarray>(<TensorBase>value).array
    leaf.requires_grad = (<TensorBase>value).flags & REQUIRES_GRAD != 0
    leaf.is_leaf = (<TensorBase>value).grad_fn == NULL
    leaf.ndim, leaf.flags = cnp.PyArray_NDIM(array), cnp.PyArray_FLAGS(array) & FLAGS
    leaf.descr = <PyObject *>kept
    leaf.sizes = <npy_intp *>PyMem_Malloc(max(2 * leaf.ndim, 1) * sizeof(npy_intp))
    if leaf.sizes == NULL:
        raise MemoryError()
    for i in range(leaf.ndim):
        leaf.sizes[i] = cnp.PyArray_DIM(array, i)
        leaf.sizes[leaf.ndim + i] = cnp.PyArray_STRIDE(array, i)
    return 0


cdef bint is_alike(const Leaf *leaf, object value, object kept) except -1:
    cdef cnp.ndarray array
    cdef int i
    if not leaf.is_tensor:
        return value is kept or (type(value) in (int, bool, str) and type(value) is type(kept) and value == kept)
    if not isinstance(value, TensorBase):
        return False
    array = <cnp.ndarray>(<TensorBase>value).array
    if <PyObject *>cnp.PyArray_DESCR(array) != leaf.descr or cnp.PyArray_NDIM(array) != leaf.ndim:
        return False
    if cnp.PyArray_FLAGS(array) & FLAGS != leaf.flags or is_meta(<PyObject *>array):
        return False
    if ((<TensorBase>value).flags & REQUIRES_GRAD != 0) != leaf.requires_grad:
        return False
    if ((<TensorBase>value).grad_fn == NULL) != leaf.is_leaf:
        return False
    for i in range(leaf.ndim):
        if cnp.PyArray_DIM(array, i) != leaf.sizes[i]:
            return False
        if not leaf.flags & cnp.NPY_ARRAY_C_CONTIGUOUS and cnp.PyArray_STRIDE(array, i) != leaf.sizes[leaf.ndim + i]:
            return False
    return True
