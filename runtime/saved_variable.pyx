"""Values kept for backward: saved, checked for change, given back.

See node.pxd, Note [What a saved slot holds]. A slot is a struct inside the node, so that saving costs a reference
and a number.
"""
from cpython.ref cimport Py_INCREF, PyObject

from gradsmith.runtime.debug cimport GS_CHECK
from gradsmith.runtime.grad_mode cimport grad_enabled
from gradsmith.runtime.node cimport (
    Node,
    SAVED_ARRAY,
    SAVED_DUAL,
    SAVED_FREED,
    SAVED_INPUT,
    SAVED_OUTPUT,
    SavedVariable,
    set_value,
    value_of,
)
from gradsmith.runtime.tangent cimport keep_tangents, open_levels, restore_tangents
from gradsmith.runtime.tensor cimport REQUIRES_GRAD, SAVED_AS_OUTPUT, TensorBase, version_of, wrap

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)


cdef void save_input(Node node, int slot, TensorBase t) noexcept:
    cdef SavedVariable *saved = &node.saved[slot]
    if t is None:
        return
    Py_INCREF(t)
    saved.value = <PyObject *>t
    saved.version = version_of(t)
    saved.kind = SAVED_INPUT


cdef void save_output(Node node, int slot, TensorBase t) noexcept:
    """Keep an output of the node itself, borrowed; an output without history cannot close a cycle and is owned."""
    cdef SavedVariable *saved = &node.saved[slot]
    if t.grad_fn != <PyObject *>node:
        save_input(node, slot, t)
        return
    saved.value = <PyObject *>t
    saved.version = version_of(t)
    saved.kind = SAVED_OUTPUT
    saved.output_nr = t.output_nr
    t.flags |= SAVED_AS_OUTPUT


cdef void settle_output(PyObject *t) noexcept:
    """Hand the array of `t` to the node that borrows `t`: it dies, or is about to change its history or array.

    `t` may be dying: it is only borrowed here.
    """
    cdef PyObject *node = (<TensorBase>t).grad_fn
    cdef SavedVariable *saved
    cdef int i
    # `&=` would take a reference for the moment, and end a dying tensor a second time.
    GS_CHECK(node != NULL, "a tensor is borrowed by a node that it has not")
    (<TensorBase>t).flags = (<TensorBase>t).flags & ~<unsigned int>SAVED_AS_OUTPUT
    for i in range((<Node>node).n_saved):
        saved = &(<Node>node).saved[i]
        if saved.kind == SAVED_OUTPUT and saved.value == t:
            saved.kind = SAVED_ARRAY
            saved.stale = min(borrowed_version(t) - saved.version, 255)
            saved.value = (<TensorBase>t).array
            Py_INCREF_pointer(saved.value)
            if open_levels:
                keep_dual(saved, t)


cdef void keep_dual(SavedVariable *saved, PyObject *t) noexcept:
    """The tangents of `t` besides its array, which the slot holds already."""
    cdef object tangents = keep_tangents(t)
    cdef tuple both
    if tangents is None:
        return
    both = (<object>saved.value, tangents)
    Py_DECREF_pointer(saved.value)
    Py_INCREF(both)
    saved.value = <PyObject *>both
    saved.kind = SAVED_DUAL


cdef unsigned int borrowed_version(PyObject *t) noexcept:
    while (<TensorBase>t).base != NULL:
        t = (<TensorBase>t).base
    return (<TensorBase>t).own_version


cdef class SavedList:
    """Tensors and the versions they had when they were saved."""


cdef int save_list(Node node, int value_slot, object tensors) except -1:
    cdef SavedList saved
    if tensors is None:
        return 0
    saved = SavedList.__new__(SavedList)
    saved.tensors = list(tensors)
    saved.versions = [None if t is None else version_of(t) for t in saved.tensors]
    set_value(node, value_slot, saved)
    return 0


cdef list unpack_list(Node node, int value_slot):
    cdef SavedList saved = value_of(node, value_slot)
    cdef TensorBase t
    if saved is None:
        return []
    if saved.tensors is None:
        raise freed_error(node)
    for t, version in zip(saved.tensors, saved.versions):
        if t is not None and version_of(t) != version:
            raise changed_error(node, t, version, producer_of(t))
    return saved.tensors


cdef TensorBase unpack(Node node, int slot):
    """The saved tensor; None when nothing was saved.

    Raises
    ------
    RuntimeError
        When the value was freed by an earlier backward, or changed in place since it was saved.
    """
    cdef SavedVariable *saved = &node.saved[slot]
    cdef TensorBase t
    if saved.kind == SAVED_INPUT or saved.kind == SAVED_OUTPUT:
        if version_of(<TensorBase>saved.value) != saved.version:
            t = <TensorBase>saved.value
            raise changed_error(node, t, saved.version, producer_of(t))
        return <TensorBase>saved.value
    if saved.kind == SAVED_ARRAY or saved.kind == SAVED_DUAL:
        if saved.stale:
            raise changed_error(
                node, revive(node, saved), saved.version, f"output {saved.output_nr} of {node.name()}"
            )
        return revive(node, saved)
    if saved.kind == SAVED_FREED:
        raise freed_error(node)
    return None


cdef TensorBase revive(Node node, SavedVariable *saved):
    """Tensor around a kept array, with the history of the output it once was when that matters."""
    cdef TensorBase t
    if saved.kind == SAVED_DUAL:
        t = wrap((<tuple>saved.value)[0])
        restore_tangents(t, (<tuple>saved.value)[1])
    else:
        t = wrap(<object>saved.value)
    t.own_version = saved.version + saved.stale
    if grad_enabled():
        Py_INCREF(node)
        t.grad_fn = <PyObject *>node
        t.output_nr = saved.output_nr
        t.flags |= REQUIRES_GRAD
    return t


cdef PyObject *saved_array(Node node, int slot) except? NULL:
    cdef SavedVariable *saved = &node.saved[slot]
    if saved.kind == SAVED_ARRAY and not saved.stale:
        return saved.value
    cdef TensorBase t = unpack(node, slot)      # checks; the slot keeps what it returns alive
    return NULL if t is None else t.array


cdef object saved_attribute(Node node, int slot):
    # A node that Python made by calling __new__ has no slots.
    return unpack(node, slot) if slot < node.n_saved else None


cdef object freed_error(Node node):
    return RuntimeError(
        f"{node.name()}: trying to backward through the graph a second time (or directly access saved tensors after "
        "they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
        "need to access saved tensors after calling backward."
    )


cdef str producer_of(TensorBase t):
    return "a leaf" if t.grad_fn == NULL else f"output {t.output_nr} of {(<Node>t.grad_fn).name()}"


cdef object changed_error(Node node, TensorBase t, unsigned int expected, str producer):
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{t.dtype} tensor of shape {list(t.shape)}], which is {producer} and was saved by {node.name()}, "
        f"is at version {version_of(t)}; expected version {expected} instead. "
        "Hint: use the out-of-place form of that operation, or clone() the tensor before changing it."
    )
