from cpython.ref cimport PyObject

from gradsmith.runtime.graph.tensor cimport IS_VIEW, TensorBase
from gradsmith.runtime.history.observers cimport end_op


cdef TensorBase as_view(TensorBase base, object array)
cdef list as_view_list(TensorBase base, object arrays)
cdef TensorBase root_of(TensorBase t)                                       # what it is a view of, or itself
cdef TensorBase view_at(TensorBase other, TensorBase base, TensorBase view)
cdef object function_view_error(TensorBase view, str what)                  # a view made inside a custom Function
cdef object ambiguous_view_error(TensorBase view, str what)     # the same for a view made while nothing was recorded
cdef TensorBase share_version(TensorBase source, object array)              # detach: the counter is shared, the history is not
cdef PyObject *current_grad_fn(TensorBase t) except? NULL                   # borrowed; renewed for a view whose base changed


# Note [Results of composite ops]
# A composite op may end with a view, for example of what it has computed in another shape. That is an implementation
# detail, and must not reach the caller: a view that was made without recording could not be written while recording. So
# when nothing else refers to the base, the result stops being a view and owns its history.

cdef int become_own(TensorBase view) except -1

cdef inline TensorBase ended_composite(int depth, TensorBase result):
    """The result of a composite op."""
    if depth:
        end_op(depth, result)
    elif result.flags & IS_VIEW:
        become_own(result)
    return result

cdef object ended_composites(int depth, object results)
