"""Helpers of ops that go over an image by windows; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Int, IntList, OptionalTensor, Str, Tensor

cpdef Tensor as_volumes(Tensor self, Int dims, Str op)
cpdef Tensor from_volumes(Tensor self, Int dims, IntList shape)
cpdef Tensor plus_bias(Tensor self, OptionalTensor bias, Int dims, Str op)
cpdef IntList in_three_dims(IntList values, Int filler)
cpdef IntList padding_before(Str op, object padding, IntList window, IntList stride, IntList dilation)
cpdef IntList conv_sizes(
    Str op, IntList shape, IntList weight, object padding, IntList stride, IntList dilation, Int groups)
cpdef IntList conv_transpose_sizes(
    Str op, IntList shape, IntList weight, IntList stride, IntList padding, IntList output_padding, IntList dilation,
    Int groups)
