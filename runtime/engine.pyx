"""The engine: runs a recorded graph backward.

A run pops the node that was recorded last among those with a gradient waiting, applies it and adds what comes out to
the buffers of the nodes its edges lead to.

Note [No counting of dependencies]
Sequence numbers come from one counter and edges lead to nodes recorded earlier. Whatever can still send a gradient to
a node therefore has a larger number and is popped first: a popped node's gradient is complete. Accumulators have
number 0, and a leaf that nobody observes takes every gradient at its arrival: it is never queued.

Note [Scratch in nodes]
Buffers and marks live in the node itself, valid while `Node.task` is the number of the run. A run that meets a node
claimed by another run that is still active (a backward inside a hook, or in another thread while a kernel runs
without the GIL) keeps its own scratch for that node in `foreign`.
"""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Realloc
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset
cimport numpy as cnp

from gradsmith.runtime.accumulate_grad cimport accumulate_grad, leaf_of
from gradsmith.runtime.array cimport full_array
from gradsmith.runtime.debug cimport GS_CHECK
from gradsmith.runtime.grad_mode cimport swap_grad_mode
from gradsmith.runtime.hook_calls cimport (
    apply_with_post_hooks,
    run_post_accumulate_hooks,
    run_pre_hooks,
    run_tensor_hooks,
)
from gradsmith.runtime.input_buffer cimport add_into, add_tensors
from gradsmith.runtime.input_metadata cimport fits, made_to_fit, same_kind
from gradsmith.runtime.node cimport (
    Edge,
    InputMetadata,
    LEAF_EDGE,
    NODE_LEAF,
    Node,
    NodeMeta,
    metadata_of,
    set_metadata,
)
from gradsmith.runtime.tensor cimport HAS_HOOKS, TensorBase, TensorMeta, is_tensor, wrap_owned
from gradsmith.runtime.variable cimport current_grad_fn, grad_accumulator, requires_grad, set_backward_of_scalar

cnp.import_array()

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    void Py_XDECREF_pointer "Py_XDECREF"(PyObject *)

cdef enum:
    QUEUED = 1          # has a gradient waiting and stands in the heap
    EXECUTE = 2         # pruned run: lies on a path to a requested input
    CAPTURE = 4         # pruned run: a gradient arriving here was asked for
    VISITED = 8         # pruned run: seen by the discovery
    INLINE_SLOTS = 16
    SIGNAL_INTERVAL = 256

cdef uint64_t last_task = 0

# Numbers of the runs that have begun and not ended. More runs than there is room for would need as many threads, or
# as many runs inside one another.
cdef enum:
    MAX_ACTIVE = 4096

cdef uint64_t active_tasks[MAX_ACTIVE]
cdef int active_count = 0


cdef class ForeignScratch:
    """A node's scratch for one run while another run uses the node's own; see Note [Scratch in nodes]."""

    cdef uint32_t state
    cdef list grads


cdef class GraphTask:
    """One run of the engine."""

    def __cinit__(self):
        global last_task
        last_task += 1
        self.id = last_task
        self.heap = self.inline_heap
        self.heap_capacity = INLINE_HEAP

    def __dealloc__(self):
        if self.heap != self.inline_heap:
            PyMem_Free(self.heap)


# ---- marks and buffers

cdef inline bint owns_scratch(GraphTask task, PyObject *node) except -1:
    """Does this run use the node's own scratch? A node that no active run uses is claimed now."""
    if (<Node>node).task == task.id:
        return True
    if active_count > 1 and is_foreign(task, node):
        return False
    (<Node>node).task = task.id
    (<Node>node).state = 0
    return True


cdef bint is_foreign(GraphTask task, PyObject *node) except -1:
    """Does another run use the node's scratch, or did one when this run met the node?"""
    cdef int i
    if task.foreign is not None and <size_t>node in task.foreign:
        return True
    for i in range(active_count):
        if active_tasks[i] == (<Node>node).task:
            return True
    return False


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


cdef uint32_t state_of(GraphTask task, PyObject *node) except? 0xFFFFFFFF:
    return (<Node>node).state if owns_scratch(task, node) else foreign_scratch(task, node).state


cdef int mark(GraphTask task, PyObject *node, uint32_t bits) except -1:
    cdef ForeignScratch foreign
    if owns_scratch(task, node):
        (<Node>node).state |= bits
    else:
        foreign = foreign_scratch(task, node)
        foreign.state |= bits
    return 0


