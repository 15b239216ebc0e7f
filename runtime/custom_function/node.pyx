"""The node of a custom Function, which is also the `ctx` of the user's code: what is kept, and the way back.

Note [Wanted by the running task]
`needs_input_grad` tells a running backward what its run asks for, which may be less than what requires grad. Two
threads may run the same node, so the answer is not kept in the node but in a frame on the stack of the thread. It holds
the bits of up to 32 edges; where there are more, the marks of the run are asked when somebody wants to know.

Note [Cycles through a context]
Attributes that the user sets on `ctx` may lead back to the node: the collector must see everything between, from the
first attribute on (gc_tracking.pyx, Note [Collected late]). A saved tensor closes no cycle when it is an input, which leads
away from the node, or an output, which is borrowed. Any other may: an intermediate can be a view of an output.
"""
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport PyObject

from gradsmith.runtime.engine.graph_task cimport GraphTask, current_task
from gradsmith.runtime.engine.graph_walk cimport is_requested
from gradsmith.runtime.graph.gc_tracking cimport track_for_gc
from gradsmith.runtime.graph.node cimport Edge, NODE_CUSTOM, Node, SAVED_FREED, drop_saved
from gradsmith.runtime.graph.node_io cimport gradient, gradient_or_zeros, set_grad_input
from gradsmith.runtime.graph.saved_variable cimport unpack
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.history.copy_slices cimport outer_edge
from gradsmith.runtime.history.history cimport collect_edge, requires_grad
from gradsmith.runtime.history.saved_hooks cimport raw_saved

from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.threads import register_switch

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) void *gs_innermost_frame = NULL;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread void *gs_innermost_frame __attribute__((tls_model("initial-exec"))) = NULL;
    #else
    static _Thread_local void *gs_innermost_frame = NULL;
    #endif
    """
    void *gs_innermost_frame

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object, object, object) except -1
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    ctypedef int (*inquiry)(PyObject *) noexcept
    ctypedef struct PyTypeObject:
        inquiry tp_clear


# A backward that is running in this thread; see Note [Wanted by the running task].
cdef struct Frame:
    PyObject *node
    unsigned int wanted
    PyObject *task              # the run, borrowed, where the edges are more than `wanted` has bits; else NULL
    PyObject *runner            # what the run applies, borrowed: `node`, or a CopySlices around it
    void *outer

cdef enum:
    WANTED_BITS = 32


cdef frozenset own_attributes = frozenset(
    (
        "to_save", "saved_for_forward", "dirty_tensors", "non_differentiable", "materialize_grads", "_is_pure_view",
        "_materialize_non_diff_grads",
    )
)

# Defaults that Function defines: a class that still has one has not defined its own.
cdef object base_setup_context = None
cdef object base_backward = None
cdef object base_vjp = None


cdef void read_function_type() noexcept:
    """Learn what Function's own methods are, when the first of its subclasses is called."""
    global base_setup_context, base_backward, base_vjp
    base_setup_context = upcalls.function_type.setup_context
    base_backward = upcalls.function_type.backward
    base_vjp = upcalls.function_type.vjp


cdef bint is_own_setup_context(object setup_context) noexcept:
    if base_setup_context is None:
        read_function_type()
    return setup_context is not base_setup_context


