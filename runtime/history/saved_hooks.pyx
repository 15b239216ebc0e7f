"""Hooks on saved tensors: what a user keeps in place of them.

A pair ``(pack, unpack)`` is set for everything that a thread saves (`HooksBlock`), or for one saved tensor
(`SavedTensor.register_hooks`).

Note [Stacked pairs]
Pairs that are set inside one another work one after the other. The innermost `pack` sees the tensor first; while what
comes out is a tensor, the next pair packs that. A value of any other type ends the chain: pairs further out have
nothing that they could be called with. Unpacking runs the same chain backward, and every `unpack` must give a tensor.
"""
from cpython.ref cimport PyObject

from gradsmith.runtime.graph.gc_tracking cimport track, track_for_gc
from gradsmith.runtime.graph.node cimport (
    Node,
    SAVED_ARRAY,
    SAVED_DUAL,
    SAVED_FREED,
    SAVED_OUTPUT,
    SAVED_PACKED,
    SavedVariable,
)
from gradsmith.runtime.graph.node_io cimport value_of
from gradsmith.runtime.graph.saved_variable cimport (
    PACKS,
    REFUSES_HOOKS,
    SavedList,
    freed_error,
    save_mode,
    save_packed,
    set_save_mode,
    unpack,
    unpack_list,
)
from gradsmith.runtime.graph.tangent cimport keep_tangents, open_levels, restore_tangents
from gradsmith.runtime.graph.tensor cimport (
    IS_VIEW,
    REQUIRES_GRAD,
    TensorBase,
    is_tensor,
    meta_of,
    uncount_save,
    version_of,
    version_owner,
    wrap,
)
from gradsmith.runtime.history.history cimport requires_grad, set_grad_fn
from gradsmith.runtime.history.view cimport current_grad_fn, share_version
from gradsmith.runtime.switches.grad_mode cimport grad_enabled, swap_grad_mode
from gradsmith.runtime.switches.upcalls cimport c_upcalls, packer, unpacker

import threading

from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.threads import register_switch


class _Stack(threading.local):
    """Default pairs of one thread, innermost last, and why there may be none."""

    def __init__(self):
        self.pairs = []
        self.refusal = None


_stack = _Stack()


# ---- default hooks

cdef class HooksBlock:
    """Base of `saved_tensors_hooks`. Entering and leaving is C, between whose lines no Ctrl-C can come."""

    cdef public object pack_hook, unpack_hook

    def __enter__(self):
        """Have every tensor that this thread saves packed by `pack_hook`, and given back by `unpack_hook`."""
        check_pair(self.pack_hook, self.unpack_hook)
        if save_mode() & REFUSES_HOOKS:
            raise RuntimeError(_stack.refusal)
        _stack.pairs.append((self.pack_hook, self.unpack_hook))
        set_save_mode(save_mode() | PACKS)

    def __exit__(self, kind=None, value=None, traceback=None):
        """Take away the pair that was set last."""
        _stack.pairs.pop()
        if not _stack.pairs:
            set_save_mode(save_mode() & ~PACKS)


def refuse_hooks(message):
    """From now on `HooksBlock` raises `message`; None allows it again. Gives the message before."""
    before = _stack.refusal
    if message is not None and _stack.pairs:
        raise RuntimeError(message)
    _stack.refusal = message
    set_save_mode(save_mode() & ~REFUSES_HOOKS if message is None else save_mode() | REFUSES_HOOKS)
    return before


def are_set():
    """Does this thread pack what it saves?"""
    return save_mode() & PACKS != 0


def default_hooks():
    """Hooks that this thread has set, for `put_default_hooks` of another one."""
    return list(_stack.pairs), _stack.refusal


def put_default_hooks(hooks):
    pairs, refusal = hooks
    _stack.pairs, _stack.refusal = list(pairs), refusal
    set_save_mode(save_mode() & ~(PACKS | REFUSES_HOOKS))
    if pairs:
        set_save_mode(save_mode() | PACKS)
    if refusal is not None:
        set_save_mode(save_mode() | REFUSES_HOOKS)


register_switch(default_hooks, put_default_hooks)


def noted_hooks():
    """What `restore_hooks` needs."""
    return tuple(_stack.pairs), _stack.refusal


def restore_hooks(tuple pairs, refusal):
    """Set in this thread what was noted. Without memory too, unless pairs were taken away in between."""
    cdef list now = _stack.pairs
    if not are_same(now, pairs):
        now[:] = pairs
    _stack.refusal = refusal


cdef bint are_same(list now, tuple pairs) except -1:
    cdef Py_ssize_t i
    if len(now) != len(pairs):
        return False
    for i in range(len(now)):
        if now[i] is not pairs[i]:
            return False
    return True


