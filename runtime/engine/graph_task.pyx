"""One run of the engine, its marks in nodes, and which runs there are.

Note [Scratch in nodes]
Buffers and marks live in the node itself, valid while `Node.task` is the number of the run. A run that meets a node
claimed by another run that is still active (a backward inside a hook, or in another thread while a kernel runs
without the GIL) keeps its own scratch for that node in `foreign`.
"""
from cpython.mem cimport PyMem_Realloc
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t, uint64_t

from gradsmith.runtime.engine.ready_queue cimport close_queue, open_queue
from gradsmith.runtime.graph.input_metadata cimport DEVICE_COUNT
from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.history.input_buffer cimport add_tensors
from gradsmith.runtime.switches.debug cimport GS_CHECK

import os

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) PyObject *gs_current_task = NULL;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread PyObject *gs_current_task __attribute__((tls_model("initial-exec"))) = NULL;
    #else
    static _Thread_local PyObject *gs_current_task = NULL;
    #endif
    """
    PyObject *gs_current_task

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)

cdef uint64_t last_task = 0

# Numbers of the runs that have begun and not ended, of all threads.
cdef uint64_t *active_tasks = NULL
cdef int active_count = 0, active_capacity = 0


cdef class GraphTask:
    """One run of the engine."""

    def __cinit__(self):
        global last_task
        cdef int device
        last_task += 1
        self.id = last_task
        self.active_count = &active_count
        for device in range(<int>DEVICE_COUNT):
            open_queue(&self.queues[device])

    def __dealloc__(self):
        cdef int device
        for device in range(<int>DEVICE_COUNT):
            close_queue(&self.queues[device])


# ---- which runs there are

cdef GraphTask begin(list roots, bint keep_graph):
    global active_count
    cdef GraphTask task = GraphTask.__new__(GraphTask)
    if active_count == active_capacity:
        grow_active()
    task.roots = roots
    task.keep_graph = keep_graph
    if gs_current_task != NULL:
        task.outer = <GraphTask>gs_current_task
        task.depth = task.outer.depth + 1
        task.thread_depth = task.outer.thread_depth + 1
        if task.depth > MAX_DEPTH:
            raise RecursionError(f"backward was started inside backward {MAX_DEPTH} levels deep: a hook that starts itself?")
    active_tasks[active_count] = task.id
    active_count += 1
    return task


cdef int grow_active() except -1:
    global active_tasks, active_capacity
    cdef int capacity = 64 if active_capacity == 0 else 2 * active_capacity
    cdef uint64_t *grown = <uint64_t *>PyMem_Realloc(active_tasks, capacity * sizeof(uint64_t))
    if grown == NULL:
        raise MemoryError()
    active_tasks, active_capacity = grown, capacity
    return 0


cdef int end(GraphTask task) except -1:
    global active_count
    cdef int i
    for i in range(active_count - 1, -1, -1):
        if active_tasks[i] == task.id:
            active_count -= 1
            active_tasks[i] = active_tasks[active_count]
            return 0
    GS_CHECK(False, "a run ends that was not active")
    return 0


cdef bint is_active(uint64_t task_id) noexcept:
    cdef int i
    for i in range(active_count):
        if active_tasks[i] == task_id:
            return True
    return False


cdef GraphTask current_task():
    return None if gs_current_task == NULL else <GraphTask>gs_current_task


cdef PyObject *swap_current_task(PyObject *task) noexcept:
    global gs_current_task
    cdef PyObject *previous = gs_current_task
    gs_current_task = task
    return previous


def _forget_other_threads():
    """In the child of a fork only the forking thread lives on: the runs of all others will never end."""
    global active_count
    cdef GraphTask task = current_task()
    active_count = 0
    while task is not None:
        active_tasks[active_count] = task.id
        active_count += 1
        task = task.outer


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


# ---- scratch of nodes that another run uses

cdef bint is_foreign(GraphTask task, PyObject *node) except -1:
    """Does another run use the node's scratch, or did one when this run met the node?"""
    if task.foreign is not None and <size_t>node in task.foreign:
        return True
    return is_active((<Node>node).task)


cdef ForeignScratch foreign_scratch(GraphTask task, PyObject *node):
    cdef ForeignScratch scratch
    if task.foreign is None:
        task.foreign = {}
    scratch = task.foreign.get(<size_t>node)
    if scratch is None:
        scratch = ForeignScratch.__new__(ForeignScratch)
        scratch.grads = [None] * (<Node>node).n_outputs
        task.foreign[<size_t>node] = scratch
    return scratch


cdef int add_to_foreign(GraphTask task, PyObject *node, uint32_t input_nr, PyObject *grad) except -1:
    value = <object>grad
    Py_DECREF_pointer(grad)
    foreign = foreign_scratch(task, node)
    found = foreign.grads[input_nr]
    foreign.grads[input_nr] = value if found is None else add_tensors(found, value)
    return 0


cdef void drop_buffers(GraphTask task, PyObject *node) noexcept:
    """Drop the gradients that wait in foreign scratch; the run is over."""
    cdef Node n = <Node>node
    cdef int i
    if n.task != task.id:
        return
    if not n.flags & NODE_MANY:
        drop(&n.incoming.buffer)
        return
    for i in range(n.n_outputs):
        drop(&n.incoming.outputs[i].buffer)


cdef void drop(PyObject **buffer) noexcept:
    cdef PyObject *grad = buffer[0]
    buffer[0] = NULL        # what dies with it may run anybody's code
    Py_XDECREF_pointer(grad)


cdef int take_foreign(ForeignScratch foreign, int count, PyObject **grads) except -1:
    cdef int i
    foreign.state &= ~<uint32_t>QUEUED
    for i in range(count):
        value = foreign.grads[i]
        foreign.grads[i] = None
        if value is None:
            grads[i] = NULL
        else:
            Py_INCREF(value)
            grads[i] = <PyObject *>value
    return 0
