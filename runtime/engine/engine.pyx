"""The engine: runs a recorded graph backward.

A run pops the node that was recorded last among those with a gradient waiting, applies it and adds its results to
the buffers of the nodes its edges lead to.

Note [No counting of dependencies]
Sequence numbers come from one counter and edges lead to nodes recorded earlier. Every node that can still send a
gradient to a node therefore has a larger number and is popped first: a popped node's gradient is complete. Accumulators have
number 0, and a leaf without observers takes every gradient at its arrival: it is never queued. When a leaf with
hooks is complete is another question, answered in graph_walk.pyx, Note [When a leaf is ready].

Note [Undefined gradients]
NULL is a gradient that is zero without anybody having computed it. A node that a run reaches runs, even when all its
gradients are undefined: its hooks are called, and code of the user's may make something of them. The formulas of an
operation are not asked: they would give nothing.

Note [A queue per device]
A node waits in the queue of the device on which its gradient comes in, and of all queues the node recorded last is
taken: what the note on dependencies says holds across devices. The thread that has called works all queues off, since
neither device computes elsewhere, and one that does need not be waited for: to run a node is to tell it what to compute.
A new device is a number in node.pxd, DeviceNumber, and a name in device.py.

Note [A backward inside a backward]
A run started by a hook or by a custom backward is worked off at once, before the run around it goes on. Each level
takes stack, of C and of Python, so that at MAX_THREAD_DEPTH levels in one thread the next goes to a helper thread, while
this one waits.
"""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint32_t
from libc.string cimport memset

from gradsmith.runtime.engine.anomaly_mode cimport anomaly_enabled, check_results, explain_error
from gradsmith.runtime.engine.graph_task cimport (
    CAPTURE,
    EXECUTE,
    GraphTask,
    QUEUED,
    add_to_buffer,
    drop_buffers,
    enqueue,
    next_queue,
    state_of,
    swap_current_task,
    take_buffers,
)
from gradsmith.runtime.engine.graph_walk cimport (
    count_waiting,
    entry_of,
    is_observed,
    is_requested,
    waits_for_edges,
    will_execute,
)
from gradsmith.runtime.engine.hook_calls cimport (
    as_tuple,
    has_post_hooks,
    has_pre_hooks,
    run_post_accumulate_hooks,
    run_post_hooks,
    run_pre_hooks,
    run_tensor_hooks,
)
from gradsmith.runtime.engine.leaf_delivery cimport (
    conform_leaf_gradient,
    send_to_accumulator,
    send_to_leaf,
    send_undefined_to_leaf,
)
from gradsmith.runtime.engine.ready_queue cimport ReadyQueue, pop
from gradsmith.runtime.engine.thread_modes cimport note_modes, settle_modes
from gradsmith.runtime.engine.zero_gradients cimport keep_zeros, nan_safe_enabled, zeros_of
from gradsmith.runtime.graph.input_metadata cimport DeviceNumber, device_of_array, fits
from gradsmith.runtime.graph.node cimport Edge, LEAF_EDGE, NODE_CUSTOM, NODE_LEAF, Node, metadata_of
from gradsmith.runtime.graph.tensor cimport TensorBase, is_tensor
from gradsmith.runtime.history.accumulate_grad cimport leaf_of
from gradsmith.runtime.history.observers cimport (
    Observer,
    begin_node,
    current_observer,
    end_node,
    enter_thread,
    leave_thread,
    watching,
)
from gradsmith.runtime.history.validation cimport conform_gradient, on_device
from gradsmith.runtime.switches.debug cimport GS_CHECK
from gradsmith.runtime.switches.grad_mode cimport swap_grad_mode

from gradsmith.runtime.switches.threads import is_multithreading_enabled, run_on_helper

cdef extern from "Python.h":
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)

cdef enum:
    FEW_SLOTS = 2
    INLINE_SLOTS = 16
    SIGNAL_INTERVAL = 16
    MAX_THREAD_DEPTH = 32
    WANTED_BITS = 32            # of Node.wanted


# ---- the run

cdef int run(GraphTask task, list grads, bint create_graph) except -1:
    """Send `grads` into the graph at the roots of the run, and work the queue off."""
    if task.thread_depth >= MAX_THREAD_DEPTH and is_multithreading_enabled():
        task.thread_depth = 0
        run_on_helper(run_here, (task, grads, create_graph, current_observer()), cancel)
        return 0
    note_modes(task, create_graph)
    cdef bint previous = swap_grad_mode(create_graph)
    cdef PyObject *outer = swap_current_task(<PyObject *>task)
    try:
        enter_all(task, grads)
        drain_queue(task)
        if task.callbacks is not None:
            run_callbacks(task)
    finally:
        abandon(task)
        swap_current_task(outer)
        try:
            settle_modes(task)
        finally:
            swap_grad_mode(previous)
    return 0