cdef int check_pair(object pack, object unpack) except -1:
    for name, hook in (("pack_hook", pack), ("unpack_hook", unpack)):
        if not callable(hook):
            raise TypeError(f"{name} must be callable, got {type(hook).__name__}")
    return 0


# ---- packing

cdef class Packed:
    """See the declaration."""


cdef object pack_by_default(TensorBase t, bint is_output):
    cdef Packed packed = describe(t, is_output)
    pack_with(packed, t, reversed(_stack.pairs))
    if is_output and open_levels:
        packed.output = <PyObject *>t
    return packed


cdef Packed describe(TensorBase t, bint is_output):
    """A Packed that knows the history of `t` and no value yet."""
    cdef Packed packed = Packed.__new__(Packed)
    cdef PyObject *grad_fn
    packed.unpack_hooks = []
    packed.requires_grad = is_output or requires_grad(t)
    packed.is_output = is_output
    packed.output_nr = t.output_nr
    packed.tangents = tangents_now(t)
    if is_output or not packed.requires_grad:
        return packed
    grad_fn = current_grad_fn(t)
    if grad_fn == NULL:
        packed.leaf = t
    else:
        packed.grad_fn = <Node>grad_fn
        packed.output_nr = t.output_nr
    return packed


cdef object tangents_now(TensorBase t):
    """The tangents to keep. A view has its tangents from its base, which may be gone when the view is unpacked."""
    cdef TensorBase parted
    if open_levels == 0 or not t.flags & IS_VIEW:
        return keep_tangents(<PyObject *>t)
    parted = upcalls.parted_view(t)
    return keep_tangents(<PyObject *>parted)


cdef int pack_with(Packed packed, TensorBase t, object pairs) except -1:
    """See Note [Stacked pairs]."""
    cdef bint previous = swap_grad_mode(False)
    packed.value = t
    try:
        for pack, unpack in pairs:
            if not is_tensor(packed.value):
                break
            packed.value = pack_one(pack, packed.value)
            packed.unpack_hooks.insert(0, unpack)
    finally:
        swap_grad_mode(previous)
    return 0


cdef object pack_one(object pack, TensorBase t):
    cdef unsigned int version = version_of(t)
    value = pack(t)
    if version_of(t) != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
            "be modified by in-place operations as this can lead to unexpected side-effects. Pack a clone() instead."
        )
    return value


# ---- unpacking

cdef TensorBase unpack_packed(Node node, object kept):
    """The tensor that the hooks give, with the history of the tensor that was saved."""
    cdef Packed packed = kept
    cdef TensorBase data, result
    if packed.output != NULL:
        packed.tangents = keep_tangents(packed.output)
    value = packed.value
    for hook in packed.unpack_hooks:
        value = call_hook(hook, value)
        if not is_tensor(value):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(value).__name__}, for a tensor saved by {'a checkpoint' if node is None else node.name()}"
            )
    data = value
    if not packed.requires_grad and not requires_grad(data) and packed.tangents is None:
        return data
    result = share_version(data, <object>data.array)
    if packed.requires_grad:
        restore_history(node, packed, result)
    if packed.tangents is not None:
        restore_tangents(result, packed.tangents)
    return result


cdef object call_hook(object hook, object value):
    """What the hook gives; whether gradients are recorded is not its to change."""
    cdef bint previous = swap_grad_mode(grad_enabled())
    try:
        return hook(value)
    finally:
        swap_grad_mode(previous)


cdef void settle_packed(object kept, PyObject *t) noexcept:
    """The output `t`, perhaps dying, leaves its tangents."""
    if (<Packed>kept).output == t:
        (<Packed>kept).tangents = keep_tangents(t)
        (<Packed>kept).output = NULL


cdef int restore_history(Node node, Packed packed, TensorBase result) except -1:
    cdef Node grad_fn = node if packed.is_output else packed.grad_fn
    if grad_fn is not None:
        return set_grad_fn(result, grad_fn, packed.output_nr)
    result.flags |= REQUIRES_GRAD
    meta_of(result).stands_for = packed.leaf
    return 0


c_upcalls.pack_by_default = <packer>pack_by_default
c_upcalls.unpack_packed = <unpacker>unpack_packed
c_upcalls.settle_packed = settle_packed


class StopRecomputation(Exception):
    """Raised by the hooks of a checkpoint, inside of an op, to end a recomputation that has all that it is needed for."""


