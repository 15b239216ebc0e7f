"""Helpers of ops that sort, scan and count; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport (
    Bool, DType, Float, Int, IntList, OptionalDType, OptionalInt, OptionalIntList, OptionalScalar, OptionalTensor, Scalar, Str, Tensor,
)

cpdef Tensor backwards(Tensor self, Int dim)
cpdef Tensor factors(Tensor self, DType dtype)
cpdef Tensor moved_up(Tensor self, Int dim, Scalar first)
cpdef Tensor quantile_along(Tensor self, object q, OptionalInt dim, Bool keepdim, Str interpolation, Bool ignore_nan)
cpdef Tensor differences(Tensor self, Int n, Int dim, OptionalTensor prepend, OptionalTensor append)
cpdef Tensor trapezoid_sum(Tensor y, Scalar dx, Int dim)
cpdef Tensor trapezoids(Tensor y, OptionalTensor x, Scalar dx, Int dim)
cpdef Tensor p_norm_backward(Tensor gradient, Tensor self, Tensor value, Float p, OptionalIntList dim, Bool keepdim)
cpdef Tensor norm_input(Tensor self, OptionalDType dtype)
cpdef Bool is_nuclear(object p)
cpdef IntList matrix_dims(Str op, Tensor self, OptionalIntList dim)
cpdef Float norm_order(object p)
cpdef Tensor counted_numbers(Tensor self, OptionalIntList dim, Bool keepdim)
