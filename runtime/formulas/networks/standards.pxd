"""Helpers of normalizations; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Int, IntList, OptionalTensor, Str, Tensor

cpdef IntList dims_of_shape(Str op, Tensor self, IntList shape, OptionalTensor weight, OptionalTensor bias)
cpdef Tensor for_channels(Str name, Tensor factor, IntList shape)
cpdef IntList group_rows(IntList shape, Int groups)
