"""Every helper that the key `batch` of an entry may call; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Int, IntList, OptionalIntList, OptionalTensor, Scalar, Str, Tensor, TensorOrScalar

cpdef Tensor filling(Tensor self, TensorOrScalar value)
cpdef IntList restored_sizes(IntList shape, Int ndim, OptionalIntList dim, Bool keepdim)
cpdef IntList reversed_dims(Int ndim)
cpdef IntList unit_dims(IntList shape)
cpdef Tensor summed_to(Tensor self, IntList size)
cpdef Tensor index_selected(Tensor self, Int dim, Tensor index)
cpdef Tensor index_added(Tensor self, Int dim, Tensor index, Tensor source, Scalar alpha)
cpdef Tensor mse_by_parts(Tensor self, Tensor target, Str reduction)
cpdef Tensor nll_by_parts(Tensor self, Tensor target, OptionalTensor weight, Int ignore_index, Str reduction)
cpdef Tensor nll_backward_by_parts(
    Tensor gradient, IntList shape, Tensor target, OptionalTensor weight, Int ignore_index, Str reduction)
