"""Nodes that compute nothing: they represent, in a graph, what cannot or must not be differentiated.

Each comes with a function that gives tensors such a history. The tensors are new ones around the same memory.
"""
from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.node_io cimport set_value, value_of
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.history.history cimport collect_edge_list, set_history_list
from gradsmith.runtime.history.view cimport share_version


cdef class Error(Node):
    """Raises RuntimeError with its message when a gradient arrives."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        raise RuntimeError(value_of(self, 0))


cdef class NotImplemented(Node):
    """Represents an operation whose derivative has not been written."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        raise NotImplementedError(f"the derivative for '{value_of(self, 0)}' is not implemented")


cdef class UndefinedGradBackward(Node):
    """Swallows the gradients that arrive and passes none on."""

    cdef int apply(self, PyObject **grads, PyObject **grad_inputs) except -1:
        return 0


def delayed_error(str message, list tensors, list sources):
    """`tensors` again; RuntimeError with `message` when they are differentiated with respect to `sources`.

    What is no tensor stays as it is.
    """
    return with_history(Error.__new__(Error), message, tensors, sources)


def not_implemented(str op, list tensors):
    """The same with NotImplementedError, for results of `op`."""
    return with_history(NotImplemented.__new__(NotImplemented), op, tensors, tensors)


def undefined_grad(list tensors):
    """The same, but gradients end there."""
    return with_history(UndefinedGradBackward.__new__(UndefinedGradBackward), None, tensors, tensors)


cdef list with_history(Node node, object text, list tensors, list sources):
    cdef TensorBase t
    cdef list results = []
    sources = [source for source in sources if isinstance(source, TensorBase)]
    node.init(len(sources), 0, 1)
    collect_edge_list(node, 0, sources)
    set_value(node, 0, text)
    for value in tensors:
        if isinstance(value, TensorBase):
            t = value
            value = share_version(t, <object>t.array)
        results.append(value)
    set_history_list([value if isinstance(value, TensorBase) else None for value in results], node)
    return results
