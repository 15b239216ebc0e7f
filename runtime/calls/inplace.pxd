from gradsmith.runtime.graph.node cimport Node
from gradsmith.runtime.graph.tensor cimport TensorBase


cdef int check_inplace(str op, TensorBase self) except -1                   # may the elements be written?
cdef int check_change(str op, TensorBase self) except -1    # may the tensor be given another shape, or other memory?
cdef TensorBase original_of(TensorBase self)
cdef object kept_from_write(TensorBase self, object operand)        # what forward mode reads of it after the write
cdef Node prepare_history(str op, TensorBase self, Node node)       # before the write, when it is recorded
cdef void finish_inplace(TensorBase self, Node history) noexcept        # after it
cdef bint writes_some_of_overlapping(str op, TensorBase self) except -1    # of those in one place?
cdef TensorBase write_some(str op, TensorBase self, TensorBase value)       # a computed result, where it has changed
cdef int write_inplace(str op, TensorBase self, object array) except -1
cdef bint writes_directly(str op, TensorBase self) except -1    # may array functions write what changes into its memory?
cdef int store_values(object target, object values) except -1              # arrays; cast, as far as there is data
cdef int check_result_dtype(str op, object found, object target) except -1  # no category is lost by the cast
cdef bint is_written_already(str op, object target, object source) except -1        # arrays; refuses overlapping ones
