"""Walks over the graph of a run: what leads to the requested inputs, what a leaf still waits for, what will run.

Note [When a leaf is ready]
Interior nodes run in the order of their numbers, which needs no counting. A leaf has no place in that order: it may
take its gradient as soon as nothing that still runs leads to it. Nobody can tell when, unless the leaf has hooks. So
nothing is counted before a gradient comes to a leaf with hooks. Then the part of the graph that has yet to run is
walked over once, and every edge to such a leaf is counted in the upper bits of the leaf's state; each gradient, also an
undefined one, takes one off. The sum that a hook sees is complete in any case: a leaf that is not known to be ready
waits at the end of the queue.
"""
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport Py_DECREF, PyObject
from libc.stdint cimport UINT64_MAX, uint32_t, uint64_t

from gradsmith.runtime.engine.graph_task cimport (
    CAPTURE,
    COUNTED,
    EDGE_BITS,
    EXECUTE,
    GraphTask,
    ONE_EDGE,
    QUEUED,
    VISITED,
    mark,
    set_state,
    state_of,
)
from gradsmith.runtime.graph.input_metadata cimport DEVICE_COUNT
from gradsmith.runtime.graph.node cimport Edge, LEAF_EDGE, NODE_LEAF, Node
from gradsmith.runtime.graph.tensor cimport HAS_HOOKS, TensorBase
from gradsmith.runtime.history.history cimport grad_accumulator
from gradsmith.runtime.history.view cimport current_grad_fn

cdef extern from "Python.h":
    void Py_INCREF_pointer "Py_INCREF"(PyObject *)
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)

cdef struct Frame:
    PyObject *node
    int edge            # the next one to follow


cdef class Walk:
    """A stack of nodes that a walk has entered and not left, so that it does not recurse."""

    cdef Frame *frames
    cdef Py_ssize_t count, capacity

    def __dealloc__(self):
        PyMem_Free(self.frames)

    cdef int enter(self, PyObject *node) except -1:
        cdef Py_ssize_t capacity
        cdef Frame *grown
        if self.count == self.capacity:
            capacity = 64 if self.capacity == 0 else 4 * self.capacity
            grown = <Frame *>PyMem_Realloc(self.frames, capacity * sizeof(Frame))
            if grown == NULL:
                raise MemoryError()
            self.frames, self.capacity = grown, capacity
        self.frames[self.count].node = node
        self.frames[self.count].edge = 0
        self.count += 1
        return 0


# ---- where edges lead

cdef PyObject *entry_of(GraphTask task, object root, uint32_t *input_nr) except NULL:
    """Borrowed node at which the run enters: that of a gradient edge, a tensor's own, or a leaf's accumulator."""
    cdef PyObject *node
    if not isinstance(root, TensorBase):
        input_nr[0] = root[1]
        return <PyObject *>root[0]
    input_nr[0] = (<TensorBase>root).output_nr
    node = current_grad_fn(<TensorBase>root)
    if node == NULL:
        node = lasting_accumulator(task, <TensorBase>root)
    return node


cdef PyObject *lasting_accumulator(GraphTask task, TensorBase leaf) except NULL:
    """The leaf's accumulator, borrowed: it lasts as long as the run."""
    cdef PyObject *accumulator = grad_accumulator(leaf)
    try:
        keep_alive(task, accumulator)
    finally:
        Py_DECREF_pointer(accumulator)
    return accumulator


cdef int keep_alive(GraphTask task, PyObject *node) except -1:
    """The queue borrows its nodes; nothing else may hold this one."""
    if task.alive is None:
        task.alive = []
    task.alive.append(<object>node)
    return 0


cdef PyObject *target_of(Edge *edge) noexcept:
    """Borrowed node that an edge leads to. NULL for a leaf whose accumulator has no holder: it was not asked for."""
    if edge.node == NULL or edge.input_nr != LEAF_EDGE:
        return edge.node
    return accumulator_of(<TensorBase>edge.node)


cdef bint leads_to_request(GraphTask task, Edge *edge) except -1:
    cdef PyObject *target = target_of(edge)
    return target != NULL and state_of(task, target) & (EXECUTE | CAPTURE) != 0


cdef bint is_observed(PyObject *accumulator) noexcept:
    cdef PyObject *leaf = (<Node>accumulator).saved[0].value
    return (<TensorBase>leaf).flags & HAS_HOOKS or (<Node>accumulator).meta is not None


