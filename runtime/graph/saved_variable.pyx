"""Values kept for backward: saved, checked for change, given back.

See node.pxd, Note [What a saved slot holds]. A slot is a struct inside the node, so that saving costs a reference
and a number. Whatever else saving may do (hooks, a write guard) lies behind the test of one thread-local word.
"""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint16_t, uint32_t
cimport numpy as cnp

from gradsmith.runtime.graph.gc_tracking cimport track
from gradsmith.runtime.graph.node cimport (
    NODE_GUARDED,
    NODE_TRACKED,
    Node,
    SAVED_ARRAY,
    SAVED_DUAL,
    SAVED_FREED,
    SAVED_INPUT,
    SAVED_INTERIOR,
    SAVED_OUTPUT,
    SAVED_PACKED,
    SavedVariable,
    drop_saved,
)
from gradsmith.runtime.graph.node_io cimport set_value, value_of
from gradsmith.runtime.graph.tangent cimport keep_tangents, open_levels, restore_tangents
from gradsmith.runtime.graph.tensor cimport (
    HAS_ATTRIBUTES,
    INFERENCE,
    REQUIRES_GRAD,
    SAVED_AS_OUTPUT,
    SAVED_SPECIALLY,
    TensorBase,
    TensorMeta,
    count_save,
    uncount_save,
    version_of,
    version_owner,
    wrap,
)
from gradsmith.runtime.switches.debug cimport GS_CHECK
from gradsmith.runtime.switches.grad_mode cimport grad_enabled
from gradsmith.runtime.switches.upcalls cimport c_upcalls

from gradsmith.runtime.arrays import write_guard
from gradsmith.runtime.graph import changes
from gradsmith.runtime.switches.threads import register_switch

