"""In-place forms: what may be written, the value before, the history after.

See view.pyx, Note [In-place on a view].
"""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t, uint64_t
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport copy_into, is_dense, is_meta, readable_copy, release_array
from gradsmith.runtime.arrays.overlap cimport may_overlap_itself
from gradsmith.runtime.batching.batch cimport Batch, as_batched, batch_of, current_trace, is_batched
from gradsmith.runtime.calls.captured cimport expect_own, refuse_captured
from gradsmith.runtime.calls.forward_ad cimport copy_tangents, has_alias, is_alias
from gradsmith.runtime.graph.gc_tracking cimport track, track_cycle
from gradsmith.runtime.graph.input_metadata cimport set_metadata
from gradsmith.runtime.graph.node cimport NODE_TRACKED, Node, SAVED_INPUT, SAVED_INTERIOR
from gradsmith.runtime.graph.tensor cimport (
    INFERENCE,
    IS_VIEW,
    REQUIRES_GRAD,
    TensorBase,
    TensorMeta,
    VIEW_IN_FUNCTION,
    VIEW_MULTI_OUTPUT,
    VIEW_RESTRICTIONS,
    bump_version,
    count_save,
    is_saved,
    meta_of,
    uncount_save,
    version_owner,
    wrap,
)
from gradsmith.runtime.graph.tangent cimport has_tangent_2, swap_ceiling
from gradsmith.runtime.history.copy_slices cimport make_copy_slices
from gradsmith.runtime.history.history cimport (
    forget_retained,
    has_gradient,
    prepare_grad_fn,
    put_grad_fn,
    requires_grad,
    requires_grad_1,
)
from gradsmith.runtime.history.view cimport ambiguous_view_error, current_grad_fn, function_view_error
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, inference_mode_enabled, swap_grad_mode
from gradsmith.runtime.switches.transformed cimport running_calls

import weakref

import numpy as np

from gradsmith.runtime.arrays import write_guard
from gradsmith.runtime.graph import changes
from gradsmith.runtime.graph.tensor_api import strides_of
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.lazy_modules import LazyModule

cdef object view_geometry = LazyModule("gradsmith.runtime.arrays.functions.view_geometry")
cdef object complex_casts = LazyModule("gradsmith.runtime.arrays.complex_casts")

cnp.import_array()

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)


cdef int check_inplace(str op, TensorBase self) except -1:
    """Refuse a write that the graph cannot express; the tensor is untouched. A write to a saved tensor is noted."""
    begin_change(op, self)
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray>self.array) and not may_be_written(<object>self.array):
        raise ValueError(f"{op}: the tensor's array is read-only; clone() the tensor first")
    if repeats_elements(self.array) and not may_repeat(op, self) and not is_meta(self.array):
        raise overlap_error(op, <object>self.array)
    return check_recorded_change(op, self)


cdef int check_change(str op, TensorBase self) except -1:
    """The same for a change of what the tensor shows of its memory, which writes nothing."""
    if running_calls and not is_batched(self):
        expect_own(f"{op} gives another shape, or other memory, to", self)
    begin_change(op, self)
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray>self.array):
        may_be_written(<object>self.array)      # a write guard gives way: what it locked will be found no more
    return check_recorded_change(op, self)


cdef int begin_change(str op, TensorBase self) except -1:
    cdef PyObject *owner = version_owner(<PyObject *>self)
    if is_saved(owner):
        note_change(op, <TensorBase>owner)
    if self.flags & INFERENCE and not inference_mode_enabled():
        raise RuntimeError(
            f"{op}: Inplace update to inference tensor outside InferenceMode is not allowed. "
            "You can make a clone to get a normal tensor before doing inplace update."
        )
    return refuse_captured(op, self) if running_calls else 0


cdef int check_recorded_change(str op, TensorBase self) except -1:
    """Does the history of the tensor allow for a change, while one is recorded?"""
    if not self.flags & (REQUIRES_GRAD | IS_VIEW) or not grad_enabled() or not requires_grad(self):
        return 0
    if self.flags & IS_VIEW:
        return check_inplace_view(op, self)
    if is_alias(self):
        raise alias_error(op)
    if self.grad_fn == NULL:
        if running_calls:
            expect_own(f"{op} writes to", self)
        raise RuntimeError(
            f"a leaf Variable that requires grad is being used in an in-place operation: {op}. "
            "Write under gradsmith.no_grad(), or to a clone()."
        )
    return 0


cdef bint may_be_written(object array) except -1:
    """Does the tensor of a read-only array only pretend: it has no data, or is under a write guard?"""
    return is_meta(<PyObject *>array) or write_guard.give_way(array)


