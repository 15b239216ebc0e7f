from cpython.ref cimport PyObject

from gradsmith.runtime.arrays.array cimport is_exclusive
from gradsmith.runtime.batching.batch cimport is_batched, living
from gradsmith.runtime.graph.tangent cimport has_tangent_2
from gradsmith.runtime.graph.tensor cimport TensorBase
from gradsmith.runtime.switches.grad_mode cimport grad_enabled


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)


cdef inline bint sum_wants_ops(TensorBase a, TensorBase b) noexcept:
    """Is the sum to be recorded, to carry a tangent on, or one of batches?"""
    return grad_enabled() or has_tangent_2(a, b) or (living and (is_batched(a) or is_batched(b)))


cdef inline bint is_owned(PyObject *grad, Py_ssize_t references=1) noexcept:
    """May the engine, which holds `references`, overwrite the gradient, unseen by anybody?

    See Note [Who owns a gradient].
    """
    return (
        Py_REFCNT(grad) == references
        and (<TensorBase>grad).base == NULL
        and not (<TensorBase>grad).flags
        and (<TensorBase>grad).meta is None
        and is_exclusive((<TensorBase>grad).array)
    )

cdef int add_into(PyObject **slot, PyObject *grad) except -1        # slot += grad; consumes `grad`
cdef TensorBase add_tensors(TensorBase a, TensorBase b)             # recorded when the graph of the gradient is wanted
# Can the gradient of a part be added to this sum of gradients, of what has this shape? Not where ops are to see it.
cdef bint takes_part(TensorBase total, TensorBase grad, object shape) except -1
