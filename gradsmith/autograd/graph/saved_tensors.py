"""Context managers that decide what the graph keeps of the tensors it saves for backward."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradsmith.runtime.arrays.write_guard import release_all
from gradsmith.runtime.calls.inplace import watch_changes
from gradsmith.runtime.graph.saved_variable import guard_saves
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.graph.tensor_api import copied_array
from gradsmith.runtime.history import saved_hooks
from gradsmith.runtime.switches.threads import register_switch


class saved_tensors_hooks(saved_hooks.HooksBlock):
    """Have everything that is saved inside the block packed by a function, and unpacked by another.

    Parameters
    ----------
    pack_hook : callable
        ``pack_hook(tensor)`` gives any object, which the graph keeps in place of the tensor. It runs without
        recording, and must not change the tensor in place.
    unpack_hook : callable
        ``unpack_hook(object)`` gives a tensor with the values of the one that was saved, when a backward needs it.

    Notes
    -----
    Blocks inside one another compose, which PyTorch's do not: the innermost pair packs first, and as long as the
    result is a tensor the next pair packs that. Any other result ends the chain. Unpacking goes the same way back.

    Only what a requested gradient needs is unpacked, once per backward and node. Numbers are kept as numbers: no hook
    sees them. Values returned by hooks are not checked for in-place changes.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([1.0, 2.0], requires_grad=True)
    >>> with gs.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True).tolist(), gs.tensor):
    ...     y = x.exp()
    >>> y.sum().backward()
    >>> x.grad
    tensor([2.7183, 7.3891])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """Keep a copy of every saved tensor in place of the tensor.

    In PyTorch this moves what is saved from an accelerator to main memory. Here everything is in main memory; what
    remains is that the copy is the graph's own, whatever becomes of the tensor or of an array that shares its memory.

    Parameters
    ----------
    pin_memory, device_type
        Taken for PyTorch's sake; there is no device that they could make a difference to.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.detach().clone(), lambda kept: kept)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside the block, setting hooks for everything that is saved raises RuntimeError with `error_message`."""
    before = saved_hooks.refuse_hooks(error_message)
    try:
        yield
    finally:
        saved_hooks.refuse_hooks(before)


class Kept:
    """The value of a saved tensor: it shares the memory until that is about to be changed in place, then it is a copy.

    It does not hold the tensor, whose history may lead to what holds this.
    """

    __slots__ = ("__weakref__", "tensor")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor.data
        watch_changes(tensor, self)

    def before_change(self) -> None:
        if self.tensor is not None:
            self.tensor = from_array(copied_array(self.tensor))  # no op: nobody is to observe one

    def unpacked(self) -> Any:
        if self.tensor is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded. Run the backward inside the block, before its clear()."
            )
        return self.tensor


class _KeptInBlock(Kept):
    """One that the block knows of."""

    __slots__ = ("context",)

    def __init__(self, tensor: Any, context: AllowedMutation) -> None:
        super().__init__(tensor)
        self.context = context

    def before_change(self) -> None:
        super().before_change()
        self.context.original.pop(self, None)
        self.context.cloned[self] = self.tensor


class AllowedMutation:
    """State of a block of `allow_mutation_on_saved_tensors`. The names are PyTorch's: programs read the counts.

    Attributes
    ----------
    tid_to_weakhandle : mapping
        From a tensor, its address and its version to what keeps its value, while anybody does.
    cloned, original : mapping
        From what keeps a value to its copy, where the tensor has been changed since, and to its memory otherwise.
    """

    def __init__(self) -> None:
        self.tid_to_weakhandle: weakref.WeakValueDictionary[tuple[int, int, int], Kept] = weakref.WeakValueDictionary()
        self.cloned: weakref.WeakKeyDictionary[Kept, Any] = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary[Kept, Any] = weakref.WeakKeyDictionary()

    def keep(self, tensor: Any) -> Kept:
        """The handle for the value of `tensor`, shared by all nodes that save it at this version."""
        tid = id(tensor), tensor.data_ptr(), tensor._version
        kept = self.tid_to_weakhandle.get(tid)
        if kept is None or not _is_same(kept.tensor, tensor):
            kept = self.tid_to_weakhandle[tid] = _KeptInBlock(tensor, self)
            self.original[kept] = kept.tensor
        return kept

    def clear(self) -> None:
        """Forget everything: graphs recorded so far can no longer be run backward."""
        for kept in (*self.original, *self.cloned):
            kept.tensor = None
        for found in (self.tid_to_weakhandle, self.cloned, self.original):
            found.clear()


def _is_same(kept: Any, tensor: Any) -> bool:
    """Whether both show the same memory in the same way: another tensor may have got the number of one that died."""
    return kept.data_ptr() == tensor.data_ptr() and (kept.shape, kept.stride(), kept.dtype) == (
        tensor.shape,
        tensor.stride(),
        tensor.dtype,
    )


class _Mutation(threading.local):
    allowed = False


_mutation = _Mutation()


def _is_mutation_allowed() -> bool:
    return _mutation.allowed


def _put_mutation_allowed(allowed: bool) -> None:
    _mutation.allowed = allowed


register_switch(_is_mutation_allowed, _put_mutation_allowed)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[AllowedMutation]:
    """Inside the block, a tensor that was saved for backward may be changed in place: it is copied before.

    The backward has to run inside the block too: at its end what was saved is forgotten, and a later backward that
    needs it is an AssertionError. Blocks cannot be nested.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor([1.0, 2.0], requires_grad=True)
    >>> with gs.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = (y * y).sum()
    ...     _ = y.sin_()
    ...     z.backward()
    >>> x.grad
    tensor([2., 4.])
    """
    if _mutation.allowed:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    _mutation.allowed = True
    context = AllowedMutation()
    try:
        with saved_tensors_hooks(context.keep, Kept.unpacked):
            yield context
    finally:
        _mutation.allowed = False
        context.clear()


_guards = 0


@contextmanager
def write_guard() -> Iterator[None]:
    """Inside the block, arrays that a graph keeps for backward are read-only to NumPy.

    A write through NumPy to such an array changes the gradient without an error. Under the guard NumPy raises
    ValueError at the write. The array can be written again as soon as the graph has released what it kept, and after
    the block. In-place operations of gradsmith work as ever: they are counted, and a backward that needs the old value
    says so.

    Notes
    -----
    NumPy knows the memory that an array is a view of, not the views of it: a view that was made before can still be
    written. One that was made while its memory was guarded stays read-only.

    Examples
    --------
    >>> import numpy as np
    >>> import gradsmith as gs
    >>> data = np.array([1.0, 2.0])
    >>> x = gs.ones(2, requires_grad=True)
    >>> with gs.autograd.graph.write_guard():
    ...     y = (x * gs.from_numpy(data)).sum()
    ...     data[0] = 5.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    global _guards
    before = guard_saves(True)
    _guards += 1
    try:
        yield
    finally:
        guard_saves(before)
        _guards -= 1
        if _guards == 0:
            release_all()