cdef int note_change(str op, TensorBase owner) except -1:
    cdef TensorMeta meta = meta_of(owner)
    if meta.changes is None:
        meta.changes = []
    changes.note(meta.changes, op, owner.own_version + 1)
    if meta.watchers is not None:
        call_watchers(owner, meta)
    return 0


cdef int call_watchers(TensorBase owner, TensorMeta meta) except -1:
    watchers, meta.watchers = meta.watchers, None
    for reference in watchers:
        uncount_save(<PyObject *>owner)
        watcher = reference()
        if watcher is not None:
            watcher.before_change()
    return 0


def watch_changes(TensorBase tensor not None, watcher):
    """Have ``watcher.before_change()`` called once, before `tensor` or what shares its memory is changed in place.

    The watcher is held weakly.
    """
    cdef PyObject *owner = version_owner(<PyObject *>tensor)
    cdef TensorMeta meta = meta_of(<TensorBase>owner)
    if meta.watchers is None:
        meta.watchers = []
    meta.watchers.append(weakref.ref(watcher))
    count_save(owner)


def increment_version(TensorBase tensor not None):
    """Count one change in place that was made by other means than an op. Inference tensors do not count."""
    cdef PyObject *owner = version_owner(<PyObject *>tensor)
    if tensor.flags & INFERENCE:
        return
    if is_saved(owner):
        note_change("increment_version", <TensorBase>owner)
    bump_version(tensor)


def set_version(TensorBase tensor not None, uint32_t version):
    """Pretend that `tensor` has been changed `version` times."""
    (<TensorBase>version_owner(<PyObject *>tensor)).own_version = version


# One value for all elements can be written through a tensor that shows an element several times.
cdef frozenset WRITES_ONE_VALUE = frozenset(("fill_", "zero_"))


cdef bint repeats_elements(PyObject *array) noexcept:
    """Does the array step nowhere along a dimension, as after an expand?"""
    cdef int i
    for i in range(cnp.PyArray_NDIM(<cnp.ndarray>array)):
        if cnp.PyArray_STRIDE(<cnp.ndarray>array, i) == 0 and cnp.PyArray_DIM(<cnp.ndarray>array, i) > 1:
            return cnp.PyArray_SIZE(<cnp.ndarray>array) > 0
    return False


cdef bint may_repeat(str op, TensorBase self) except -1:
    """`copy_` looks itself: what a tensor holds already may be written to it, as long as no gradient goes that way."""
    return op in WRITES_ONE_VALUE or (op == "copy_" and not requires_grad_1(self))


cdef object overlap_error(str op, object array):
    return RuntimeError(
        f"{op}: unsupported operation: more than one element of the written-to tensor refers to a single memory "
        f"location (shape {list(array.shape)}, strides {list(strides_of(array))}). clone() the tensor before the write."
    )


def refuse_repeated_elements(str op, TensorBase target not None):
    """Raise when `target` shows an element several times, before `op` writes to it."""
    if repeats_elements(target.array) and not is_meta(target.array):
        raise overlap_error(op, <object>target.array)


cdef bint is_written_already(str op, object target, object source) except -1:
    """Is `target` an expanded array, and `source` the same places of the same memory? Another one is refused."""
    if op in WRITES_ONE_VALUE or not repeats_elements(<PyObject *>target) or is_meta(<PyObject *>target):
        return False
    if target.dtype == source.dtype and target.shape == source.shape and target.strides == source.strides:
        if cnp.PyArray_DATA(<cnp.ndarray>target) == cnp.PyArray_DATA(<cnp.ndarray>source):
            return True
    raise overlap_error(op, target)


cdef int check_inplace_view(str op, TensorBase self) except -1:
    """A write to a view that requires grad."""
    cdef TensorBase base = <TensorBase>self.base
    if is_alias(base):
        raise alias_error(op)
    if self.flags & VIEW_RESTRICTIONS:
        refuse_restricted(op, self)
    if base.grad_fn == NULL:
        if running_calls:
            expect_own(f"{op} writes to", base)
        raise RuntimeError(
            f"a view of a leaf Variable that requires grad is being used in an in-place operation: {op}. "
            "Write under gradsmith.no_grad(), or to a view of a clone()."
        )
    return 0


cdef int refuse_restricted(str op, TensorBase self) except -1:
    """A view whose history no write can leave right, whether it has one already or is about to get it."""
    if self.flags & VIEW_IN_FUNCTION and not self.flags & VIEW_MULTI_OUTPUT:
        raise function_view_error(self, f"is being modified inplace by {op}")
    if self.flags & VIEW_MULTI_OUTPUT:
        raise RuntimeError(
            f"Output {self.output_nr} of {'a multi-output op' if self.grad_fn == NULL else (<Node>self.grad_fn).name()} "
            f"is a view and is being modified inplace by {op}. This view is the output of a function that returns "
            "multiple views. Such functions do not allow the output views to be modified inplace. You should replace "
            "the inplace operation by an out-of-place one."
        )
    raise ambiguous_view_error(self, f"is being modified inplace by {op}")