cdef int add_to_buffer(GraphTask task, PyObject *node, uint32_t input_nr, PyObject *grad) except -1:
    """Sum `grad`, an owned reference that is always consumed, into the node's buffer."""
    cdef PyObject **slot
    if not owns_scratch(task, node):
        return add_to_foreign(foreign_scratch(task, node), input_nr, grad)
    if (<Node>node).outputs == NULL:
        slot = &(<Node>node).buffer
    else:
        slot = &(<Node>node).outputs[input_nr].buffer
    if slot[0] == NULL:
        slot[0] = grad
        return 0
    return add_into(slot, grad)


cdef int add_to_foreign(ForeignScratch foreign, uint32_t input_nr, PyObject *grad) except -1:
    value = <object>grad
    Py_DECREF_pointer(grad)
    found = foreign.grads[input_nr]
    foreign.grads[input_nr] = value if found is None else add_tensors(found, value)
    return 0


cdef int take_buffers(GraphTask task, PyObject *node, PyObject **grads) except -1:
    """Move the node's summed gradients into `grads` (owned) and take the node out of the queue."""
    cdef Node n = <Node>node
    cdef int i
    GS_CHECK(state_of(task, node) & QUEUED, "a node runs that is not in the queue")
    if not owns_scratch(task, node):
        return take_foreign(foreign_scratch(task, node), n.n_outputs, grads)
    n.state &= ~<uint32_t>QUEUED
    if n.outputs == NULL:
        grads[0] = n.buffer
        n.buffer = NULL
        return 0
    for i in range(n.n_outputs):
        grads[i] = n.outputs[i].buffer
        n.outputs[i].buffer = NULL
    return 0


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


# ---- the queue: a binary heap by sequence number

cdef int push(GraphTask task, PyObject *node) except -1:
    cdef Py_ssize_t child = task.heap_count, parent
    cdef uint64_t number = (<Node>node).sequence_nr
    if child == task.heap_capacity:
        grow_heap(task)
    task.heap_count += 1
    while child > 0:
        parent = (child - 1) >> 1
        if (<Node>task.heap[parent]).sequence_nr >= number:
            break
        task.heap[child] = task.heap[parent]
        child = parent
    task.heap[child] = node
    return 0


cdef int grow_heap(GraphTask task) except -1:
    cdef Py_ssize_t capacity = 4 * task.heap_capacity
    cdef PyObject **kept = NULL if task.heap == task.inline_heap else task.heap
    cdef PyObject **heap = <PyObject **>PyMem_Realloc(kept, capacity * sizeof(PyObject *))
    if heap == NULL:
        raise MemoryError()
    if kept == NULL:
        memcpy(heap, task.inline_heap, sizeof(task.inline_heap))
    task.heap = heap
    task.heap_capacity = capacity
    return 0


cdef PyObject *pop(GraphTask task) noexcept:
    cdef PyObject **heap = task.heap
    cdef PyObject *top = heap[0]
    cdef PyObject *last
    cdef Py_ssize_t parent = 0, child, count
    cdef uint64_t number
    task.heap_count -= 1
    count = task.heap_count
    if count == 0:
        return top
    last = heap[count]
    number = (<Node>last).sequence_nr
    while True:
        child = 2 * parent + 1
        if child >= count:
            break
        if child + 1 < count and (<Node>heap[child + 1]).sequence_nr > (<Node>heap[child]).sequence_nr:
            child += 1
        if (<Node>heap[child]).sequence_nr <= number:
            break
        heap[parent] = heap[child]
        parent = child
    heap[parent] = last
    return top


# ---- the run

cdef int run(GraphTask task, list roots, list grads, bint create_graph) except -1:
    """Send `grads` into the graph at `roots`, tensors, and work the queue off."""
    cdef bint previous = swap_grad_mode(create_graph)
    cdef int countdown = SIGNAL_INTERVAL
    cdef Py_ssize_t i
    try:
        for i in range(len(roots)):
            enter(task, roots[i], grads[i])
        while task.heap_count:
            evaluate(task, pop(task))
            countdown -= 1
            if countdown == 0:
                PyErr_CheckSignals()
                countdown = SIGNAL_INTERVAL
    finally:
        abandon(task)
        swap_grad_mode(previous)
    return 0


cdef GraphTask begin(bint keep_graph):
    """A new run, active from now on: its marks in nodes are respected by others."""
    global active_count
    cdef GraphTask task = GraphTask.__new__(GraphTask)
    if active_count == MAX_ACTIVE:
        raise RecursionError(f"more than {MAX_ACTIVE} backward runs at once, one inside the other")
    task.keep_graph = keep_graph
    active_tasks[active_count] = task.id
    active_count += 1
    return task


