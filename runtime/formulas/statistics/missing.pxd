"""Helpers of reductions that leave NaN out; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport (
    Bool, Float, OptionalIntList, OptionalTensor, Scalar, Tensor,
)

cpdef Tensor without_nan(Tensor self, Scalar value)
cpdef Tensor extreme_without_nan(Tensor self, OptionalIntList dim, Bool keepdim, Bool is_greatest)
cpdef Tensor product_without_nan(Tensor self, OptionalIntList dim, Bool keepdim)
cpdef Tensor variance_without_nan(Tensor self, OptionalIntList dim, Float ddof, Bool keepdim)
cpdef Tensor deviation_without_nan(Tensor self, OptionalIntList dim, Float ddof, Bool keepdim)
cpdef object percentages(object q)
cpdef Tensor averages(Tensor self, OptionalIntList dim, OptionalTensor weights, Bool keepdim)

cdef object floating(object self)       # integers and bools in the default dtype
