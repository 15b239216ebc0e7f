"""In-place forms of composites that write less than the whole tensor; the generator finds them by their names here.

`<op>_into` has the arguments of the op, and says whether it has written: False leaves the write to the op's parts.
"""

from gradsmith.runtime.formulas.schema_types cimport Bool, Scalar, Tensor
from gradsmith.runtime.graph.tensor cimport TensorBase

cdef bint changes_memory_alone(str op, TensorBase self, TensorBase one, TensorBase other) except -1
cdef bint is_computed_alone(TensorBase one, TensorBase other) except -1     # without a history, a tangent or an observer
cdef object written(TensorBase self)            # after the write: True

cpdef Bool masked_scatter_into(Tensor self, Tensor mask, Tensor source)
cpdef Bool addmm_into(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha)
cpdef Bool baddbmm_into(Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha)
cpdef Bool addr_into(Tensor self, Tensor vec1, Tensor vec2, Scalar beta, Scalar alpha)
