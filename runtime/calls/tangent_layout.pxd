from gradsmith.runtime.graph.tensor cimport TensorBase

cdef TensorBase fitting(TensorBase t, TensorBase value)
cdef TensorBase laid_out_like(TensorBase t, TensorBase value)
cdef bint lie_in_one_order(TensorBase t, TensorBase value) except -1
cdef TensorBase copied_like(TensorBase t, TensorBase value, tuple guests)
cdef TensorBase zeros_like(TensorBase t, tuple guests)
cdef bint has_room_for(TensorBase present, TensorBase tangent) except -1
cdef bint overlaps_itself(TensorBase t) except -1