cdef int end(GraphTask task) except -1:
    global active_count
    cdef int i
    for i in range(active_count):
        if active_tasks[i] == task.id:
            active_count -= 1
            active_tasks[i] = active_tasks[active_count]
            return 0
    GS_CHECK(False, "a run ends that was not active")
    return 0


cdef int enter(GraphTask task, TensorBase root, TensorBase grad) except -1:
    cdef PyObject *node = entry_of(task, root)
    Py_INCREF(grad)
    return route(task, node, root.output_nr, <PyObject *>grad)


cdef PyObject *entry_of(GraphTask task, TensorBase root) except NULL:
    """Borrowed node at which the run enters: the root's, or its accumulator when it is a leaf."""
    cdef PyObject *node = current_grad_fn(root)
    if node == NULL:
        node = grad_accumulator(root)
        keep_alive(task, node)
        Py_DECREF_pointer(node)
    return node


cdef PyObject *gradient_target(TensorBase t) except NULL:
    """Node that takes the gradient of `t`, a new reference."""
    cdef PyObject *node = current_grad_fn(t)
    if node == NULL:
        return grad_accumulator(t)
    Py_INCREF_pointer(node)
    return node


cdef int abandon(GraphTask task) except -1:
    """Drop gradients that still wait: after an error only."""
    cdef PyObject *grads[INLINE_SLOTS]
    cdef PyObject **slots
    cdef PyObject *node
    cdef int i
    while task.heap_count:
        node = pop(task)
        slots = slots_for((<Node>node).n_outputs, grads)
        take_buffers(task, node, slots)
        free_slots(slots, (<Node>node).n_outputs, grads)
    return 0


cdef inline PyObject **slots_for(int count, PyObject **inline_slots) except NULL:
    """`count` empty slots: the caller's own on the stack while they suffice."""
    cdef int i
    if count > INLINE_SLOTS:
        return many_slots(count)
    for i in range(count):
        inline_slots[i] = NULL
    return inline_slots


cdef PyObject **many_slots(int count) except NULL:
    cdef PyObject **slots = <PyObject **>PyMem_Calloc(count, sizeof(PyObject *))
    if slots == NULL:
        raise MemoryError()
    return slots


cdef inline void free_slots(PyObject **slots, int count, PyObject **inline_slots) noexcept:
    cdef int i
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
    try:
        take_buffers(task, node, grads)
        if n.meta is not None or n.flags & NODE_LEAF:
            run_tensor_hooks(n, grads)
        if task.pruned and not on_path(task, node, grads):
            return 0
        if n.meta is not None and (<NodeMeta>n.meta).pre_hooks:
            run_pre_hooks(n, grads)
        n.wanted = wanted_edges(task, n)
        n.set_retained(task.keep_graph)
        if n.meta is not None and (<NodeMeta>n.meta).post_hooks:
            apply_with_post_hooks(n, grads, results)
        else:
            n.apply(grads, results)
        if n.flags & NODE_LEAF:
            run_post_accumulate_hooks(leaf_of(node))
        elif not task.keep_graph:
            n.release_saved()
        send_on(task, n, results)
    finally:
        free_slots(grads, n.n_outputs, inline_grads)
        free_slots(results, n.n_edges, inline_results)
    return 0


cdef uint32_t wanted_edges(GraphTask task, Node node) except? 0:
    cdef uint32_t wanted = 0
    cdef int i
    for i in range(min(<int>node.n_edges, 32)):
        if node.edges[i].node != NULL and (not task.pruned or is_requested(task, &node.edges[i])):
            wanted |= <uint32_t>1 << i
    return wanted


cdef bint is_requested(GraphTask task, Edge *edge) except -1:
    """Does the edge of a pruned run lead to a requested input?"""
    cdef PyObject *target = target_of(edge)
    return target != NULL and state_of(task, target) & (EXECUTE | CAPTURE) != 0


cdef PyObject *target_of(Edge *edge) noexcept:
    """Borrowed node that an edge leads to. NULL for a leaf whose accumulator nobody holds: it was not asked for."""
    if edge.input_nr != LEAF_EDGE:
        return edge.node
    return accumulator_of(<TensorBase>edge.node)


cdef PyObject *accumulator_of(TensorBase leaf) noexcept:
    return NULL if leaf.meta is None else (<TensorMeta>leaf.meta).accumulator


