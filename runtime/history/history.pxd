from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport NEEDS_CARE, TensorBase
from gradsmith.runtime.switches.grad_mode cimport grad_enabled


# ---- does an operation on these tensors have to be recorded?
# The plain case is one flag test and one call; views ask their base (a base may come to require grad after a view
# of it was made).

cdef bint requires_grad(TensorBase t) noexcept          # of the tensor alone, whatever the grad mode

cdef inline bint requires_grad_1(TensorBase a) noexcept:
    if a is None or not a.flags & NEEDS_CARE:
        return False
    return grad_enabled() and requires_grad(a)

cdef inline bint requires_grad_2(TensorBase a, TensorBase b) noexcept:
    return requires_grad_1(a) or requires_grad_1(b)

cdef inline bint requires_grad_3(TensorBase a, TensorBase b, TensorBase c) noexcept:
    return requires_grad_1(a) or requires_grad_1(b) or requires_grad_1(c)

cdef bint requires_grad_list(object tensors) except -1

# ---- edges and history
cdef bint has_gradient(TensorBase t) noexcept           # of its dtype: floating or complex
cdef int collect_edge(Node node, int edge, TensorBase t) except -1          # None leaves the edge empty
cdef int collect_edge_list(Node node, int first_edge, object tensors) except -1     # gives the next free edge
cdef inline int connect_1(Node node, int n_saved, int n_values, TensorBase a) except -1:
    """Room for what the node saves, and its edge."""
    node.init(1, n_saved, n_values)
    return collect_edge(node, 0, a)

cdef inline int connect_2(Node node, int n_saved, int n_values, TensorBase a, TensorBase b) except -1:
    node.init(2, n_saved, n_values)
    collect_edge(node, 0, a)
    return collect_edge(node, 1, b)

cdef inline int connect_3(Node node, int n_saved, int n_values, TensorBase a, TensorBase b, TensorBase c) except -1:
    node.init(3, n_saved, n_values)
    collect_edge(node, 0, a)
    collect_edge(node, 1, b)
    return collect_edge(node, 2, c)

cdef int set_history(TensorBase result, Node node) except -1
cdef int set_history_list(object results, Node node) except -1              # skips None and dtypes without gradient
cdef PyObject *grad_accumulator(TensorBase leaf) except NULL                # new reference
cdef int reset_accumulator(TensorBase leaf) except -1
cdef int set_grad_fn(TensorBase t, Node grad_fn, int output_nr) except -1   # settles what was saved of `t`
cdef int prepare_grad_fn(TensorBase t, Node grad_fn, int output_nr) except -1   # the two halves of it: what can fail,
cdef void forget_retained(TensorBase t) noexcept                            # `t` has changed: its old gradient is not kept
cdef void put_grad_fn(TensorBase t, Node grad_fn, int output_nr) noexcept       # and what changes `t`