cdef object alias_error(str op):
    return RuntimeError(
        f"{op}: a dual number made of a tensor that requires grad shares its memory, and the write would change the other "
        "one without its history. Use the out-of-place form, or make the dual number of a clone()."
    )


cdef TensorBase original_of(TensorBase self):
    """The value and history of `self` before an in-place write, for a formula that reads it."""
    cdef TensorBase original = copy_without_history(self)
    cdef PyObject *grad_fn = current_grad_fn(self)
    if grad_fn != NULL:
        Py_INCREF_pointer(grad_fn)
        original.grad_fn = grad_fn
        if (<Node>grad_fn).flags & NODE_TRACKED:
            track(original)
        original.output_nr = self.output_nr
        original.flags |= REQUIRES_GRAD
    copy_tangents(self, original)
    return original


cdef TensorBase copy_without_history(TensorBase self):
    """Of a batch the copy has the history of the data, which an outer graph may be about.

    In a trace the copy is a step, also of a tensor from outside: its value is another one in each run.
    """
    if batch_of(self.array).level.is_trace if is_batched(self) else current_trace() is not None:
        return traced_copy(self)
    if is_batched(self):
        return as_batched(upcalls.clone(batch_of(self.array).physical), batch_of(self.array).level)
    return wrap(readable_copy(<object>self.array))


cdef TensorBase traced_copy(TensorBase self):
    cdef bint recording = swap_grad_mode(False)
    cdef uint64_t ceiling = swap_ceiling(0)
    try:
        return upcalls.clone(self)
    finally:
        swap_ceiling(ceiling)
        swap_grad_mode(recording)


cdef object kept_from_write(TensorBase self, object operand):
    """An operand, or a list of them, for a rule that runs after a write to `self`: copies where that changes them."""
    if operand is None:
        return None
    if not isinstance(operand, TensorBase):
        return [kept_from_write(self, item) for item in operand]
    cdef TensorBase tensor = <TensorBase>operand
    return original_of(tensor) if np.may_share_memory(<object>self.array, <object>tensor.array) else tensor


cdef Node prepare_history(str op, TensorBase self, Node node):
    """The history that the tensor (or its base) will have after the write that `node` records.

    None where the dtype of the tensor has no gradient. All that can fail is done here, while nothing has been written.
    """
    cdef Node history
    if not has_gradient(self):
        return None
    if running_calls:
        expect_own(f"{op} gives a history to", self)
    if self.flags & VIEW_RESTRICTIONS:
        refuse_restricted(op, self)
    if has_alias(self):
        raise alias_error(op)
    if writes_some_of_overlapping(op, self):
        raise history_of_some_error(op, self)
    set_metadata(&node.metadata, self.array)
    cdef TensorBase base = self
    history = node
    if self.flags & IS_VIEW:
        base = <TensorBase>self.base
        history = make_copy_slices(base, self, node)
    if saves_view_of(base, node):
        for thing in (base, node, history):
            track_cycle(thing)
    prepare_grad_fn(base, history, 0)
    return history


cdef bint saves_view_of(TensorBase base, Node node) noexcept:
    """Does the node keep views of what it is the history of? The collector is told of them."""
    cdef bint found = False
    cdef TensorBase saved
    for i in range(node.n_saved):
        if node.saved[i].kind not in (SAVED_INPUT, SAVED_INTERIOR) or node.saved[i].value == NULL:
            continue
        saved = <TensorBase>node.saved[i].value
        if saved.flags & IS_VIEW and saved.base == <PyObject *>base:
            track_cycle(saved)
            found = True
    return found


cdef bint is_counted(TensorBase self) noexcept:
    """Has the write to the data of a batch counted, as a change of the batched tensor too?"""
    cdef PyObject *owner = version_owner(<PyObject *>self)
    cdef PyObject *batch
    if not is_batched(self):
        return False
    batch = cnp.PyArray_BASE(<cnp.ndarray>self.array)
    return isinstance(<object>batch, Batch) and version_owner(<PyObject *>(<Batch>batch).physical) == owner


# A large array whose elements have been written. What Cython lets go does not get to the cache of arrays, so each such
# write would pay for the page faults of a new one: it is held until `finish_inplace`, which gives it back.
cdef PyObject *written_values = NULL

cdef enum:
    LARGE = 1 << 16             # bytes