# ---- pruned runs

cdef int prune(GraphTask task, list inputs, bint accumulate) except -1:
    """Mark what was asked for, and every node on a path to it.

    With `accumulate` the nodes of the inputs run, and leaves so fill their `.grad`; otherwise gradients are captured.
    """
    cdef uint64_t lowest
    cdef uint32_t input_nr
    task.pruned = True
    task.captures = {}
    task.results = [None] * len(inputs)
    lowest = request_all(task, inputs, accumulate)
    walk = Walk()
    for root in task.roots:
        mark_paths(task, walk, entry_of(task, root, &input_nr), lowest)
    task.all_requested = not task.leads_elsewhere
    return 0


cdef uint64_t request_all(GraphTask task, list inputs, bint accumulate) except? 0:
    """Mark the nodes of the inputs; gives the lowest of their numbers, below which no path to them goes."""
    cdef uint64_t lowest = UINT64_MAX
    cdef uint32_t input_nr
    cdef PyObject *node
    cdef int position
    for position in range(len(inputs)):
        node = entry_of(task, inputs[position], &input_nr)
        keep_alive(task, node)
        lowest = min(lowest, (<Node>node).sequence_nr)
        if accumulate:
            mark(task, node, EXECUTE)
        else:
            task.captures.setdefault(<size_t>node, []).append((input_nr, position))
            mark(task, node, CAPTURE)
    return lowest


cdef int mark_paths(GraphTask task, Walk walk, PyObject *root, uint64_t lowest) except -1:
    """Depth first: a node lies on a path when something that it leads to does."""
    cdef Frame *frame
    cdef Edge *edge
    cdef PyObject *target
    task.leads_elsewhere = task.leads_elsewhere or not is_on_the_way(task, root, lowest)
    visit(task, walk, root)
    while walk.count:
        frame = &walk.frames[walk.count - 1]
        if frame.edge == (<Node>frame.node).n_edges:
            leave(task, walk)
            continue
        edge = &(<Node>frame.node).edges[frame.edge]
        frame.edge += 1
        target = target_of(edge)
        if target != NULL and (<Node>target).sequence_nr >= lowest:
            visit(task, walk, target)
        if not task.leads_elsewhere and edge.node != NULL:
            task.leads_elsewhere = target == NULL or not is_on_the_way(task, target, lowest)
    return 0


cdef bint is_on_the_way(GraphTask task, PyObject *target, uint64_t lowest) except -1:
    """Not a leaf that was not asked for, nor a node older than all inputs: paths to these end elsewhere."""
    if (<Node>target).flags & NODE_LEAF:
        return state_of(task, target) & (EXECUTE | CAPTURE) != 0
    return (<Node>target).sequence_nr >= lowest


cdef int visit(GraphTask task, Walk walk, PyObject *node) except -1:
    cdef uint32_t state = state_of(task, node)
    if state & VISITED:
        return 0
    set_state(task, node, state | VISITED)
    return walk.enter(node)


cdef int leave(GraphTask task, Walk walk) except -1:
    cdef PyObject *node
    cdef int i
    walk.count -= 1
    node = walk.frames[walk.count].node
    for i in range((<Node>node).n_edges):
        if is_requested(task, &(<Node>node).edges[i]):
            return mark(task, node, EXECUTE)
    return 0


# ---- leaves that somebody observes

cdef int count_waiting(GraphTask task, Node sender, int first_edge) except -1:
    """Count the edges to observed leaves over which a gradient will still come.

    Those are the edges of what waits in the queue and of all that it leads to, and those of `sender`, which has run,
    from `first_edge` on.
    """
    cdef Py_ssize_t i
    cdef int device
    walk = Walk()
    task.counted = True
    task.ready = []
    if sender is not None:
        count_edges(task, walk, sender, first_edge)
    for device in range(<int>DEVICE_COUNT):
        for i in range(task.queues[device].count):
            enter_counted(task, walk, task.queues[device].nodes[i])
    while walk.count:
        walk.count -= 1
        count_edges(task, walk, <Node>walk.frames[walk.count].node, 0)
    return 0


