"""Helpers of ops of pairs of vectors; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport IntList, Tensor

cpdef IntList common_shape(IntList one, IntList other)
cpdef Tensor fitting_weight(Tensor weight, Tensor one, Tensor other)
