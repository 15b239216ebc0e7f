"""Helpers of ops that compare the rows of matrices; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Float, Int, OptionalTensor, Str, Tensor

cpdef Tensor differences_of_rows(Tensor x1, Tensor x2, Float p, Str mode)
cpdef Tensor differences_within(Tensor self, Float p)
cpdef Tensor shrunk_slices(Tensor self, Float p, Int dim, Float maxnorm)
cpdef Tensor covariances(Tensor self, Int correction, OptionalTensor fweights, OptionalTensor aweights)
cpdef Tensor correlations(Tensor self)