cdef int count_edges(GraphTask task, Walk walk, Node node, int first_edge) except -1:
    cdef PyObject *target
    cdef uint32_t state
    cdef int i
    for i in range(first_edge, node.n_edges):
        if task.pruned and not is_requested(task, &node.edges[i]):
            continue
        target = counted_target(task, &node.edges[i])
        if target == NULL:
            continue
        if not (<Node>target).flags & NODE_LEAF:
            enter_counted(task, walk, target)
        elif is_observed(target):
            state = state_of(task, target)
            if state & EDGE_BITS != EDGE_BITS:
                set_state(task, target, state + ONE_EDGE)
    return 0


cdef int enter_counted(GraphTask task, Walk walk, PyObject *node) except -1:
    cdef uint32_t state = state_of(task, node)
    if state & COUNTED:
        return 0
    set_state(task, node, state | COUNTED)
    return walk.enter(node)


cdef PyObject *counted_target(GraphTask task, Edge *edge) except? NULL:
    """Target of an edge. The accumulator of a leaf with hooks is made now, since it keeps the count."""
    cdef PyObject *target = target_of(edge)
    if target == NULL and edge.node != NULL and (<TensorBase>edge.node).flags & HAS_HOOKS:
        target = lasting_accumulator(task, <TensorBase>edge.node)
    return target


cdef bint is_last_edge(GraphTask task, PyObject *accumulator) except -1:
    """One edge less; never the last where the edges are too many to count, or the hooks came after the counting."""
    cdef uint32_t state = state_of(task, accumulator)
    cdef uint32_t edges = state & EDGE_BITS
    if edges == 0 or edges == EDGE_BITS:
        return False
    set_state(task, accumulator, state - ONE_EDGE)
    return edges == ONE_EDGE


cdef bint waits_for_edges(GraphTask task, PyObject *accumulator) except -1:
    return state_of(task, accumulator) & EDGE_BITS != 0


# ---- what a run does, for those who ask while it goes on

cdef bint will_execute(GraphTask task, PyObject *node) except -1:
    """Does the node belong to the run: does it run in it, has it, or is its gradient captured?"""
    if task.pruned:
        return state_of(task, node) & (EXECUTE | CAPTURE) != 0
    if not task.walked:
        walk_all(task)
    return state_of(task, node) & VISITED != 0


cdef int walk_all(GraphTask task) except -1:
    """Mark every node below the roots."""
    cdef uint32_t input_nr
    cdef Node node
    cdef PyObject *target
    cdef int i
    walk = Walk()
    task.walked = True
    for root in task.roots:
        visit(task, walk, entry_of(task, root, &input_nr))
    while walk.count:
        walk.count -= 1
        node = <Node>walk.frames[walk.count].node
        for i in range(node.n_edges):
            target = target_of(&node.edges[i])
            if target != NULL:
                visit(task, walk, target)
    return 0


cdef list execution_order(GraphTask task):
    """The nodes of the run in the order in which they run, those that have run included."""
    cdef dict edges_left = {}
    cdef list order = []
    cdef uint32_t input_nr
    for root in task.roots:
        edges_left[<object>entry_of(task, root, &input_nr)] = 0
    cdef list entries = list(edges_left)
    collect(task, list(entries), edges_left)
    add_ready_leaves(entries, edges_left, order)
    for node in sorted(edges_left, key=number_of, reverse=True):
        if not (<Node>node).flags & NODE_LEAF and will_execute(task, <PyObject *>node):
            order.append(node)
            reached = targets(task, <Node>node)
            for target in reached:
                edges_left[target] -= 1
            add_ready_leaves(reached, edges_left, order)
    return order


cdef int collect(GraphTask task, list waiting, dict edges_left) except -1:
    """Count the edges into every node below those `waiting`."""
    cdef Node node
    while waiting:
        node = waiting.pop()
        for target in targets(task, node):
            if target not in edges_left:
                edges_left[target] = 0
                waiting.append(target)
            edges_left[target] += 1
    return 0


cdef list targets(GraphTask task, Node node):
    """Nodes that the edges of `node` lead to in this run."""
    cdef list found = []
    for target, _ in node.next_functions:
        if target is not None and (not task.pruned or state_of(task, <PyObject *>target) & (EXECUTE | CAPTURE)):
            found.append(target)
    return found


cdef int add_ready_leaves(list nodes, dict edges_left, list order) except -1:
    for node in dict.fromkeys(nodes):
        if (<Node>node).flags & NODE_LEAF and edges_left[node] == 0:
            order.append(node)
    return 0


def number_of(node):
    return (<Node>node).sequence_nr
