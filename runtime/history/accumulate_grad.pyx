"""`AccumulateGrad`: the end of the graph, where a gradient becomes the `.grad` of a leaf.

The accumulator owns its leaf and the leaf knows its accumulator without owning it, so that all graphs over a leaf
share one accumulator and no cycle keeps them alive.
"""
from cpython.ref cimport Py_INCREF, PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport ADD, binary_into, copy_into, empty_like as array_like, is_dense, is_exclusive, is_meta
from gradsmith.runtime.arrays.functions.view_index cimport add_at
from gradsmith.runtime.batching.batch cimport current_trace, is_batched, living, open_batch_of, slice_of_array
from gradsmith.runtime.graph.indexed_rows cimport (
    add_rows_to,
    fill,
    is_indexed,
    is_unfilled,
    sharing_rows,
    sum_of_rows,
)
from gradsmith.runtime.graph.input_metadata cimport ANY_DTYPE, InputMetadata, set_metadata
from gradsmith.runtime.graph.node cimport NODE_LEAF, Node, SAVED_LEAF
from gradsmith.runtime.graph.tensor cimport (
    HAS_GRAD_DTYPE,
    HAS_HOOKS,
    REQUIRES_GRAD,
    TensorBase,
    TensorMeta,
    bump_version,
    meta_of,
    wrap,
)
from gradsmith.runtime.graph.tangent cimport has_tangent_2
from gradsmith.runtime.history.input_buffer cimport sum_wants_ops, takes_part
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

import warnings

import numpy as np

from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.threads import register_switch

cnp.import_array()

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) int gs_enforce_layout = 1;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread int gs_enforce_layout __attribute__((tls_model("initial-exec"))) = 1;
    #else
    static _Thread_local int gs_enforce_layout = 1;
    #endif
    """
    int gs_enforce_layout

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)


cdef bint layout_warned = False


cdef class AccumulateGrad(Node):
    """Adds incoming gradients to a leaf."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef PyObject *grad = grads[0]
        if grad == NULL:
            return 0
        grads[0] = NULL
        return accumulate_grad(leaf_of(<PyObject *>self), grad)

    cdef void release_saved(self) noexcept:
        """The leaf is not a saved value: it stays."""

    @property
    def variable(self):
        """The leaf."""
        return leaf_of(<PyObject *>self)


cdef AccumulateGrad make_accumulator(TensorBase leaf):
    cdef AccumulateGrad node = AccumulateGrad.__new__(AccumulateGrad)
    node.init(0, 1, 0)
    node.meta = None            # where it was made, which anomaly mode has noted, says nothing
    node.sequence_nr = 0        # below every operation: the engine handles leaves last, or at once
    node.flags |= NODE_LEAF
    Py_INCREF(leaf)
    node.saved[0].value = <PyObject *>leaf
    node.saved[0].kind = SAVED_LEAF
    leaf_metadata(&node.metadata, leaf)
    return node


cdef int leaf_metadata(InputMetadata *metadata, TensorBase leaf) except -1:
    cdef object dtype
    set_metadata(metadata, leaf.array)
    if leaf.flags & HAS_GRAD_DTYPE:
        dtype = (<TensorMeta>leaf.meta).grad_dtype
        metadata.type_number = ANY_DTYPE if dtype is None else <int>dtype.num
    return 0


cdef TensorBase leaf_of(PyObject *accumulator):
    cdef PyObject *leaf = (<Node>accumulator).saved[0].value
    return None if leaf == NULL else <TensorBase>leaf


