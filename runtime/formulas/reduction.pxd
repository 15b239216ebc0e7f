"""Helpers of losses that become a mean or a sum; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport IntList, OptionalTensor, Str, Tensor

cpdef Tensor reduced_loss(Tensor self, Str reduction)
cpdef Tensor weighted_mean_loss(Tensor self, OptionalTensor weight, Str reduction)
cpdef Tensor weighted_loss(Tensor self, OptionalTensor weight, Str reduction)
cpdef Tensor target_of_size(Tensor target, IntList shape)
cpdef Tensor target_of_kind(Tensor target, Tensor self)
cpdef Tensor weight_of_kind(Tensor weight, Tensor self)
cpdef Tensor loss_of_target(Tensor loss, Tensor target)
