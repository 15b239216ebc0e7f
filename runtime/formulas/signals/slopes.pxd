"""Helpers of ops on sampled functions; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport (
    Bool, Float, Int, OptionalFloat, OptionalInt, OptionalIntList, OptionalTensor, Str, Tensor, TensorList,
)

cpdef TensorList gradients(Tensor self, object spacing, OptionalIntList dim, Int edge_order)
cpdef Tensor steps_between(Tensor self, OptionalTensor to_end, OptionalTensor to_begin)
cpdef Tensor accumulated(Tensor self, OptionalInt dim, Bool include_initial, Str op)
cpdef Tensor unwrapped(Tensor self, OptionalFloat discont, Int dim, Float period)
