"""Helpers of ops that replace a part of a tensor, pad it, or sum it up; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Int, IntList, OptionalInt, Scalar, Tensor

cpdef Tensor with_selected(Tensor self, Tensor src, Int dim, Int index)
cpdef Tensor with_slice(Tensor self, Tensor src, Int dim, OptionalInt start, OptionalInt end, Int step)
cpdef Tensor with_masked(Tensor self, Tensor mask, Tensor source)
cpdef Tensor with_strided(Tensor self, Tensor src, IntList size, IntList stride, OptionalInt storage_offset)
cpdef Tensor padded(Tensor self, IntList pad, Scalar value)
cpdef Tensor summed_to_size(Tensor self, IntList size)