cnp.import_array()

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    PyObject *PyTuple_GET_ITEM(PyObject *, Py_ssize_t) noexcept
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **) noexcept
    void PyErr_Restore(PyObject *, PyObject *, PyObject *) noexcept

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) int gs_save_mode = 0;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread int gs_save_mode __attribute__((tls_model("initial-exec"))) = 0;
    #else
    static _Thread_local int gs_save_mode = 0;
    #endif
    """
    int gs_save_mode


cdef int save_mode() noexcept:
    return gs_save_mode


cdef void set_save_mode(int mode) noexcept:
    global gs_save_mode
    gs_save_mode = mode


# ---- saving

cdef int save_input(Node node, int slot, TensorBase t) except -1:
    if t is None:
        return 0
    if gs_save_mode or t.flags & SAVED_SPECIALLY:
        return save_slow_tail(node, slot, t, False)
    keep_input(&node.saved[slot], t)
    return 0


cdef int save_output(Node node, int slot, TensorBase t) except -1:
    """Keep an output of the node itself, borrowed; an output without history cannot close a cycle and is owned."""
    if t.grad_fn != <PyObject *>node:
        return save_input(node, slot, t)
    if gs_save_mode or t.flags & SAVED_SPECIALLY:
        return save_slow_tail(node, slot, t, True)
    keep_output(&node.saved[slot], t)
    return 0


cdef inline void keep_input(SavedVariable *saved, TensorBase t) noexcept:
    cdef PyObject *owner = version_owner(<PyObject *>t)
    Py_INCREF(t)
    count_save(owner)
    saved.value = <PyObject *>t
    saved.version = (<TensorBase>owner).own_version
    saved.kind = SAVED_INPUT if t.grad_fn == NULL else SAVED_INTERIOR


cdef inline void keep_output(SavedVariable *saved, TensorBase t) noexcept:
    cdef PyObject *owner = version_owner(<PyObject *>t)
    if owner != <PyObject *>t:
        count_save(owner)
    saved.value = <PyObject *>t
    saved.version = (<TensorBase>owner).own_version
    saved.kind = SAVED_OUTPUT
    saved.output_nr = t.output_nr
    t.flags |= SAVED_AS_OUTPUT


cdef int save_slow(Node node, int slot, TensorBase t, bint is_output) except -1:
    """Save where something is not plain, about this thread or about `t`."""
    if t.flags & INFERENCE:
        raise inference_error(node)
    if t.flags & HAS_ATTRIBUTES:
        track(node)
    if gs_save_mode & PACKS:
        if is_output:
            track(t)        # what the hooks keep of it may hold it, and it holds the node
            if open_levels:
                t.flags |= SAVED_AS_OUTPUT      # its tangents come after it was packed
        return save_packed(node, slot, c_upcalls.pack_by_default(t, is_output))
    if gs_save_mode & GUARDS:
        write_guard.lock(<object>t.array)
        node.flags |= NODE_GUARDED
    if is_output:
        keep_output(&node.saved[slot], t)
    else:
        keep_input(&node.saved[slot], t)
    return 0


# `save_slow` for a tail call: the caller hands an error on without looking, and needs no frame of its own.
ctypedef int (*tail)(Node, int, TensorBase, bint) noexcept
cdef tail save_slow_tail = <tail>save_slow


cdef int save_packed(Node node, int slot, object packed) except -1:
    """Put `packed` in place of what the slot holds."""
    track(node)         # the value is the user's: it may close a cycle
    drop_saved(&node.saved[slot])
    Py_INCREF(packed)
    node.saved[slot].value = <PyObject *>packed
    node.saved[slot].kind = SAVED_PACKED
    return 0


cdef void unguard(PyObject *node) noexcept:
    """Unlock the arrays of all slots; those that the guard does not know it leaves alone."""
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *traceback
    cdef int i
    PyErr_Fetch(&kind, &value, &traceback)      # the node may be dying while an exception is on its way
    (<Node>node).flags = (<Node>node).flags & ~<uint16_t>NODE_GUARDED
    for i in range((<Node>node).n_saved):
        unguard_slot(&(<Node>node).saved[i])
    PyErr_Restore(kind, value, traceback)


cdef int unguard_slot(SavedVariable *saved) except -1:
    if saved.kind == SAVED_ARRAY or saved.kind == SAVED_DUAL:
        write_guard.unlock(<object>array_of_gone(saved))
    elif SAVED_INPUT <= saved.kind <= SAVED_OUTPUT:
        write_guard.unlock(<object>(<TensorBase>saved.value).array)
    return 0


cdef object inference_error(Node node):
    return RuntimeError(
        f"Inference tensors cannot be saved for backward, and {node.name()} needs one. To work around you can make a "
        "clone to get a normal tensor and use it in autograd, or use `gradsmith.no_grad()` instead of "
        "`gradsmith.inference_mode()`."
    )


cdef void detach_saved_output(PyObject *t) noexcept:
    """Hand the array of `t` to the node that borrows `t`: it dies, or is about to change its history or array.

    `t` may be dying: it is only borrowed here.
    """
    cdef PyObject *node = (<TensorBase>t).grad_fn
    cdef PyObject *owner = version_owner(t)
    cdef SavedVariable *saved
    cdef int i
    # `&=` would take a reference for the moment, and end a dying tensor a second time.
    GS_CHECK(node != NULL, "a tensor is borrowed by a node that it has not")
    (<TensorBase>t).flags = (<TensorBase>t).flags & ~<unsigned int>SAVED_AS_OUTPUT
    for i in range((<Node>node).n_saved):
        saved = &(<Node>node).saved[i]
        if saved.kind == SAVED_OUTPUT and saved.value == t:
            saved.kind = SAVED_ARRAY
            saved.stale = min((<TensorBase>owner).own_version - saved.version, 255)
            saved.value = (<TensorBase>t).array
            Py_INCREF_pointer(saved.value)
            if owner != t:
                uncount_save(owner)
            if saved.stale:
                keep_changes(saved, owner)
            if open_levels:
                keep_dual(saved, t)
        elif saved.kind == SAVED_PACKED:
            c_upcalls.settle_packed(<object>saved.value, t)


cdef int replace_array(TensorBase t, object array) except -1:
    """Give `t` another array. A node that borrows `t` gets the old one first."""
    cdef PyObject *old = t.array
    if t.flags & SAVED_AS_OUTPUT:
        detach_saved_output(<PyObject *>t)
    Py_INCREF(array)
    t.array = <PyObject *>array
    Py_DECREF_pointer(old)
    return 0


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


# ---- several tensors in one value slot

cdef class SavedList:
    """Tensors and the versions they had when they were saved."""


cdef int save_list(Node node, int value_slot, object tensors) except -1:
    cdef SavedList saved
    cdef TensorBase t
    if tensors is None:
        return 0
    saved = SavedList.__new__(SavedList)
    saved.items = []
    saved.versions = []
    set_value(node, value_slot, saved)
    for t in tensors:
        saved.items.append(save_item(node, t))
        saved.versions.append(None if t is None else version_of(t))
    return 0


cdef object save_item(Node node, TensorBase t):
    if t is None:
        return None
    if t.flags & INFERENCE:
        raise inference_error(node)
    if t.flags & HAS_ATTRIBUTES:
        track(node)
    if gs_save_mode & PACKS:
        track(node)
        return c_upcalls.pack_by_default(t, False)
    count_save(version_owner(<PyObject *>t))
    return t


cdef list unpack_list(Node node, int value_slot):
    cdef SavedList saved = value_of(node, value_slot)
    cdef int i
    if saved is None:
        return []
    if saved.items is None:
        raise freed_error(node)
    return [unpack_item(node, saved.items[i], saved.versions[i]) for i in range(len(saved.items))]


cdef object unpack_item(Node node, object item, object version):
    if version is None:
        return item
    if not isinstance(item, TensorBase):
        return c_upcalls.unpack_packed(node, item)
    check_kept(node, item, version, False)
    return item


cdef void release_list(SavedList saved) noexcept:
    if saved.items is None:
        return
    for item in saved.items:
        if isinstance(item, TensorBase):
            uncount_save(version_owner(<PyObject *>item))
    saved.items = None


# ---- arguments of any type, such as an index

cdef int save_object(Node node, int value_slot, object value) except -1:
    """Keep tensors in the argument as other saved tensors, and copies of what the caller may change unseen."""
    cdef SavedList saved
    cdef list items = items_of(value)
    if items is None:
        set_value(node, value_slot, value)
        return 0
    saved = SavedList.__new__(SavedList)
    saved.make = type(value) if isinstance(value, (tuple, list)) else first_of
    saved.items = []
    saved.versions = []
    set_value(node, value_slot, saved)
    for item in items:
        saved.versions.append(version_of(item) if isinstance(item, TensorBase) else None)
        saved.items.append(save_item(node, item) if isinstance(item, TensorBase) else own_copy(item))
    return 0


cdef list items_of(object value):
    """The items of a tuple or list, or the value alone; None for a value that never changes."""
    if type(value) is tuple:
        for item in <tuple>value:
            if may_change(item):
                return list(value)
        return None
    if type(value) is list:
        return value
    return [value] if may_change(value) else None


cdef inline bint may_change(object item) noexcept:
    return not is_constant(item) and (isinstance(item, (TensorBase, list)) or cnp.PyArray_Check(item))


cdef object own_copy(object item):
    if isinstance(item, TensorBase):
        return item.detach().clone()
    if type(item) is list:
        return [own_copy(part) for part in item]
    return item.copy() if cnp.PyArray_Check(item) else item


def first_of(list items not None):
    """The argument that was saved as the only item."""
    (item,) = items
    return item


cdef object unpack_object(Node node, int value_slot):
    cdef object value = value_of(node, value_slot)
    if type(value) is not SavedList:
        return value
    return (<SavedList>value).make(unpack_list(node, value_slot))


# ---- giving back

cdef TensorBase unpack(Node node, int slot):
    """The saved tensor; None when nothing was saved.

    Raises
    ------
    RuntimeError
        When the value was freed by an earlier backward, or changed in place since it was saved.
    """
    cdef SavedVariable *saved = &node.saved[slot]
    if is_unchanged(saved):
        return <TensorBase>saved.value
    if SAVED_INPUT <= saved.kind <= SAVED_OUTPUT:
        check_kept(node, <TensorBase>saved.value, saved.version, saved.kind == SAVED_INTERIOR)
        return <TensorBase>saved.value
    if saved.kind == SAVED_ARRAY or saved.kind == SAVED_DUAL:
        if saved.stale:
            raise changed_error(
                node,
                revive(node, saved),
                saved.version,
                f"output {saved.output_nr} of {node.name()}",
                lost_changes.get(<size_t>saved),
            )
        return revive(node, saved)
    if saved.kind == SAVED_PACKED:
        return c_upcalls.unpack_packed(node, <object>saved.value)
    if saved.kind == SAVED_FREED:
        raise freed_error(node)
    return None


cdef object unpack_number(Node node, int value_slot):
    # A node that Python made by calling __new__ has no slots.
    if value_slot < node.n_values and node.values[value_slot] == NULL:
        raise freed_error(node)
    return value_of(node, value_slot)


cdef inline bint is_unchanged(SavedVariable *saved) noexcept:
    """Does the slot hold a tensor that is still what it was? What else it may be is for `unpack`."""
    if not SAVED_INPUT <= saved.kind <= SAVED_OUTPUT:
        return False
    if (<TensorBase>version_owner(saved.value)).own_version != saved.version:
        return False
    return saved.kind != SAVED_INTERIOR or (<TensorBase>saved.value).grad_fn != NULL


cdef int check_kept(Node node, TensorBase t, uint32_t version, bint had_history) except -1:
    """Is the saved tensor still what it was?"""
    cdef PyObject *owner = version_owner(<PyObject *>t)
    if (<TensorBase>owner).own_version != version:
        meta = (<TensorBase>owner).meta
        raise changed_error(node, t, version, producer_of(t), None if meta is None else (<TensorMeta>meta).changes)
    if had_history and t.grad_fn == NULL:
        raise RuntimeError(
            f"{node.name()}: trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). This "
            "is not supported, please use out-of-place `.detach()` instead"
        )
    return 0


cdef inline PyObject *array_of_gone(SavedVariable *saved) noexcept:
    """Borrowed array of an output that has gone, with or without tangents."""
    return saved.value if saved.kind == SAVED_ARRAY else PyTuple_GET_ITEM(saved.value, 0)


cdef TensorBase revive(Node node, SavedVariable *saved):
    """Tensor around a kept array, with the history of the output it once was when that matters."""
    cdef TensorBase t = wrap(<object>array_of_gone(saved))
    if saved.kind == SAVED_DUAL:
        restore_tangents(t, (<tuple>saved.value)[1])
    t.own_version = saved.version + saved.stale
    if grad_enabled():
        if node.flags & NODE_TRACKED:
            track(t)
        Py_INCREF(node)
        t.grad_fn = <PyObject *>node
        t.output_nr = saved.output_nr
        t.flags |= REQUIRES_GRAD
    return t


cdef PyObject *saved_array_of_any_kind(Node node, int slot) except? NULL:
    cdef SavedVariable *saved = &node.saved[slot]
    if is_unchanged(saved):
        return (<TensorBase>saved.value).array
    if (saved.kind == SAVED_ARRAY or saved.kind == SAVED_DUAL) and not saved.stale:
        return array_of_gone(saved)
    if saved.kind != SAVED_PACKED:      # nobody would keep what the hooks give
        unpack(node, slot)              # an error, or nothing was saved
    return NULL


cdef object saved_attribute(Node node, int slot):
    # A node that Python made by calling __new__ has no slots.
    return unpack(node, slot) if slot < node.n_saved else None


cdef object saved_list_attribute(Node node, int value_slot):
    return tuple(unpack_list(node, value_slot))


# ---- what was changed, and where

# Changes of outputs that have gone: by address of the slot that keeps the array, while it does.
cdef dict lost_changes = {}


cdef void keep_changes(SavedVariable *slot, PyObject *owner) noexcept:
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *traceback
    if (<TensorBase>owner).meta is None or (<TensorMeta>(<TensorBase>owner).meta).changes is None:
        return
    PyErr_Fetch(&kind, &value, &traceback)      # the tensor may be dying while an exception is on its way
    lost_changes[<size_t>slot] = list((<TensorMeta>(<TensorBase>owner).meta).changes)
    PyErr_Restore(kind, value, traceback)


cdef void forget_lost_changes(SavedVariable *slot) noexcept:
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *traceback
    if not lost_changes:
        return
    PyErr_Fetch(&kind, &value, &traceback)
    lost_changes.pop(<size_t>slot, None)
    PyErr_Restore(kind, value, traceback)


cdef object freed_error(Node node):
    return RuntimeError(
        f"{node.name()}: trying to backward through the graph a second time (or directly access saved tensors after "
        "they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
        "need to access saved tensors after calling backward."
    )


cdef str producer_of(TensorBase t):
    return "a leaf" if t.grad_fn == NULL else f"output {t.output_nr} of {(<Node>t.grad_fn).name()}"


cdef object changed_error(Node node, TensorBase t, unsigned int expected, str producer, list noted):
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{t.dtype} tensor of shape {list(t.shape)}], which is {producer} and was saved by {node.name()}, "
        f"is at version {version_of(t)}; expected version {expected} instead. {changes.describe(noted, expected)}"
        "Hint: use the out-of-place form of that operation, or clone() the tensor before changing it."
    )


# ---- the write guard, which is Python: see write_guard.py

def guard_saves(bint on):
    """Lock the arrays of what this thread saves from now on, or stop doing so. Gives whether it did before."""
    before = saves_are_guarded()
    set_save_mode(gs_save_mode | GUARDS if on else gs_save_mode & ~GUARDS)
    return before


def saves_are_guarded():
    """True while `guard_saves` is on in this thread."""
    return gs_save_mode & GUARDS != 0


register_switch(saves_are_guarded, guard_saves)
