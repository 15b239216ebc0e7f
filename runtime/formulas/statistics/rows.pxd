"""Helpers of ops that compare the rows of matrices; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Float, Int, OptionalTensor, Str, Tensor

cpdef Bool have_distance_loop(Tensor x1, Tensor x2, Float p, Str mode)
cpdef Tensor differences_of_pairs(Tensor self)
cpdef Tensor pair_places(Tensor self)
cpdef Bool has_distance_loop(Tensor self, Float p)
cpdef Tensor shrunk_slices(Tensor self, Float p, Int dim, Float maxnorm)
cpdef Tensor covariances(Tensor self, Int correction, OptionalTensor fweights, OptionalTensor aweights)
cpdef Tensor correlations(Tensor self)
