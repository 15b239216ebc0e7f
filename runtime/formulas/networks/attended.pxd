"""Helpers of attention; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Float, OptionalTensor, Tensor

cpdef Tensor attention_weights(Tensor query, Tensor key, OptionalTensor mask, Tensor log_sum, Float scale, Bool causal)
