from cpython.ref cimport PyObject

from gradsmith.runtime.graph.node cimport Node


# Properties of an argument of `forward`.
cdef enum InputKind:
    IS_TENSOR = 1               # has an edge; the others have none
    NEEDS_GRAD = 2              # required grad, whether recording was on or not

cdef enum:
    INLINE_INPUTS = 8


# Node of one call of a custom Function, and the `ctx` that the user's code gets. The classes that are instantiated are
# Python's: one for each Function, `<name>Backward`, made by FunctionMeta.
cdef class FunctionNode(Node):
    cdef unsigned char *inputs              # an InputKind for each argument
    cdef int n_inputs
    cdef unsigned char inline_inputs[INLINE_INPUTS]

    # Requests of the user through `ctx`; taken, and None again, when the outputs are wrapped.
    cdef public object to_save              # tuple for `backward`
    cdef public object saved_for_forward    # tuple for `jvp`
    cdef public object dirty_tensors
    cdef public object non_differentiable

    cdef bint materialize                   # zeros in place of gradients that did not arrive
    cdef public bint _materialize_non_diff_grads    # also in place of those of outputs that have none
    cdef object undifferentiable            # numbers of these outputs, a set, where that is not wanted; else None
    cdef public bint _is_pure_view          # the output is nothing but a view of the input: it may be written
    cdef bint was_read                      # with clear_saved_tensors_on_access: the saved tensors are gone

    cdef int look_at_inputs(self, tuple inputs) except -1       # fills `inputs`: does a tensor among them need a gradient?
    cdef int lead_to(self, tuple inputs) except -1              # makes the edges


cdef bint is_own_setup_context(object setup_context) noexcept       # has the user written it?
