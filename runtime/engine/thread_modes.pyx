"""Saves the modes of a thread when it starts a run, and restores them after each call of the user's code.

A hook, or a backward written in Python, may switch a mode or enter a block and not undo it. As in PyTorch, the effect ends
with the node: the nodes after it, and the code after the run, see the modes as they were.
"""
from gradsmith.runtime.graph.saved_variable cimport PACKS, REFUSES_HOOKS, save_mode, set_save_mode
from gradsmith.runtime.switches.grad_mode cimport inference_mode_enabled, swap_grad_mode

from gradsmith.runtime.history.saved_hooks import noted_hooks, restore_hooks
from gradsmith.runtime.switches.grad_mode import put_inference_mode

cdef tuple NO_HOOKS = ((), None)


cdef int note_modes(GraphTask task, bint create_graph) except -1:
    task.create_graph = create_graph
    task.inference = inference_mode_enabled()
    task.save_mode = save_mode()
    if task.save_mode & (PACKS | REFUSES_HOOKS):
        task.default_hooks = noted_hooks()
    return 0


cdef int settle_modes(GraphTask task) except -1:
    swap_grad_mode(task.create_graph)
    if inference_mode_enabled() != task.inference:
        put_inference_mode(task.inference)
    if save_mode() != task.save_mode or task.default_hooks is not None:
        pairs, refusal = NO_HOOKS if task.default_hooks is None else task.default_hooks
        restore_hooks(pairs, refusal)
        set_save_mode(task.save_mode)
    return 0