cdef class FunctionNode(Node):
    """Node of one call of a custom Function, and its context."""

    def __cinit__(self):
        self.inputs = self.inline_inputs
        self.materialize = True
        self._materialize_non_diff_grads = True

    def __dealloc__(self):
        if self.inputs != self.inline_inputs:
            PyMem_Free(self.inputs)

    cdef int look_at_inputs(self, tuple inputs) except -1:
        cdef bint any_needs_grad = False
        cdef int i, count = len(inputs)
        if count > INLINE_INPUTS:
            self.inputs = <unsigned char *>PyMem_Calloc(count, 1)
            if self.inputs == NULL:
                self.inputs = self.inline_inputs
                raise MemoryError()
        self.n_inputs = count
        for i in range(count):
            if isinstance(inputs[i], TensorBase):
                self.inputs[i] = IS_TENSOR
                if requires_grad(<TensorBase>inputs[i]):
                    self.inputs[i] = IS_TENSOR | NEEDS_GRAD
                    any_needs_grad = True
        return any_needs_grad

    cdef int lead_to(self, tuple inputs) except -1:
        cdef int i, edge = 0, count = 0
        for i in range(self.n_inputs):
            count += self.inputs[i] & IS_TENSOR
        self.init(count, 0, 0)
        self.flags |= NODE_CUSTOM
        for i in range(self.n_inputs):
            if self.inputs[i] & IS_TENSOR:
                collect_edge(self, edge, <TensorBase>inputs[i])
                edge += 1
        return 0

    def __setattr__(self, name, value):
        if name not in own_attributes:
            track_for_gc(self)      # see Note [Cycles through a context]
        PyObject_GenericSetAttr(self, name, value)

    # -- for the user's forward, backward and jvp

    @property
    def needs_input_grad(self):
        """Which arguments of forward need a gradient, a tuple of bools; in a running backward, which the run asks for."""
        cdef Frame *frame = frame_of(<PyObject *>self)
        cdef list needed = []
        cdef bint needs
        cdef int i, edge = 0
        for i in range(self.n_inputs):
            needs = self.inputs[i] & NEEDS_GRAD
            if needs and frame != NULL:
                needs = is_wanted(frame, edge)
            needed.append(needs)
            edge += self.inputs[i] & IS_TENSOR
        return tuple(needed)

    @property
    def saved_tensors(self):
        """Tuple of saved tensors: of `save_for_forward` during forward and jvp, else of `save_for_backward`."""
        cdef int i
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        if self.was_read:
            raise RuntimeError(
                f"{self.name()}: saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is "
                "set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            )
        cdef tuple values = tuple([unpack(self, i) for i in range(self.n_saved)])
        if values and self._forward_cls.clear_saved_tensors_on_access:
            self.was_read = True
            self.release_saved()
        return values

    @property
    def _raw_saved_tensors(self):
        """The arguments of `save_for_backward` before unpacking: a tuple of SavedTensor."""
        return tuple([raw_saved(self, i) for i in range(self.n_saved)])

    @property
    def materialize_grads(self):
        """Are gradients that did not arrive given to backward as zeros? Otherwise as None."""
        return self.materialize

    @materialize_grads.setter
    def materialize_grads(self, value):
        if type(value) is not bool:
            raise TypeError(f"set_materialize_grads expects a bool, got {type(value).__name__}")
        self.materialize = value

    # -- backward

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef Frame frame
        fill_frame(&frame, self)
        frame.outer = enter_frame(&frame)
        try:
            result = call_backward(self, grads)
        finally:
            leave_frame(frame.outer)
        return give_results(self, result if isinstance(result, tuple) else (result,), grad_inputs)


# ---- frames

cdef int fill_frame(Frame *frame, FunctionNode node) except -1:
    cdef GraphTask task
    frame.node = <PyObject *>node
    frame.wanted = node.wanted
    frame.task = NULL
    if node.n_edges > WANTED_BITS:
        task = current_task()
        if task is not None and task.node != NULL:
            frame.task = <PyObject *>task
            frame.runner = task.node
    return 0


cdef bint is_wanted(Frame *frame, int edge) except -1:
    """Does the run of the frame ask for the gradient of this edge?"""
    cdef GraphTask task
    cdef Edge *outer
    if frame.task == NULL:
        return edge >= WANTED_BITS or (frame.wanted >> edge) & 1
    task = <GraphTask>frame.task
    outer = outer_edge(frame.runner, <Node>frame.node, edge)
    return not task.pruned or outer == NULL or is_requested(task, outer)


cdef void *enter_frame(Frame *frame) noexcept:
    global gs_innermost_frame
    cdef void *outer = gs_innermost_frame
    gs_innermost_frame = frame
    return outer


cdef void leave_frame(void *outer) noexcept:
    global gs_innermost_frame
    gs_innermost_frame = outer


cdef Frame *frame_of(PyObject *node) noexcept:
    """The frame of `node` in this thread, NULL when it is not running."""
    cdef Frame *frame = <Frame *>gs_innermost_frame
    while frame != NULL and frame.node != node:
        frame = <Frame *>frame.outer
    return frame


def innermost_frame():
    """Address of the innermost frame of this thread, for a helper thread that works while this one waits."""
    return <size_t>gs_innermost_frame


def put_innermost_frame(size_t address):
    """Let this thread see the frames of another one."""
    leave_frame(<void *>address)


register_switch(innermost_frame, put_innermost_frame, only_while_waiting=True)


# ---- backward

cdef object call_backward(FunctionNode node, PyObject **grads):
    """Call the user's backward with the gradients that came in."""
    cdef int i
    cls = node._forward_cls
    backward = backward_of(cls)
    if cls.boxed_grads_call:
        return backward(node, take_incoming(node, grads))
    if node.n_outputs == 1:
        return backward(node, incoming(node, grads, 0))
    return backward(node, *[incoming(node, grads, i) for i in range(node.n_outputs)])


def backward_of(cls):
    """The user's `backward` or `vjp`, of which a Function may have one."""
    backward, vjp = cls.backward, cls.vjp
    if vjp is base_vjp:
        return backward
    if backward is not base_backward:
        raise RuntimeError(
            f"{cls.__name__}: Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
            "only implement one of them."
        )
    return vjp


cdef TensorBase incoming(FunctionNode node, PyObject **grads, int output_nr):
    if not node.materialize or node.undifferentiable is not None and output_nr in node.undifferentiable:
        return gradient(grads, output_nr)
    return gradient_or_zeros(node, grads, output_nr)


cdef list take_incoming(FunctionNode node, PyObject **grads):
    """The gradients in a list that alone holds them, so that backward can free each as soon as it is used."""
    cdef list taken = [incoming(node, grads, i) for i in range(node.n_outputs)]
    cdef int i
    for i in range(node.n_outputs):
        if grads[i] != NULL:
            Py_DECREF_pointer(grads[i])
            grads[i] = NULL
    return taken


cdef int give_results(FunctionNode node, tuple results, PyObject **grad_inputs) except -1:
    """Check what backward returned, one gradient per argument of forward, and hand it on."""
    cdef int i, edge = 0
    if len(results) != node.n_inputs:
        check_count(node, results)
    for i in range(node.n_inputs):
        value = results[i]
        if value is not None:
            check_result(node, i, value)
            set_grad_input(grad_inputs, edge, value)
        edge += node.inputs[i] & IS_TENSOR
    return 0


cdef int check_count(FunctionNode node, tuple results) except -1:
    """More results than arguments are tolerated when they are None."""
    cdef int i, count = len(results)
    while count > node.n_inputs and results[count - 1] is None:
        count -= 1
    if count != node.n_inputs:
        raise RuntimeError(
            f"function {node.name()} returned an incorrect number of gradients (expected {node.n_inputs}, got "
            f"{len(results)}): backward returns one for each argument of forward, None where it has no gradient"
        )
    return 0


cdef int check_result(FunctionNode node, int position, object value) except -1:
    if not isinstance(value, TensorBase):
        raise RuntimeError(
            f"function {node.name()} returned a wrong gradient at position {position + 1}: expected Tensor or None "
            f"(got {type(value).__name__})"
        )
    if not node.inputs[position] & IS_TENSOR:
        raise RuntimeError(
            f"function {node.name()} returned a gradient different than None at position {position + 1}, but the "
            "corresponding forward input was not a Tensor"
        )
    return 0


# ---- the collector

cdef inquiry clear_fields = NULL        # what Cython wrote for the fields it knows of


cdef int clear_node(PyObject *self) noexcept:
    """The collector breaks a cycle: saved tensors may be part of it; see Note [Cycles through a context]."""
    cdef int i
    for i in range((<Node>self).n_saved):
        drop_saved(&(<Node>self).saved[i])
        (<Node>self).saved[i].kind = SAVED_FREED
    return clear_fields(self)


clear_fields = (<PyTypeObject *>FunctionNode).tp_clear
(<PyTypeObject *>FunctionNode).tp_clear = clear_node
