"""The node of a call of a compiled function whose results have a history."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t

from gradsmith.runtime.graph.node cimport NODE_CUSTOM, Node
from gradsmith.runtime.graph.node_io cimport gradient, set_grad_input
from gradsmith.runtime.graph.saved_variable cimport save_input, save_output, unpack
from gradsmith.runtime.graph.tensor cimport IS_VIEW, REQUIRES_GRAD, TensorBase
from gradsmith.runtime.history.history cimport collect_edge, set_history_list

cdef enum:
    MOST_SAVED = 0xFFFF


cdef class RecordedCallBackward(Node):
    """Its backward is ``gradients(cotangents, saved)``, of tensors, or None for what takes no part."""

    cdef object gradients

    def __cinit__(self):
        self.flags |= NODE_CUSTOM

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        cdef uint32_t i
        cdef TensorBase found
        cdef tuple cotangents = tuple([gradient(grads, i) for i in range(self.n_outputs)])
        cdef tuple saved = tuple([unpack(self, i) for i in range(self.n_saved)])
        cdef object gradients = self.gradients(cotangents, saved)
        for i in range(self.n_edges):
            found = gradients[i]
            if found is not None:
                set_grad_input(grad_inputs, i, found)
        return 0


def record(gradients, tuple results not None, tuple inputs not None, tuple saved not None, *others):
    """Give `results` a history, which leads to `inputs`.

    Parameters
    ----------
    gradients : callable
        Takes the gradients of the results, and `saved`; gives those of the inputs.
    results : tuple of Tensor
    inputs : tuple of Tensor
    saved : tuple of Tensor
        What the backward reads, also of the results.
    *others : sequence
        The arguments and captured tensors of the call, whose history must not change.

    Returns
    -------
    bool
        False, and nothing is done, where a result is a view, one that was given, or the same as another, or too much
        is saved.
    """
    cdef TensorBase t
    cdef int i
    if len(saved) > MOST_SAVED or not are_own(results, others):
        return False
    cdef RecordedCallBackward node = RecordedCallBackward.__new__(RecordedCallBackward)
    node.gradients = gradients
    node.init(len(inputs), len(saved), 0)
    for i in range(len(inputs)):
        collect_edge(node, i, <TensorBase?>inputs[i])
    set_history_list(results, node)
    for i in range(len(saved)):
        t = <TensorBase?>saved[i]
        if t.grad_fn == <PyObject *>node:
            save_output(node, i, t)
        else:
            save_input(node, i, t)
    return True


cdef bint are_own(tuple results, tuple others) except -1:
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
        for given in others:
            for one in given:
                if one is t:
                    return False
    return True