def run_here(GraphTask task, list grads, bint create_graph, Observer observer):
    """The run, in the helper thread that calls this, seen by the observer of the thread that waits."""
    cdef list places
    if observer is None:
        run(task, grads, create_graph)
        return
    places = enter_thread(observer)
    try:
        run(task, grads, create_graph)
    finally:
        leave_thread(observer, places)


def cancel(GraphTask task, list grads, bint create_graph, Observer observer):
    """Stop a run of another thread, and so all that it has started, at the next node."""
    task.cancelled = True


cdef int drain_queue(GraphTask task) except -1:
    cdef int countdown = SIGNAL_INTERVAL
    cdef ReadyQueue *queue = next_queue(task)
    while queue != NULL:
        if task.watched:
            evaluate_watched(task, pop(queue))
        else:
            evaluate(task, pop(queue))
        if task.counted:
            evaluate_ready(task)
        countdown -= 1
        if countdown == 0:
            check_interrupt(task)
            countdown = SIGNAL_INTERVAL
        queue = next_queue(task)
    return 0


cdef int evaluate_ready(GraphTask task) except -1:
    """Leaves run as soon as they have all their gradients."""
    while task.ready:
        node = task.ready.pop(0)
        if task.watched:
            evaluate_watched(task, <PyObject *>node)
        else:
            evaluate(task, <PyObject *>node)
    return 0


cdef int check_interrupt(GraphTask task) except -1:
    """Raise KeyboardInterrupt where Ctrl-C was pressed: only the main thread hears of it, and tells its helpers."""
    PyErr_CheckSignals()
    while task is not None:
        if task.cancelled:
            raise KeyboardInterrupt()
        task = task.outer
    return 0


cdef int run_callbacks(GraphTask task) except -1:
    """Callbacks may add more of them."""
    task.node = NULL
    while task.callbacks:
        callback = task.callbacks.pop(0)
        callback()
    return 0


cdef void abandon(GraphTask task) noexcept:
    """Drop gradients that still wait: after an error only."""
    cdef ReadyQueue *queue = next_queue(task)
    while queue != NULL:
        drop_buffers(task, pop(queue))
        queue = next_queue(task)


# ---- where the run enters

cdef int enter_all(GraphTask task, list grads) except -1:
    cdef list leaves = []
    cdef uint32_t input_nr
    cdef PyObject *node
    cdef Py_ssize_t i
    for i in range(len(grads)):
        node = entry_of(task, task.roots[i], &input_nr)
        # As in PyTorch, a root that leads to no input is left out; one alone has the hooks of its tensor called.
        if task.pruned and len(grads) > 1 and not will_execute(task, node):
            continue
        grad = grads[i]
        Py_INCREF(grad)
        route(task, node, input_nr, of_recorded_shape(<Node>node, input_nr, <PyObject *>grad))
        if (<Node>node).flags & NODE_LEAF and is_observed(node):
            leaves.append(<object>node)
    if leaves:
        enter_leaves(task, leaves)
    return 0


cdef PyObject *of_recorded_shape(Node node, uint32_t input_nr, PyObject *grad) except NULL:
    """The gradient of a root that was given another shape in place, unseen by the graph; consumes it."""
    if node.flags & NODE_LEAF or fits(metadata_of(<PyObject *>node, input_nr), grad):
        return grad
    return conform_gradient(node, 0, metadata_of(<PyObject *>node, input_nr), grad)


cdef int enter_leaves(GraphTask task, list leaves) except -1:
    """Roots that are leaves with hooks run first, unless other roots lead to them."""
    count_waiting(task, None, 0)
    for node in leaves:
        if not waits_for_edges(task, <PyObject *>node):
            task.ready.append(node)
    return evaluate_ready(task)


# ---- one node

cdef inline PyObject **slots_for(int count, PyObject **inline_slots) noexcept:
    """`count` empty slots: the caller's own on the stack while they suffice. NULL when there is no memory."""
    # Without a loop for the few that nearly every node has: gcc makes `rep stos` of it, which takes longer to start
    # than all else that is done for a node.
    inline_slots[0] = NULL
    inline_slots[1] = NULL
    return inline_slots if count <= FEW_SLOTS else more_slots(count, inline_slots)


cdef PyObject **more_slots(int count, PyObject **inline_slots) noexcept:
    if count > INLINE_SLOTS:
        return <PyObject **>PyMem_Calloc(count, sizeof(PyObject *))
    memset(inline_slots, 0, count * sizeof(PyObject *))
    return inline_slots


