"""Helpers of ops that interpolate, pad and choose as NumPy does; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport (
    Float, Int, OptionalFloat, OptionalInt, OptionalScalar, OptionalStr, Str, Tensor, TensorList, TensorOrScalar,
)

cpdef Tensor interpolated(
    Tensor x, Tensor xp, Tensor fp, OptionalScalar left, OptionalScalar right, OptionalFloat period)
cpdef Tensor padded_by_mode(
    Tensor self, object pad_width, Str mode, object stat_length, object constant_values, object end_values,
    OptionalStr reflect_type)
cpdef Tensor with_elements_along(Tensor self, Tensor indices, TensorOrScalar values, OptionalInt dim)
cpdef Tensor chosen_from(Tensor self, TensorList choices, Str mode)
cpdef Tensor padding_statistic(Tensor self, Int dim, Str mode)
cpdef Tensor whole_part(Tensor self)
cpdef Tensor fraction_part(Tensor self)
