"""Entry points of the engine: accumulate below these roots, or return the gradients of these inputs.

`gradsmith.autograd.gradients` checks what the user has passed and calls what is here.
"""
from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport full_array, is_meta
from gradsmith.runtime.engine.anomaly_mode cimport anomaly_enabled
from gradsmith.runtime.engine.engine cimport run
from gradsmith.runtime.engine.graph_task cimport GraphTask, VISITED, begin, end, state_of
from gradsmith.runtime.engine.graph_walk cimport prune
from gradsmith.runtime.engine.zero_gradients cimport nan_safe_enabled
from gradsmith.runtime.graph.input_metadata cimport InputMetadata, metadata_dtype, metadata_shape_tuple
from gradsmith.runtime.graph.node cimport Node, metadata_of
from gradsmith.runtime.graph.tensor cimport (
    HAS_GRAD_DTYPE,
    REQUIRES_GRAD,
    TensorBase,
    VIEW_INFERENCE,
    VIEW_NO_GRAD,
    wrap_owned,
)
from gradsmith.runtime.history.history cimport requires_grad
from gradsmith.runtime.history.observers cimport current_observer, watching
from gradsmith.runtime.history.view cimport current_grad_fn
from gradsmith.runtime.switches.upcalls cimport c_upcalls, scalar_backward

from gradsmith.runtime.arrays.device import ALL as DEVICES

cnp.import_array()


cdef enum:
    NEEDS_CHECKS = HAS_GRAD_DTYPE | VIEW_NO_GRAD | VIEW_INFERENCE     # a root that the short way leaves to the long one


# These take checked arguments. A root or an input is a tensor, or a pair of a node and the number of one of the
# gradients that come in there.

def run_backward(list roots, list grads, bint keep_graph, bint create_graph):
    """Accumulate into every leaf below `roots`."""
    run_all(roots, grads, keep_graph, create_graph)


def run_backward_to(list roots, list grads, bint keep_graph, bint create_graph, list inputs):
    """Run the nodes of `inputs` and what leads to them, and nothing else."""
    run_pruned(roots, grads, keep_graph, create_graph, inputs, True, True)


def run_grad(list roots, list grads, bint keep_graph, bint create_graph, list inputs, bint allow_unused=True):
    """Gradients of `inputs`, None where no path leads to one; no `.grad` is touched."""
    return run_pruned(roots, grads, keep_graph, create_graph, inputs, False, allow_unused)


def grad_in_short(outputs, inputs, vectors, bint keep_graph, bint create_graph, bint allow_unused):
    """`grad` of one tensor by tensors where nothing is left to check; None, and nothing done, for any other call.

    `vectors` is what the caller gave as the gradient of the output, None for ones.
    """
    cdef TensorBase root = only_tensor(outputs)
    cdef list wanted = None if root is None else tensors_with_grad(inputs)
    if wanted is None:
        return None
    one = one_for(root) if vectors is None else fitting_vector(root, only_tensor(vectors))
    if one is None:
        return None
    results = run_pruned([root], [one], keep_graph, create_graph, wanted, False, allow_unused)
    if not allow_unused and None in results:    # a path leads there, but no gradient came along
        raise unused_input(wanted, results.index(None))
    return tuple(results)


def backward_in_short(outputs, vectors, bint keep_graph):
    """`backward` of one tensor with a gradient where nothing is left to check; False, and nothing done, for any other."""
    cdef TensorBase root = only_tensor(outputs)
    cdef TensorBase vector = None if root is None else fitting_vector(root, only_tensor(vectors))
    if vector is None:
        return False
    run_all([root], [vector], keep_graph, False)
    return True


cdef TensorBase only_tensor(given):
    """The tensor that is given, alone or in a sequence; None for anything else."""
    if isinstance(given, TensorBase):
        return given
    if type(given) is tuple and len(<tuple>given) == 1 and isinstance((<tuple>given)[0], TensorBase):
        return (<tuple>given)[0]
    if type(given) is list and len(<list>given) == 1 and isinstance((<list>given)[0], TensorBase):
        return (<list>given)[0]
    return None


cdef list tensors_with_grad(given):
    """The tensors of a sequence, or one alone, as a list; None where one is anything else, or does not require grad."""
    cdef list found
    if isinstance(given, TensorBase):
        found = [given]
    elif type(given) is tuple or type(given) is list:
        found = list(given)
    else:
        return None
    for one in found:
        if not isinstance(one, TensorBase) or not requires_grad(<TensorBase>one):
            return None
    return found or None


cdef TensorBase fitting_vector(TensorBase root, TensorBase vector):
    """The gradient that was given for a root, if it is one as it stands; None for any that is to be checked."""
    if vector is None or not requires_grad(root) or root.flags & NEEDS_CHECKS:
        return None
    if cnp.PyArray_TYPE(<cnp.ndarray>vector.array) != cnp.PyArray_TYPE(<cnp.ndarray>root.array):
        return None
    if is_meta(vector.array) != is_meta(root.array):
        return None
    return vector if cnp.PyArray_SAMESHAPE(<cnp.ndarray>vector.array, <cnp.ndarray>root.array) else None