cdef int send_on(GraphTask task, Node node, PyObject **results) except -1:
    """Pass every result along its edge, checked against what the receiver expects."""
    cdef Edge *edge
    cdef PyObject *grad
    cdef int i
    for i in range(node.n_edges):
        edge = &node.edges[i]
        if edge.node == NULL or results[i] == NULL or (task.pruned and not is_requested(task, edge)):
            continue
        grad = results[i]
        results[i] = NULL
        GS_CHECK(is_tensor(<object>grad), "a node gave a gradient that is no tensor")
        if edge.input_nr == LEAF_EDGE:
            send_to_leaf(task, node, i, <TensorBase>edge.node, grad)
            continue
        GS_CHECK((<Node>edge.node).sequence_nr < node.sequence_nr, "an edge leads to a node recorded later")
        GS_CHECK(edge.input_nr < (<Node>edge.node).n_outputs, "an edge leads to an output that does not exist")
        if not fits(metadata_of(edge.node, edge.input_nr), grad):
            grad = made_to_fit(node, i, metadata_of(edge.node, edge.input_nr), grad)
        route(task, edge.node, edge.input_nr, grad)
    return 0


cdef int send_to_leaf(GraphTask task, Node node, int edge, TensorBase leaf, PyObject *grad) except -1:
    """See node.pxd, Note [Edges to leaves]."""
    cdef InputMetadata expected
    cdef PyObject *accumulator
    if not same_kind(leaf.array, (<TensorBase>grad).array):
        memset(&expected, 0, sizeof(InputMetadata))
        set_metadata(&expected, leaf.array)
        try:
            grad = made_to_fit(node, edge, &expected, grad)
        finally:
            PyMem_Free(expected.long_shape)
    if not task.pruned and not leaf.flags & HAS_HOOKS and accumulator_of(leaf) == NULL:
        return accumulate_grad(leaf, grad)
    accumulator = grad_accumulator(leaf)
    keep_alive(task, accumulator)
    Py_DECREF_pointer(accumulator)
    return route(task, accumulator, 0, grad)


cdef int keep_alive(GraphTask task, PyObject *node) except -1:
    """The queue borrows its nodes; the graph does not hold this one."""
    if task.alive is None:
        task.alive = []
    task.alive.append(<object>node)
    return 0


cdef int route(GraphTask task, PyObject *target, uint32_t input_nr, PyObject *grad) except -1:
    """Hand `grad`, an owned reference, to `target`: into its buffer, or at once into an unobserved leaf."""
    if (<Node>target).flags & NODE_LEAF and not task.pruned and not is_observed(target):
        return accumulate_grad(leaf_of(target), grad)
    add_to_buffer(task, target, input_nr, grad)
    if not state_of(task, target) & QUEUED:
        mark(task, target, QUEUED)
        push(task, target)
    return 0


cdef bint is_observed(PyObject *accumulator) noexcept:
    """Does somebody see the sum of a leaf's gradients before it is stored?"""
    cdef PyObject *leaf = (<Node>accumulator).saved[0].value
    return (<TensorBase>leaf).flags & HAS_HOOKS or (<Node>accumulator).meta is not None


# ---- pruned runs

cdef bint on_path(GraphTask task, PyObject *node, PyObject **grads) except -1:
    """Keep captured gradients; is there anything left to do for the node?"""
    cdef uint32_t state = state_of(task, node)
    if state & CAPTURE:
        for input_nr, position in task.captures[<size_t>node]:
            if grads[<int>input_nr] != NULL:
                task.results[position] = <object>grads[<int>input_nr]
    return state & EXECUTE


cdef int request(GraphTask task, list inputs, bint accumulate) except -1:
    """Note where the gradients of `inputs` arrive. With `accumulate`, leaves run instead of being captured."""
    cdef TensorBase t
    cdef PyObject *node
    cdef int position
    task.pruned = True
    task.captures = {}
    task.results = [None] * len(inputs)
    for position in range(len(inputs)):
        t = inputs[position]
        node = gradient_target(t)
        if accumulate and (<Node>node).flags & NODE_LEAF:
            mark(task, node, EXECUTE)
        else:
            task.captures.setdefault(<size_t>node, []).append((t.output_nr, position))
            mark(task, node, CAPTURE)
        keep_alive(task, node)
        Py_DECREF_pointer(node)
    return 0