cdef class KeptTensor:
    """A tensor kept like the input of an op: packed by the hooks that are set, or checked for changes in place."""

    cdef object kept        # Packed or Tensor
    cdef uint32_t version

    def __init__(self, TensorBase tensor not None):
        self.kept = pack_by_default(tensor, False) if save_mode() & PACKS else tensor
        self.version = version_of(tensor)

    def get(self):
        """The tensor.

        Raises
        ------
        RuntimeError
            When it was changed in place since.
        """
        cdef TensorBase t
        if type(self.kept) is Packed:
            return unpack_packed(None, self.kept)
        if self.kept is None:
            raise RuntimeError("KeptTensor.get(): no tensor has been kept; KeptTensor(tensor) keeps one")
        t = self.kept
        if version_of(t) != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: the "
                f"[{t.dtype} tensor of shape {list(t.shape)}] that was given to a checkpointed function is at version "
                f"{version_of(t)}; expected version {self.version} instead. Hint: clone() it before changing it."
            )
        return t


# ---- one saved tensor

cdef class SavedTensor:
    """A tensor kept for backward, before it is unpacked: ``node._raw_saved_<name>``."""

    cdef Node node
    cdef int slot
    cdef int index      # in a list of tensors, -1 for a tensor with a slot of its own

    def __init__(self):
        raise TypeError("SavedTensor objects are attributes of nodes: node._raw_saved_<name>")

    @property
    def data(self):
        """The value kept, without a version check: the packed object, or the tensor without its history."""
        kept = self.kept()
        if type(kept) is Packed:
            return (<Packed>kept).value
        return None if kept is None else share_version(kept, <object>(<TensorBase>kept).array)

    @property
    def unpack_hook(self):
        """The hook that turns `data` back into a tensor; None where no hooks were registered."""
        kept = self.kept()
        return (<Packed>kept).unpack_hooks[0] if type(kept) is Packed and (<Packed>kept).unpack_hooks else None

    def unpack(self):
        """The tensor, as the node will see it."""
        self.require_node()
        if self.index < 0:
            return unpack(self.node, self.slot)
        return unpack_list(self.node, self.slot)[self.index]

    def register_hooks(self, pack_hook, unpack_hook):
        """Keep ``pack_hook(tensor)`` in place of the tensor; `unpack_hook` makes a tensor of it when it is needed.

        Raises
        ------
        RuntimeError
            The tensor has hooks already, was freed, or is None; the pack hook changes it in place.
        TypeError
            A hook is not callable.
        """
        cdef Packed packed
        cdef TensorBase t
        check_pair(pack_hook, unpack_hook)
        kept = self.kept()
        if type(kept) is Packed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if kept is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        t = self.unpack()
        packed = describe(t, self.is_output())
        if packed.is_output:
            packed.output_nr = self.node.saved[self.slot].output_nr
            track(t)        # what the hooks keep of it may hold it, and it holds the node
        pack_with(packed, share_version(t, <object>t.array), [(pack_hook, unpack_hook)])
        self.replace(packed)

    cdef object kept(self):
        """Tensor, Packed or None; an error after release."""
        cdef SavedVariable *saved
        self.require_node()
        if self.index >= 0:
            items = (<SavedList>value_of(self.node, self.slot)).items
            if items is None:
                raise self.freed()
            return items[self.index]
        saved = &self.node.saved[self.slot]
        if saved.kind == SAVED_FREED:
            raise self.freed()
        if saved.kind == SAVED_ARRAY:
            return wrap(<object>saved.value)
        if saved.kind == SAVED_DUAL:
            return wrap((<tuple>saved.value)[0])
        return None if saved.value == NULL else <object>saved.value

    cdef int require_node(self) except -1:
        """Python can make an object without what belongs to it."""
        if self.node is None:
            raise RuntimeError("this SavedTensor belongs to no node; nodes have them as node._raw_saved_<name>")
        return 0

    cdef object freed(self):
        return RuntimeError(f"The saved tensor has been freed, and hooks on it would never run. {freed_error(self.node)}")

    cdef bint is_output(self):
        return self.index < 0 and self.node.saved[self.slot].kind in (SAVED_OUTPUT, SAVED_ARRAY, SAVED_DUAL)

    cdef int replace(self, Packed packed) except -1:
        cdef SavedList saved
        if self.index < 0:
            track_for_gc(self.node)
            return save_packed(self.node, self.slot, packed)
        saved = value_of(self.node, self.slot)
        track_for_gc(self.node)
        uncount_save(version_owner(<PyObject *>(<TensorBase>saved.items[self.index])))
        saved.items[self.index] = packed
        return 0


cdef SavedTensor saved_tensor(Node node, int slot, int index):
    cdef SavedTensor result = SavedTensor.__new__(SavedTensor)
    result.node = node
    result.slot = slot
    result.index = index
    return result


cdef object raw_saved(Node node, int slot):
    # A node that Python made by calling __new__ has no slots.
    return saved_tensor(node, slot, -1) if slot < node.n_saved else None


cdef object raw_saved_list(Node node, int slot):
    cdef SavedList saved = value_of(node, slot)
    if saved is None:
        return ()
    if saved.items is None:
        raise freed_error(node)
    return tuple([saved_tensor(node, slot, i) for i in range(len(saved.items))])
