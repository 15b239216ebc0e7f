"""State of one run of the engine: its queues, its marks and buffers in nodes, the gradients it was asked for.

Code that runs once per node is written here, so that the engine's loop has it inline.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t, uint64_t

from gradsmith.runtime.engine.ready_queue cimport ReadyQueue, number_of, push
from gradsmith.runtime.graph.input_metadata cimport CPU, DEVICE_COUNT
from gradsmith.runtime.graph.node cimport NODE_LEAF, NODE_MANY, Node, metadata_of
from gradsmith.runtime.history.input_buffer cimport add_into


# Marks of a run on a node, in `Node.state`. The upper bits count edges: see graph_walk.pyx, Note [When a leaf is
# ready].
cdef enum NodeState:
    QUEUED = 1          # is in a queue; its gradients have arrived, and it has not run
    EXECUTE = 2         # pruned run: lies on a path to a requested input
    CAPTURE = 4         # pruned run: a gradient arriving here was asked for
    VISITED = 8         # seen by a walk over the run's graph
    COUNTED = 16        # its edges are counted
    ONE_EDGE = 256
    EDGE_BITS = 0xFFFFFF00

cdef enum:
    MAX_DEPTH = 5000


cdef class GraphTask:
    cdef uint64_t id
    cdef bint keep_graph
    cdef bint pruned                # only what leads to the requested inputs runs
    cdef bint leads_elsewhere       # of a pruned run: paths from the roots end elsewhere than at the requested inputs
    cdef bint all_requested         # of a pruned run, once that is known: no path leads elsewhere
    cdef bint counted               # edges to observed leaves are counted
    cdef bint walked                # every node of the run is marked VISITED
    cdef bint checked               # anomaly mode was on when the run began
    cdef bint watched               # that, or the thread had an observer
    cdef bint cancelled             # the thread that waits for this run was interrupted
    cdef bint create_graph          # the run is recorded
    cdef bint inference             # the thread's modes when the run began, see thread_modes.pyx
    cdef int save_mode
    cdef object default_hooks       # None without any
    cdef int depth                  # runs around this one
    cdef int thread_depth           # those of them that are in the same thread
    cdef PyObject *node             # borrowed: the node that runs, NULL while none does
    cdef const int *active_count    # how many runs are active, this one included

    cdef GraphTask outer            # the run in which this one was started, by a hook or a custom backward; or None
    cdef list roots                 # where the run enters: tensors and gradient edges
    # None until used:
    cdef dict captures              # address of a node -> list of (input number, position in `results`)
    cdef list results
    cdef list alive                 # nodes that nothing else holds: a leaf's accumulator lives while a graph holds it
    cdef dict foreign               # address of a node -> ForeignScratch; see Note [Scratch in nodes]
    cdef list ready                 # leaves that have all their gradients and have not run
    cdef list callbacks             # to be called when all nodes have run

    cdef ReadyQueue queues[DEVICE_COUNT]        # what waits on each device


cdef class ForeignScratch:
    """A node's scratch for one run while another run uses the node's own; see Note [Scratch in nodes]."""

    cdef uint32_t state
    cdef list grads


cdef GraphTask begin(list roots, bint keep_graph)   # a new run, active from now on: others respect its marks
cdef int end(GraphTask task) except -1
cdef bint is_active(uint64_t task_id) noexcept
cdef GraphTask current_task()                       # innermost run of this thread, None outside of one
cdef PyObject *swap_current_task(PyObject *task) noexcept       # borrowed, NULL for none

cdef bint is_foreign(GraphTask task, PyObject *node) except -1
cdef ForeignScratch foreign_scratch(GraphTask task, PyObject *node)
cdef int add_to_foreign(GraphTask task, PyObject *node, uint32_t input_nr, PyObject *grad) except -1
cdef int take_foreign(ForeignScratch foreign, int count, PyObject **grads) except -1
cdef void drop_buffers(GraphTask task, PyObject *node) noexcept     # of a node that is not in the queue


# ---- marks and buffers

cdef inline bint owns_scratch(GraphTask task, PyObject *node) except -1:
    """Does this run use the node's own scratch? A node that no active run uses is claimed now."""
    if (<Node>node).task == task.id:
        return True
    if task.active_count[0] > 1 and is_foreign(task, node):
        return False
    (<Node>node).task = task.id
    (<Node>node).state = 0
    return True


cdef inline uint32_t state_of(GraphTask task, PyObject *node) except? 0xFFFFFFFF:
    return (<Node>node).state if owns_scratch(task, node) else foreign_scratch(task, node).state


cdef inline int set_state(GraphTask task, PyObject *node, uint32_t state) except -1:
    cdef ForeignScratch foreign
    if owns_scratch(task, node):
        (<Node>node).state = state
    else:
        foreign = foreign_scratch(task, node)
        foreign.state = state
    return 0


cdef inline int mark(GraphTask task, PyObject *node, uint32_t bits) except -1:
    return set_state(task, node, state_of(task, node) | bits)


cdef inline int add_to_buffer(GraphTask task, PyObject *node, uint32_t input_nr, PyObject *grad) except -1:
    """Sum `grad`, an owned reference that is always consumed, into the node's buffer."""
    cdef PyObject **slot
    if not owns_scratch(task, node):
        return add_to_foreign(task, node, input_nr, grad)
    if not (<Node>node).flags & NODE_MANY:
        slot = &(<Node>node).incoming.buffer
    else:
        slot = &(<Node>node).incoming.outputs[input_nr].buffer
    if slot[0] == NULL:
        slot[0] = grad
        return 0
    return add_into(slot, grad)


cdef inline int take_buffers(GraphTask task, PyObject *node, PyObject **grads) except -1:
    """Move the node's summed gradients into `grads` (owned) and take the node out of the queue."""
    cdef Node n = <Node>node
    cdef int i
    if not owns_scratch(task, node):
        return take_foreign(foreign_scratch(task, node), n.n_outputs, grads)
    n.state &= ~<uint32_t>QUEUED
    if not n.flags & NODE_MANY:
        grads[0] = n.incoming.buffer
        n.incoming.buffer = NULL
        return 0
    for i in range(n.n_outputs):
        grads[i] = n.incoming.outputs[i].buffer
        n.incoming.outputs[i].buffer = NULL
    return 0


# ---- the queues, one per device: see engine.pyx, Note [A queue per device]

cdef inline int enqueue(GraphTask task, PyObject *node) except -1:
    """Put the node into the queue of its device unless it is there already."""
    cdef uint32_t state = state_of(task, node)
    if state & QUEUED:
        return 0
    if not push(&task.queues[metadata_of(node, 0).device], node):
        drop_buffers(task, node)        # they would wait for the next run
        raise MemoryError()
    return set_state(task, node, state | QUEUED)


cdef inline ReadyQueue *next_queue(GraphTask task) noexcept:
    """The queue with the node that was recorded last; NULL when nothing waits."""
    cdef ReadyQueue *latest = &task.queues[<int>CPU]
    cdef ReadyQueue *queue
    cdef int device
    for device in range(CPU + 1, <int>DEVICE_COUNT):
        queue = &task.queues[device]
        if queue.count and (latest.count == 0 or number_of(queue.nodes[0]) > number_of(latest.nodes[0])):
            latest = queue
    return latest if latest.count else NULL