def takes_gradient(TensorBase root not None):
    """Is there a node for a gradient of `root`? Not for a view that inherits `requires_grad`, made without recording."""
    return root.flags & REQUIRES_GRAD or current_grad_fn(root) != NULL


cdef bint backward_of_scalar(TensorBase root, bint keep_graph) except -1:
    """``root.backward()`` of a real tensor with one element; False, and nothing done, for any other."""
    cdef TensorBase one = one_for(root)
    if one is None:
        return False
    run_all([root], [one], keep_graph, False)
    return True


cdef TensorBase one_for(TensorBase root):
    """The gradient with which that of a real tensor with one element begins; None for any other, and those to check."""
    if cnp.PyArray_SIZE(<cnp.ndarray>root.array) != 1 or not requires_grad(root) or root.flags & NEEDS_CHECKS:
        return None
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray>root.array) and is_meta(root.array):
        return None
    if cnp.PyTypeNum_ISCOMPLEX(cnp.PyArray_TYPE(<cnp.ndarray>root.array)):
        return None
    return wrap_owned(full_array(
        cnp.PyArray_TYPE(<cnp.ndarray>root.array),
        cnp.PyArray_NDIM(<cnp.ndarray>root.array),
        cnp.PyArray_DIMS(<cnp.ndarray>root.array),
        1,
    ))


def gradient_of_scalar(TensorBase root not None):
    """`one_for`, for callers in Python."""
    return one_for(root)


c_upcalls.backward_of_scalar = <scalar_backward>backward_of_scalar


cdef int run_all(list roots, list grads, bint keep_graph, bint create_graph) except -1:
    cdef GraphTask task = begin(roots, keep_graph)
    try:
        read_observers(task)
        run(task, grads, create_graph)
    finally:
        end(task)
    return 0


cdef int read_observers(GraphTask task) except -1:
    task.checked = anomaly_enabled() or nan_safe_enabled()
    task.watched = task.checked or (watching and current_observer() is not None)
    return 0


cdef list run_pruned(
    list roots, list grads, bint keep_graph, bint create_graph, list inputs, bint accumulate, bint allow_unused
):
    cdef GraphTask task = begin(roots, keep_graph)
    try:
        read_observers(task)
        prune(task, inputs, accumulate)
        if not allow_unused:
            check_reached(task, inputs)
        run(task, grads, create_graph)
    finally:
        end(task)
    return task.results


def leads_elsewhere(list roots, list inputs):
    """Could the roots be differentiated by anything but the inputs?"""
    cdef GraphTask task = begin(roots, True)
    try:
        prune(task, inputs, False)
    finally:
        end(task)
    return task.leads_elsewhere


def run_transform(list roots, list grads, list inputs):
    """Gradients of `inputs` for the caller of a function transform, to whom they are no tensors of the graph.

    The graph of the function ends with this run, and the run is recorded if the roots depend on anything else that
    requires grad.
    """
    cdef GraphTask task = begin(roots, False)
    try:
        read_observers(task)
        prune(task, inputs, False)
        task.keep_graph = task.leads_elsewhere
        run(task, grads, task.leads_elsewhere)
    finally:
        end(task)
    return task.results


cdef int check_reached(GraphTask task, list inputs) except -1:
    """Does a path lead to every requested input? Asked before the run, which frees what was saved."""
    for address, captured in task.captures.items():
        if not state_of(task, <PyObject *><size_t>address) & VISITED:
            raise unused_input(inputs, captured[0][1])
    return 0


def expected_gradient(edge):
    """Shape, dtype and device of the gradient that comes in at a gradient edge, None where nothing is expected of it.

    Raises
    ------
    TypeError, IndexError
        There is no such edge.
    """
    cdef InputMetadata *metadata
    if not isinstance(edge, tuple) or len(edge) < 2:
        raise TypeError(f"a gradient edge is a tuple of a Node and a number, got {edge!r}")
    node, number = edge[:2]
    if not isinstance(node, Node):
        raise TypeError(f"the node of a gradient edge must be a Node, got {type(node).__name__}")
    if not hasattr(number, "__index__"):
        raise TypeError(f"the number of a gradient edge must be an int, got {type(number).__name__}")
    if not 0 <= number < (<Node>node).n_outputs:
        raise IndexError(f"{node.name()} has {(<Node>node).n_outputs} incoming gradients, and none with number {number}")
    metadata = metadata_of(<PyObject *>node, number)
    if metadata.type_number == -1:
        return None, None, None
    return metadata_shape_tuple(metadata), metadata_dtype(metadata), DEVICES[metadata.device]


def unused_input(inputs, index):
    """The error for an input that no root depends on."""
    found = inputs[index]
    what = f"a tensor of shape {list(found.shape)}" if isinstance(found, TensorBase) else f"the gradient edge of {found[0].name()}"
    return RuntimeError(
        f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set allow_unused=True "
        f"if this is the desired behavior. It is {what}."
    )
