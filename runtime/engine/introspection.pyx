"""The running backward as seen by hooks and custom backwards: queries and callbacks."""
from cpython.ref cimport PyObject

from gradsmith.runtime.engine.graph_task cimport GraphTask, current_task, is_active
from gradsmith.runtime.engine.graph_walk cimport execution_order, will_execute
from gradsmith.runtime.graph.node cimport Node


def queue_callback(callback):
    """Call ``callback()`` when the backward that runs now in this thread has run all its nodes.

    Callbacks are called in the order in which they were queued, with recording as in the backward. One may queue more.

    Raises
    ------
    RuntimeError
        Outside of a backward.
    """
    cdef GraphTask task = current_task()
    if task is None:
        raise RuntimeError(
            "Final callbacks can only be installed during backward pass. Call queue_callback from a hook, or from the "
            "backward of a custom Function."
        )
    if not callable(callback):
        raise TypeError(f"queue_callback expects something to call, got {type(callback).__name__}")
    if task.callbacks is None:
        task.callbacks = []
    task.callbacks.append(callback)


def current_graph_task_id():
    """Number of the backward that runs now in this thread, -1 outside of one."""
    cdef GraphTask task = current_task()
    return -1 if task is None else task.id


def is_graph_task_active(task_id):
    """True until the backward of this number has ended, in any thread."""
    return task_id >= 0 and is_active(task_id)


def current_node():
    """The node that runs now in this thread, None while none does."""
    cdef GraphTask task = current_task()
    return None if task is None or task.node == NULL else <object>task.node


def will_engine_execute_node(Node node not None):
    """True when `node` belongs to what the current backward runs or captures, whether its turn has come or not.

    Raises
    ------
    RuntimeError
        Outside of a backward.
    """
    return will_execute(require_task("will_engine_execute_node"), <PyObject *>node)


def current_graph_task_execution_order():
    """All nodes of the current backward, in the order in which they run.

    Raises
    ------
    RuntimeError
        Outside of a backward.
    """
    return execution_order(require_task("current_graph_task_execution_order"))


cdef GraphTask require_task(str function):
    cdef GraphTask task = current_task()
    if task is None:
        raise RuntimeError(f"{function}() should only be called during the backward pass")
    return task


def is_checkpoint_valid():
    """False inside a backward that computes the gradients of some inputs only.

    There a backward started by a hook would leave gradients in leaves that were not asked for.
    """
    cdef GraphTask task = current_task()
    while task is not None:
        if task.pruned:
            return False
        task = task.outer
    return True