cdef int accumulate_grad(TensorBase leaf, PyObject *grad) except -1:
    """Steal, copy, add in place or add out of place; see Note [What becomes of a gradient].

    Note [What becomes of a gradient]
    - first gradient, nobody else holds it, laid out like the leaf: it becomes `.grad` itself
    - first gradient otherwise: a copy in the leaf's layout
    - a leaf that has stopped to require grad: dropped
    - `.grad` exists: added in place, so that every holder of `.grad` sees the sum
    - one of them is indexed: rows are joined, or added to the `.grad` that has all of them
    - the graph of the gradient is wanted (create_graph): nothing is changed in place, `.grad` is a new tensor
    - in a trace, as in eager, but by ops
    """
    cdef TensorBase value = <TensorBase>grad
    Py_DECREF_pointer(grad)     # `value` holds it now
    cdef TensorMeta meta = meta_of(leaf)
    if leaf.grad_fn != NULL:
        raise RuntimeError("leaf variable has been moved into the graph interior")
    if not leaf.flags & REQUIRES_GRAD:
        return 0
    touch_grad(leaf, True)
    if living:
        value = of_all_slices(leaf, value)
    cdef bint is_first = meta.grad is None
    if sum_wants_ops(value, <TensorBase>meta.grad):
        meta.grad = recorded_sum(leaf, <TensorBase>meta.grad, value)
    elif is_indexed(value) or is_indexed(<TensorBase>meta.grad):
        add_indexed(leaf, meta, value)
    else:
        add_to_grad(leaf, meta, value, is_first and may_steal(leaf, value))
    # Another thread may have taken it out again.
    if not is_first and not layout_warned and meta.grad is not None and not both_by_rows(leaf, <TensorBase>meta.grad):
        check_layout(leaf, <TensorBase>meta.grad)
    return 0


cdef LeafListener leaf_listener = NULL


cdef void report_leaves_to(LeafListener listener) noexcept:
    global leaf_listener
    leaf_listener = listener


cdef int touch_grad(TensorBase leaf, bint is_read) except -1:
    return leaf_listener(leaf, is_read) if living and current_trace() is not None else 0


cdef TensorBase of_all_slices(TensorBase leaf, TensorBase value):
    """The gradient for a leaf that is the same for all slices of a batch: what they give one after the other."""
    while is_batched(value) and not open_batch_of(value).level.is_trace and not (is_batched(leaf) and open_batch_of(leaf).level is open_batch_of(value).level):
        value = open_batch_of(value).physical.sum(0)
    return value


cdef int add_to_grad(TensorBase leaf, TensorMeta meta, TensorBase value, bint is_ours) except -1:
    """Large additions and copies let other threads run, which may have a gradient for the same leaf.

    So `.grad` is taken out while it is added to, and put back only where none has been put meanwhile; that one is added
    too. No gradient is lost and no array is added to by two threads at once. `is_ours` says that nobody else would see
    `value` change, so that it may become `.grad` itself.
    """
    cdef TensorBase found
    while meta.grad is not None or not is_ours:
        if meta.grad is None:
            value = copy_like(leaf, value)
        else:
            found = <TensorBase>meta.grad
            meta.grad = None
            if is_indexed(found):
                fill(found)
            try:
                binary_into(ADD, found.array, value.array, found.array)
            except BaseException:
                meta.grad = found
                raise
            bump_version(found)
            value = found
        is_ours = True
    meta.grad = value
    return 0


cdef bint add_part_to_grad(TensorBase leaf, TensorBase grad, object shape, object index) except -1:
    """Add the gradient of a part of the leaf, of this shape, to a `.grad` that is there; False where nothing was done.

    `.grad` is taken out meanwhile, as in `add_to_grad`.
    """
    cdef TensorBase found
    cdef TensorMeta meta
    cdef bint is_added = False
    if leaf.meta is None or leaf.grad_fn != NULL or leaf.flags & (REQUIRES_GRAD | HAS_HOOKS) != REQUIRES_GRAD or living:
        return False
    meta = <TensorMeta>leaf.meta
    found = <TensorBase>meta.grad
    if found is None or not takes_part(found, grad, shape) or not both_by_rows(leaf, found):
        return False
    meta.grad = None
    try:
        is_added = add_at(<object>found.array, <object>grad.array, index)
        if is_added:
            bump_version(found)
    finally:
        add_to_grad(leaf, meta, found, True)
    return is_added


cdef int add_indexed(TensorBase leaf, TensorMeta meta, TensorBase value) except -1:
    """Rows are never written, so that a first gradient may share them. See indexed_rows.pyx."""
    cdef TensorBase found = <TensorBase>meta.grad, total
    if found is None and is_unfilled(value):
        meta.grad = sharing_rows(value)
        return 0
    if found is None:
        fill(value)
        return add_to_grad(leaf, meta, value, False)
    total = sum_of_rows(found, value)
    if total is not None:
        found.array, total.array = total.array, found.array
        bump_version(found)
        return 0
    if not is_indexed(value):
        return add_to_grad(leaf, meta, value, False)
    if is_indexed(found):
        fill(found)
    meta.grad = None        # as in `add_to_grad`
    try:
        add_rows_to(<object>found.array, value)
    except BaseException:
        meta.grad = found
        raise
    bump_version(found)
    return add_to_grad(leaf, meta, found, True)


