from cpython.ref cimport PyObject

from gradsmith.runtime.graph.tensor cimport TensorBase


cdef TensorBase as_view(TensorBase base, object array)
cdef list as_view_list(TensorBase base, object arrays)
cdef TensorBase root_of(TensorBase t)                                       # what it is a view of, or itself
cdef TensorBase view_at(TensorBase other, TensorBase base, TensorBase view)
cdef object function_view_error(TensorBase view, str what)                  # a view made inside a custom Function
cdef object ambiguous_view_error(TensorBase view, str what)     # the same for a view made while nothing was recorded
cdef TensorBase share_version(TensorBase source, object array)              # detach: the counter is shared, the history is not
cdef PyObject *current_grad_fn(TensorBase t) except? NULL                   # borrowed; renewed for a view whose base changed
