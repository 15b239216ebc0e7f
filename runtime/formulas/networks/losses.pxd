"""Helpers of losses; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Scalar, Str, Tensor

cpdef Tensor divergence_loss(Tensor self, Str reduction)
cpdef Tensor alike(Str op, Tensor target, Tensor one, Tensor other)
cpdef Tensor paired_target(Tensor target, Tensor one, Tensor other)
cpdef Tensor classes_of_rows(Tensor self, Tensor target, Scalar p)
cpdef Tensor classes_of_sets(Tensor self, Tensor target)