cdef void give_back_when_finished(object array) noexcept:
    global written_values
    if written_values == NULL and isinstance(array, cnp.ndarray) and cnp.PyArray_NBYTES(<cnp.ndarray>array) >= LARGE:
        Py_INCREF(array)
        written_values = <PyObject *>array


cdef void give_back_values() noexcept:
    global written_values
    cdef PyObject *array = written_values
    written_values = NULL
    release_array(array)


cdef void finish_inplace(TensorBase self, Node history) noexcept:
    """After the write: count it, and set what `prepare_history` gave, if it was asked. A view's follows when needed."""
    if written_values != NULL:
        give_back_values()
    if not is_counted(self):
        bump_version(self)
    if history is None:
        return
    if self.flags & IS_VIEW:
        put_grad_fn(<TensorBase>self.base, history, 0)
        forget_retained(self)
    else:
        put_grad_fn(self, history, 0)


# Ops that write some of the elements and leave the others alone, and those of them that always add.
cdef frozenset WRITES_SOME = frozenset(("index_put_", "masked_fill_", "scatter_", "scatter_add_", "index_add_"))
cdef frozenset ADDS = frozenset(("scatter_add_", "index_add_"))


cdef bint writes_some_of_overlapping(str op, TensorBase self) except -1:
    """Does `op` leave elements alone that may lie in one place with others, which it writes?"""
    if not may_overlap_itself(<cnp.ndarray>self.array) or op not in WRITES_SOME or is_meta(self.array):
        return False
    return view_geometry.overlaps_itself(<object>self.array)


cdef object history_of_some_error(str op, TensorBase self):
    """Which of the elements in one place is written last depends on the index, which a view's history ignores."""
    cdef tuple shape = (<object>self.array).shape
    return RuntimeError(
        f"{op}: several elements of the written-to tensor lie in one place of memory (shape {list(shape)}, strides "
        f"{list(strides_of(<object>self.array))}), so the write has no derivative. clone() the tensor before it, or "
        "write under no_grad()."
    )


cdef TensorBase write_some(str op, TensorBase self, TensorBase value):
    """`value`, which has been computed from `self`, into `self`, where it has changed."""
    if requires_grad_1(value) or has_tangent_2(self, value):
        raise history_of_some_error(op, self)
    write_inplace(op, self, <object>value.array)
    finish_inplace(self, None)
    return self


cdef int write_inplace(str op, TensorBase self, object array) except -1:
    """Copy `array`, a computed result, into `self`."""
    cdef object target = <object>self.array
    check_result_dtype(op, array.dtype, target.dtype)
    if array.shape != target.shape:
        raise RuntimeError(
            f"{op}: output with shape {list(target.shape)} doesn't match the broadcast shape {list(array.shape)}; "
            "an in-place operation cannot change the shape of its tensor"
        )
    if writes_some_of_overlapping(op, self):
        if op in ADDS:
            view_geometry.add_differences(target, array)
        else:
            np.copyto(target, array, where=view_geometry.differing(target, array))
        return 0
    store_values(target, array)
    give_back_when_finished(array)
    return 0


cdef bint writes_directly(str op, TensorBase self) except -1:
    return (
        cnp.PyArray_ISBEHAVED(<cnp.ndarray>self.array)
        and not is_meta(self.array)
        and not is_batched(self)
        and not writes_some_of_overlapping(op, self)
    )


cdef int store_values(object target, object values) except -1:
    """``target[...] = values``, cast, as far as there is data. For an array without dimensions NumPy may give a scalar."""
    if not isinstance(values, cnp.ndarray):
        values = np.asarray(values)
    if is_meta(<PyObject *>target):
        np.broadcast_to(values, target.shape)       # an error when they do not fit
    elif is_meta(<PyObject *>values):
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    elif values.dtype == target.dtype and is_dense(<PyObject *>target) and (values.ndim == 0 or values.shape == target.shape):
        copy_into(<PyObject *>target, <PyObject *>values)
    else:
        np.copyto(target, converted(complex_casts.real_where_kept(values, target.dtype), target.dtype))
    return 0


cdef object converted(object values, object dtype):
    """The array in a dtype; NumPy would warn of numbers that do not fit."""
    if values.dtype == dtype:
        return values
    with np.errstate(all="ignore"):
        return values.astype(dtype)


cdef int check_result_dtype(str op, object found, object target) except -1:
    """Complex to real, floating to integer, integer to bool: PyTorch refuses what loses the category."""
    if "biufc".index(category_of(found)) > "biufc".index(category_of(target)):
        raise RuntimeError(f"{op}: result type {found} can't be cast to the desired output type {target}")
    return 0


cdef str category_of(object dtype):
    return "i" if dtype.kind == "u" else dtype.kind