cdef inline void free_slots(PyObject **slots, int count, PyObject **inline_slots) noexcept:
    if count > FEW_SLOTS:
        free_more_slots(slots, count, inline_slots)
        return
    Py_XDECREF_pointer(slots[0])
    Py_XDECREF_pointer(slots[1])


cdef void free_more_slots(PyObject **slots, int count, PyObject **inline_slots) noexcept:
    cdef int i
    if slots == NULL:
        return
    for i in range(count):
        Py_XDECREF_pointer(slots[i])
    if slots != inline_slots:
        PyMem_Free(slots)


cdef int evaluate(GraphTask task, PyObject *node) except -1:
    """Run one node on its summed gradients: hooks, captures, apply, hooks, on to the next nodes."""
    cdef PyObject *inline_grads[INLINE_SLOTS]
    cdef PyObject *inline_results[INLINE_SLOTS]
    cdef Node n = <Node>node
    cdef PyObject **grads = slots_for(n.n_outputs, inline_grads)
    cdef PyObject **results = slots_for(n.n_edges, inline_results)
    cdef bint is_sent_on
    task.node = node
    try:
        if grads == NULL or results == NULL:
            drop_buffers(task, node)
            raise MemoryError()
        if n.meta is not None or n.flags & NODE_LEAF:
            is_sent_on = evaluate_observed(task, n, grads, results)
            settle_modes(task)
            if not is_sent_on:
                return 0
        else:
            take_buffers(task, node, grads)
            if task.pruned and not on_path(task, node, grads):
                return 0
            if task.checked:
                apply_checked(task, n, grads, results)
            else:
                apply(task, n, grads, results)
        if not task.keep_graph:
            n.release_saved()
        send_on(task, n, results)
    finally:
        free_slots(grads, n.n_outputs, inline_grads)
        free_slots(results, n.n_edges, inline_results)
    return 0


cdef int evaluate_watched(GraphTask task, PyObject *node) except -1:
    """Observers see the node; in anomaly mode an error says where it was recorded."""
    cdef int span = begin_node(<Node>node) if watching and will_run(task, node) else 0
    try:
        evaluate(task, node)
    except Exception:
        if task.checked and anomaly_enabled():
            explain_error(<Node>node)
        raise
    if span:
        end_node(span, <Node>node)
    return 0


cdef bint will_run(GraphTask task, PyObject *node) except -1:
    """False for a leaf that was ready before its turn, and for what is only captured."""
    cdef uint32_t state = state_of(task, node)
    return state & QUEUED and (not task.pruned or state & EXECUTE)


cdef bint evaluate_observed(GraphTask task, Node n, PyObject **grads, PyObject **results) except -1:
    """`evaluate` for leaves and for nodes with hooks; False when there is nothing to send on."""
    cdef object incoming = None
    if n.flags & NODE_LEAF and not state_of(task, <PyObject *>n) & QUEUED:
        return False        # was ready, and has run, before its turn in the queue
    take_buffers(task, <PyObject *>n, grads)
    run_tensor_hooks(n, grads)
    if task.pruned and not on_path(task, <PyObject *>n, grads):
        return False
    if has_pre_hooks(n):
        run_pre_hooks(n, grads)
    if has_post_hooks(n):
        incoming = as_tuple(grads, n.n_outputs)     # holds them, so that `apply` overwrites none
    if task.checked:
        apply_safely(task, n, grads, results)
    else:
        apply(task, n, grads, results)
    if n.flags & NODE_LEAF:
        run_post_accumulate_hooks(leaf_of(<PyObject *>n))
    if has_post_hooks(n):
        fit_all(task, n, results)
        run_post_hooks(n, incoming, results)
    if task.checked:
        check_results(n, results)
    return True


cdef int apply_safely(GraphTask task, Node n, PyObject **grads, PyObject **results) except -1:
    """`apply`, with what NaN-safe mode asks for."""
    cdef object zeros = zeros_of(n, grads) if nan_safe_enabled() else None
    apply(task, n, grads, results)
    if zeros is not None:
        keep_zeros(n, zeros, results)
    return 0


cdef int apply_checked(GraphTask task, Node n, PyObject **grads, PyObject **results) except -1:
    apply_safely(task, n, grads, results)
    return check_results(n, results)


cdef inline int apply(GraphTask task, Node n, PyObject **grads, PyObject **results) except -1:
    if grads[0] == NULL and not takes_undefined(n, grads):
        return 0
    n.wanted = wanted_edges(task, n)
    if n.wanted == 0 and leads_nowhere(task, n):
        return 0
    n.set_retained(task.keep_graph)
    n.apply(grads, results)
    if n.flags & NODE_CUSTOM:
        settle_modes(task)
    return 0


