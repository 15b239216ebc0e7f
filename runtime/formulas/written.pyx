"""In-place forms of composites that write less than the whole tensor; see the .pxd for the types.

They are for tensors of which nothing but the memory changes. With a history, a tangent or an observer, and for operands
that the op refuses, they write nothing, and the parts of the op compute a result that is copied.
"""

cimport numpy as cnp

from gradsmith.runtime.arrays.functions.algebra.linalg cimport add_product
from gradsmith.runtime.arrays.functions.indexed cimport masked_scatter
from gradsmith.runtime.arrays.overlap cimport may_overlap_itself
from gradsmith.runtime.calls.inplace cimport finish_inplace, writes_directly
from gradsmith.runtime.graph.tangent cimport has_tangent_2, has_tangent_3
from gradsmith.runtime.graph.tensor cimport TensorBase, array_of
from gradsmith.runtime.history.history cimport requires_grad_2, requires_grad_3
from gradsmith.runtime.history.observers cimport watching

cnp.import_array()


cdef bint changes_memory_alone(str op, TensorBase self, TensorBase one, TensorBase other) except -1:
    if watching or requires_grad_3(self, one, other) or has_tangent_3(self, one, other):
        return False
    return writes_directly(op, self) and not may_overlap_itself(<cnp.ndarray>self.array)


cdef bint is_computed_alone(TensorBase one, TensorBase other) except -1:
    return not (watching or requires_grad_2(one, other) or has_tangent_2(one, other))


cdef object written(TensorBase self):
    finish_inplace(self, None)
    return True


# ---- masks


cpdef object masked_scatter_into(object self, object mask, object source):
    if not changes_memory_alone("masked_scatter_", self, mask, source):
        return False
    return masked_scatter(array_of(self), array_of(mask), array_of(source)) and written(self)


# ---- products


cpdef object addmm_into(object self, object mat1, object mat2, object beta, object alpha):
    if not changes_memory_alone("addmm_", self, mat1, mat2):
        return False
    return add_product(array_of(self), array_of(mat1), array_of(mat2), beta, alpha, 2) and written(self)


cpdef object baddbmm_into(object self, object batch1, object batch2, object beta, object alpha):
    if not changes_memory_alone("baddbmm_", self, batch1, batch2):
        return False
    return add_product(array_of(self), array_of(batch1), array_of(batch2), beta, alpha, 3) and written(self)


cpdef object addr_into(object self, object vec1, object vec2, object beta, object alpha):
    if not changes_memory_alone("addr_", self, vec1, vec2):
        return False
    column, row = array_of(vec1), array_of(vec2)
    if column.ndim != 1 or row.ndim != 1 or column.dtype.kind != "f":      # matmul rounds complex products otherwise
        return False
    return add_product(array_of(self), column[:, None], row[None], beta, alpha, 2) and written(self)
