"""Helpers of normalizations; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Int, IntList, OptionalTensor, Str, Tensor

cpdef IntList dims_of_shape(Str op, Tensor self, IntList shape, OptionalTensor weight, OptionalTensor bias)
cpdef OptionalTensor for_groups(Str name, OptionalTensor factor, IntList shape, Int groups)
cpdef IntList group_parts(IntList shape, Int groups)
