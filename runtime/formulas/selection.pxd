"""Helpers of ops that read and write elements by their places; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Int, OptionalInt, Tensor, TensorOrScalar

cpdef Tensor elements_at(Tensor self, Tensor index)
cpdef Tensor elements_along(Tensor self, Tensor indices, OptionalInt dim)
cpdef Tensor with_elements_at(Tensor self, Tensor index, Tensor source, Bool accumulate)
cpdef Tensor with_elements_at_into(Tensor self, Tensor index, Tensor source, Bool accumulate)
cpdef Tensor filled_along(Tensor self, Int dim, Tensor index, TensorOrScalar value)
cpdef Tensor filled_along_into(Tensor self, Int dim, Tensor index, TensorOrScalar value)
cpdef Tensor copied_along(Tensor self, Int dim, Tensor index, Tensor source)
cpdef Tensor copied_along_into(Tensor self, Int dim, Tensor index, Tensor source)