cdef int discover(GraphTask task, list roots) except -1:
    """Mark every node on a path from a root to a requested input."""
    cdef list found = []
    cdef TensorBase root
    cdef PyObject *node
    for root in roots:
        visit(task, entry_of(task, root), found)
    found.sort()        # by sequence number: what edges lead to comes first
    for _, address in found:
        node = <PyObject *><size_t>address
        if leads_to_request(task, <Node>node):
            mark(task, node, EXECUTE)
    return 0


cdef int visit(GraphTask task, PyObject *root, list found) except -1:
    """Collect ``(sequence number, address)`` of all nodes below `root`, without recursion."""
    cdef list waiting = [<size_t>root]
    cdef PyObject *node
    cdef PyObject *target
    cdef int i
    if state_of(task, root) & VISITED:
        return 0
    mark(task, root, VISITED)
    while waiting:
        node = <PyObject *><size_t>waiting.pop()
        found.append(((<Node>node).sequence_nr, <size_t>node))
        for i in range((<Node>node).n_edges):
            target = target_of(&(<Node>node).edges[i])
            if target != NULL and not state_of(task, target) & VISITED:
                mark(task, target, VISITED)
                waiting.append(<size_t>target)
    return 0


cdef bint leads_to_request(GraphTask task, Node node) except -1:
    cdef int i
    for i in range(node.n_edges):
        if is_requested(task, &node.edges[i]):
            return True
    return False


# ---- the door for gradsmith.autograd

cdef bint backward_of_scalar(TensorBase root, bint keep_graph) except -1:
    """``root.backward()`` of a real tensor with one element; False, and nothing done, for any other."""
    cdef PyObject *ones
    cdef GraphTask task
    if cnp.PyArray_SIZE(<cnp.ndarray>root.array) != 1 or not requires_grad(root):
        return False
    if cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(<cnp.ndarray>root.array)):
        return False
    ones = full_array(
        cnp.PyArray_TYPE(<cnp.ndarray>root.array),
        cnp.PyArray_NDIM(<cnp.ndarray>root.array),
        cnp.PyArray_DIMS(<cnp.ndarray>root.array),
        1,
    )
    task = begin(keep_graph)
    try:
        run(task, [root], [wrap_owned(ones)], False)
    finally:
        end(task)
    return True


set_backward_of_scalar(backward_of_scalar)


# What follows takes checked arguments.

def run_backward(list roots, list grads, bint keep_graph, bint create_graph):
    """Accumulate into every leaf below `roots`."""
    cdef GraphTask task = begin(keep_graph)
    try:
        run(task, roots, grads, create_graph)
    finally:
        end(task)


def run_backward_to(list roots, list grads, bint keep_graph, bint create_graph, list inputs):
    """Accumulate into the `.grad` of `inputs` only."""
    cdef TensorBase t
    cdef list results = run_pruned(roots, grads, keep_graph, create_graph, inputs, True, True)
    for t, grad in zip(inputs, results):
        if grad is not None:
            store(t, grad, create_graph)


def run_grad(list roots, list grads, bint keep_graph, bint create_graph, list inputs, bint allow_unused=True):
    """Gradients of `inputs`, None where no path leads to one; no `.grad` is touched."""
    return run_pruned(roots, grads, keep_graph, create_graph, inputs, False, allow_unused)


cdef list run_pruned(
    list roots, list grads, bint keep_graph, bint create_graph, list inputs, bint accumulate, bint allow_unused
):
    cdef GraphTask task = begin(keep_graph)
    try:
        request(task, inputs, accumulate)
        discover(task, roots)
        if not allow_unused:
            check_reached(task, inputs)
        run(task, roots, grads, create_graph)
    finally:
        end(task)
    return task.results


cdef int check_reached(GraphTask task, list inputs) except -1:
    """Does a path lead to every requested input? Asked before the run, which frees what was saved."""
    for address, captured in task.captures.items():
        if not state_of(task, <PyObject *><size_t>address) & VISITED:
            raise unused_input(inputs, captured[0][1])
    return 0


def unused_input(inputs, index):
    """The error for an input that no root depends on."""
    return RuntimeError(
        f"One of the differentiated Tensors appears to not have been used in the graph: inputs[{index}], of "
        f"shape {list(inputs[index].shape)}. Set allow_unused=True if this is the desired behavior."
    )


cdef int store(TensorBase t, object grad, bint create_graph) except -1:
    cdef bint previous = swap_grad_mode(create_graph)
    try:
        Py_INCREF(grad)
        accumulate_grad(t, <PyObject *>grad)
    finally:
        swap_grad_mode(previous)
    return 0