cdef bint takes_undefined(Node n, PyObject **grads) noexcept:
    """Is the node to be applied although its first gradient is undefined? See Note [Undefined gradients]."""
    cdef int i
    for i in range(1, n.n_outputs):
        if grads[i] != NULL:
            return True
    return n.flags & NODE_CUSTOM


cdef bint leads_nowhere(GraphTask task, Node n) except -1:
    """Is nothing asked for that an op's node would compute? It runs all the same when it belongs to a requested input."""
    return task.pruned and 0 < n.n_edges <= WANTED_BITS and not n.flags & NODE_CUSTOM


cdef inline uint32_t wanted_edges(GraphTask task, Node node) except? 0:
    cdef uint32_t wanted = 0
    cdef int i
    for i in range(min(<int>node.n_edges, WANTED_BITS)):
        if node.edges[i].node != NULL and (not task.pruned or is_requested(task, &node.edges[i])):
            wanted |= <uint32_t>1 << i
    return wanted


cdef bint on_path(GraphTask task, PyObject *node, PyObject **grads) except -1:
    """In a pruned run: keep captured gradients; is there anything left to do for the node?"""
    cdef uint32_t state = state_of(task, node)
    if state & CAPTURE:
        for input_nr, position in task.captures[<size_t>node]:
            if grads[<int>input_nr] != NULL:
                task.results[position] = <object>grads[<int>input_nr]
    return state & EXECUTE


# ---- from node to node

cdef int send_on(GraphTask task, Node node, PyObject **results) except -1:
    """Pass every result along its edge, checked against what the receiver expects."""
    cdef Edge *edge
    cdef PyObject *grad
    cdef int i
    for i in range(node.n_edges):
        edge = &node.edges[i]
        if edge.node == NULL or (task.pruned and not is_requested(task, edge)):
            continue
        grad = results[i]
        if grad == NULL:
            send_undefined(task, node, i)
            continue
        results[i] = NULL
        GS_CHECK(is_tensor(<object>grad), "a node gave a gradient that is no tensor")
        if watching:        # otherwise there is but one device
            grad = on_device(node, i, device_at(edge), grad)
        if edge.input_nr == LEAF_EDGE:
            send_to_leaf(task, node, i, <TensorBase>edge.node, grad)
            continue
        GS_CHECK((<Node>edge.node).sequence_nr < node.sequence_nr, "an edge leads to a node recorded later")
        GS_CHECK(edge.input_nr < (<Node>edge.node).n_outputs, "an edge leads to an output that does not exist")
        if not fits(metadata_of(edge.node, edge.input_nr), grad):
            grad = conform_gradient(node, i, metadata_of(edge.node, edge.input_nr), grad)
        if (<Node>edge.node).flags & NODE_LEAF:
            send_to_accumulator(task, node, i, edge.node, grad)
        else:
            route(task, edge.node, edge.input_nr, grad)
    return 0


cdef DeviceNumber device_at(Edge *edge) noexcept:
    if edge.input_nr == LEAF_EDGE:
        return device_of_array((<TensorBase>edge.node).array)
    return <DeviceNumber>metadata_of(edge.node, edge.input_nr).device


cdef inline int route(GraphTask task, PyObject *target, uint32_t input_nr, PyObject *grad) except -1:
    """Put `grad`, an owned reference, into the buffer of `target`, and `target` into the queue."""
    add_to_buffer(task, target, input_nr, grad)
    return enqueue(task, target)


cdef int send_undefined(GraphTask task, Node node, int edge) except -1:
    """Nothing comes along an edge: what it leads to has one gradient less to wait for, and runs all the same."""
    cdef PyObject *target = node.edges[edge].node
    if node.edges[edge].input_nr == LEAF_EDGE or (<Node>target).flags & NODE_LEAF:
        return send_undefined_to_leaf(task, node, edge)
    return enqueue(task, target)


cdef int fit_all(GraphTask task, Node node, PyObject **results) except -1:
    """Give the results of a node the form in which they are sent on, for its hooks to see."""
    cdef Edge *edge
    cdef PyObject *grad
    cdef int i
    for i in range(node.n_edges):
        edge = &node.edges[i]
        grad = results[i]
        if edge.node == NULL or grad == NULL:
            continue
        results[i] = NULL
        if edge.input_nr != LEAF_EDGE:
            results[i] = conform_gradient(node, i, metadata_of(edge.node, edge.input_nr), grad)
        else:
            results[i] = conform_leaf_gradient(node, i, <TensorBase>edge.node, grad)
    return 0