cdef bint may_steal(TensorBase leaf, TensorBase value) except -1:
    # Two references: `value` here and the argument slot of the caller are one and the same.
    return (
        Py_REFCNT(<PyObject *>value) == 1
        and not value.flags & REQUIRES_GRAD
        and value.base == NULL
        and is_exclusive(value.array)
        and (not gs_enforce_layout or is_laid_out_like(leaf, value))
    )


cdef TensorBase copy_like(TensorBase leaf, TensorBase value):
    if is_meta(value.array):
        return wrap(<object>value.array)
    copy = empty_like(leaf, value.dtype)
    copy_into(<PyObject *>copy, value.array)
    return wrap(copy)


cdef TensorBase recorded_sum(TensorBase leaf, TensorBase found, TensorBase value):
    """A new `.grad` with a history. A sum has the layout that both its operands have."""
    cdef TensorBase model = as_it_lies(leaf), shown = as_it_lies(value)
    cdef bint is_laid_out = is_meta(shown.array) or is_laid_out_like(model, shown)
    if not is_laid_out:
        value = upcalls.copy_(wrap(empty_like(model, value.dtype)), value)
    if found is not None:
        total = upcalls.add(found, value)
        return upcalls.copy_(found, total) if is_added_in_place(found, value) else total
    return upcalls.clone(value) if is_laid_out else value


cdef TensorBase as_it_lies(TensorBase t):
    """A tensor of this layout; the array of a batched or traced one has none."""
    return wrap(slice_of_array(<object>t.array)) if is_batched(t) else t


cdef bint is_added_in_place(TensorBase found, TensorBase value) noexcept:
    """By ops, that is in a trace: nowhere else is the sum made of them where nothing is recorded."""
    return not grad_enabled() and current_trace() is not None and not has_tangent_2(found, value)


# ---- the layout of gradients
#
# That of the leaf where its elements leave no gap and overlap nowhere, otherwise row by row.

cdef object empty_like(TensorBase leaf, object dtype):
    if is_dense(leaf.array):
        return array_like(<object>leaf.array, dtype)
    return np.empty(leaf.shape, dtype)


cdef inline bint both_by_rows(TensorBase leaf, TensorBase value) noexcept:
    """As nearly all are."""
    return cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>value.array) and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>leaf.array)


cdef bint is_laid_out_like(TensorBase leaf, TensorBase value) except -1:
    if both_by_rows(leaf, value):
        return True
    if is_dense(leaf.array):
        return same_strides(leaf, value)
    return cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>value.array)


cdef bint same_strides(TensorBase a, TensorBase b) noexcept:
    """Counted in elements; a dimension of size one has none to speak of."""
    cdef cnp.ndarray one = <cnp.ndarray>a.array, other = <cnp.ndarray>b.array
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(one), other_size = cnp.PyArray_ITEMSIZE(other)
    cdef int i
    for i in range(cnp.PyArray_NDIM(one)):
        if cnp.PyArray_DIM(one, i) == 1:
            continue
        if cnp.PyArray_STRIDE(one, i) * other_size != cnp.PyArray_STRIDE(other, i) * size:
            return False
    return True


cdef int check_layout(TensorBase leaf, TensorBase grad) except -1:
    """Warn, once in the life of the process, of sums in a `.grad` that somebody has laid out otherwise."""
    global layout_warned
    if not gs_enforce_layout or is_meta(grad.array) or is_laid_out_like(leaf, grad):
        return 0
    layout_warned = True
    warnings.warn(
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair performance. "
        f"The gradient, of size {list(grad.shape)}, has strides {strides_of(grad)} and its leaf {strides_of(leaf)}. "
        "Set .grad to None before backward, or assign one that is laid out like the leaf; "
        "enforce_grad_layout_policy(False) leaves layouts alone.",
        stacklevel=2,
    )
    return 0


cdef list strides_of(TensorBase t):
    return [step // (<object>t.array).itemsize for step in (<object>t.array).strides]


# ---- whether it is looked at, a switch of the thread

def is_grad_layout_enforced():
    """True unless `enforce_grad_layout_policy` has relaxed it."""
    return gs_enforce_layout != 0


def put_grad_layout_enforced(bint mode):
    global gs_enforce_layout
    gs_enforce_layout = mode


register_switch(is_grad_layout_enforced, put_grad_layout_enforced)
