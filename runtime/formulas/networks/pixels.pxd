"""Helpers of ops of channels; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Int, IntList, Tensor

cpdef IntList shuffled_parts(IntList shape, Int factor)
cpdef IntList shuffled_order(Int ndim)
cpdef IntList shuffled_shape(IntList shape, Int factor)
cpdef IntList unshuffled_parts(IntList shape, Int factor)
cpdef IntList unshuffled_order(Int ndim)
cpdef IntList unshuffled_shape(IntList shape, Int factor)
cpdef IntList channel_groups(IntList shape, Int groups)
cpdef Tensor sized_for_means(Tensor self, Int size)
