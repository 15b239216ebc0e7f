"""Calls of compiled functions whose results have a history."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
cimport numpy as cnp

from gradsmith.runtime.batching.batch cimport living
from gradsmith.runtime.graph.node cimport NODE_CUSTOM, NODE_LEAF, SAVED_FREED, Node
from gradsmith.runtime.graph.node_io cimport gradient, set_grad_input
from gradsmith.runtime.graph.saved_variable cimport SavedList, freed_error, save_input, save_output, unpack
from gradsmith.runtime.graph.tensor cimport IS_VIEW, REQUIRES_GRAD, TensorBase
from gradsmith.runtime.history.history cimport collect_edge, set_history_list
from gradsmith.runtime.programs.program cimport Program
from gradsmith.runtime.programs.sources cimport leaf_in, values_of
from gradsmith.runtime.switches.grad_mode cimport grad_enabled

cnp.import_array()

cdef enum:
    MOST_SAVED = 0xFFFF


cdef class RecordedCallBackward(Node):
    """The node of one call. It knows the arguments, not the results, which lead to it."""

    cdef Recorder recorder
    cdef object leaves
    cdef list states        # of the generators that the call drew from, as they were before

    def __cinit__(self):
        self.flags |= NODE_CUSTOM

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef uint32_t i
        cdef TensorBase found
        cdef tuple cotangents = tuple([gradient(grads, i) for i in range(self.n_outputs)])
        cdef tuple saved = tuple([unpack(self, i) for i in range(self.n_saved)])
        cdef object gradients = self.recorder.gradients_of(cotangents, saved)
        if gradients is None:
            gradients = self.recorder.recording(list(self.leaves), self.states).gradients(cotangents, saved)
        for i in range(self.n_edges):
            found = gradients[i]
            if found is not None:
                set_grad_input(grad_inputs, i, found)
        return 0


cdef class Recorder:
    """Gives the results of a program's runs a history.

    Parameters
    ----------
    results : sequence of int
        The outputs of the program that are to have one.
    inputs : sequence
        What it leads to: numbers of arguments, and tensors.
    kept : sequence of int
        The outputs that the backward reads.
    sources : sequence
        What else it reads; see sources.pyx.
    captured : sequence of Tensor
        What the function uses besides its arguments.
    backward : Program
        Takes the gradients of the results, what is kept, and the sources.
    gradients : sequence of int or None
        Of each of the inputs, the place of its gradient among the outputs of `backward`.
    recording : callable
        ``recording(leaves, states)``, of a call's arguments and the states that its generators had before, has
        ``gradients(cotangents, saved)`` for what `backward` does not give, and ``apply(results, saved, inputs)``, which
        gives results that are views or belong to someone else with their history.
    """

    def __init__(
        self, results not None, inputs not None, kept not None, sources not None, captured not None,
        Program backward not None, gradients not None, recording
    ):
        self.results, self.inputs, self.kept = tuple(results), tuple(inputs), tuple(kept)
        self.sources, self.captured, self.gradients = tuple(sources), tuple(captured), tuple(gradients)
        self.backward, self.recording = backward, recording

    cpdef tuple with_history(self, tuple found, object leaves, list states):
        """The outputs of a run, of which some have a history now.

        Parameters
        ----------
        found : tuple of Tensor
        leaves : sequence
            The arguments of the call.
        states : list
            Of its generators, before.
        """
        cdef Py_ssize_t i
        cdef TensorBase t
        cdef tuple results = tuple([found[i] for i in self.results])
        cdef tuple inputs = tuple([leaf_in(leaves, one) for one in self.inputs])
        cdef tuple saved = tuple([found[i] for i in self.kept]) + values_of(self.sources, leaves) + inputs
        if len(saved) > MOST_SAVED or not are_own(results, leaves, self.captured):
            return self.as_views(found, results, inputs, saved, leaves, states)
        cdef RecordedCallBackward node = RecordedCallBackward.__new__(RecordedCallBackward)
        node.recorder, node.leaves, node.states = self, leaves, states
        node.init(len(inputs), len(saved), 0)
        for i in range(len(inputs)):
            collect_edge(node, i, <TensorBase>inputs[i])
        set_history_list(results, node)
        for i in range(len(saved)):
            t = <TensorBase?>saved[i]
            if t.grad_fn == <PyObject *>node:
                save_output(node, i, t)
            else:
                save_input(node, i, t)
        return found

    cdef tuple as_views(self, tuple found, tuple results, tuple inputs, tuple saved, object leaves, list states):
        cdef list outputs = list(found)
        recorded = self.recording(list(leaves), states).apply(results, saved, inputs)
        for place, one in zip(self.results, recorded, strict=True):
            outputs[place] = one
        return tuple(outputs)

    cdef object gradients_of(self, tuple cotangents, tuple saved):
        """The gradients of the inputs, or None where the backward program cannot give them; see `recording`."""
        cdef list given = []
        if grad_enabled() or living:
            return None
        for one in cotangents:
            if one is None:
                return None
            given.append(one if cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>(<TensorBase>one).array) else one.contiguous())
        cdef Py_ssize_t n_read = len(saved) - len(self.inputs)
        cdef tuple found = self.backward.run(tuple(given) + saved[:n_read])
        return [None if place is None else found[place] for place in self.gradients]


# Note [Results whose graph is used up]
# A training step calls backward() and returns its loss, whose graph has been freed by then. The loss requires grad
# still, and a backward of it is an error. So is one of what a program gives: its node leads to the same leaves, since
# a gradient of another tensor is none of that graph, and raises.

cdef class UsedUpBackward(Node):
    """The node of a result whose graph the function itself has freed."""

    cdef str text       # of the error

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        raise RuntimeError(self.text)


cdef class UsedUp:
    """Gives one result a history that a backward has freed; see Note [Results whose graph is used up].

    Parameters
    ----------
    result : int
        The output of the program.
    inputs : sequence
        The leaves behind it: numbers of arguments, and tensors.
    text : str
        Of the error that a backward raises.
    apply : callable
        ``apply(text, result, inputs)`` gives a result that is a view, or belongs to someone else, its history.
    """

    def __init__(self, Py_ssize_t result, inputs not None, str text not None, apply):
        self.result, self.inputs, self.text, self.apply = result, tuple(inputs), text, apply

    cpdef tuple with_history(self, tuple found, object leaves):
        """The outputs of a run, of which this one has a history now."""
        cdef int i
        cdef TensorBase result = found[self.result]
        cdef tuple inputs = tuple([leaf_in(leaves, one) for one in self.inputs])
        if not are_own((result,), leaves, inputs):
            result = self.apply(self.text, result, inputs)
            return (*found[:self.result], result, *found[self.result + 1:])
        cdef UsedUpBackward node = UsedUpBackward.__new__(UsedUpBackward)
        node.text = self.text
        node.init(len(inputs), 0, 0)
        for i in range(len(inputs)):
            collect_edge(node, i, <TensorBase>inputs[i])
        set_history_list((result,), node)
        return found


def error_if_used_up(TensorBase result not None):
    """What a backward of a tensor would raise since its graph has been freed; None if it has not.

    Of all nodes that are freed the engine comes first to the newest.
    """
    cdef Node node, newest = None
    cdef uint32_t i
    cdef set seen = set()
    cdef list waiting = [] if result.grad_fn == NULL else [<object>result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if is_freed(node) and (newest is None or node.sequence_nr > newest.sequence_nr):
            newest = node
        for i in range(node.n_edges):
            if node.edges[i].node != NULL and isinstance(<object>node.edges[i].node, Node):  # else a leaf itself
                waiting.append(<object>node.edges[i].node)
    return None if newest is None else freed_error(newest)


cdef bint is_freed(Node node) except -1:
    cdef uint32_t i
    if node.flags & NODE_LEAF:
        return False
    for i in range(node.n_saved):
        if node.saved[i].kind == SAVED_FREED:
            return True
    for i in range(node.n_values):
        if node.values[i] != NULL and type(<object>node.values[i]) is SavedList and (<SavedList>node.values[i]).items is None:
            return True
    return False


cdef bint are_own(tuple results, object leaves, tuple captured) except -1:
    """Are they tensors of their own, which no one else has?"""
    cdef TensorBase t
    cdef int i, j
    for i in range(len(results)):
        t = <TensorBase?>results[i]
        if t.flags & (IS_VIEW | REQUIRES_GRAD):
            return False
        for j in range(i):
            if results[j] is t:
                return False
        for one in leaves:
            if one is t:
                return False
        for one in captured:
            if one is t:
                return False
    return True
