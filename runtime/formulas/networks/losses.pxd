"""Helpers of losses; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Int, IntList, OptionalTensor, Scalar, Str, Tensor

cpdef Tensor divergence_loss(Tensor self, IntList shape, Str reduction)
cpdef Tensor alike(Str op, Tensor target, Tensor one, Tensor other)
cpdef Tensor floats_beside(Tensor self, Tensor other)
cpdef Tensor in_dtype_of(Tensor self, Tensor other)
cpdef Tensor paired_target(Tensor target, Tensor one, Tensor other)
cpdef Tensor classes_of_rows(Tensor self, Tensor target, Scalar p)
cpdef Tensor classes_of_sets(Tensor self, Tensor target)
cpdef Tensor reduced_class_losses(Tensor losses, Tensor target, OptionalTensor weight, Int ignore, Str reduction)
cpdef Tensor counted_classes(Tensor self, Tensor target, Int ignore)
