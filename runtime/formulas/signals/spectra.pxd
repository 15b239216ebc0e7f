"""Helpers of Fourier transforms and convolutions; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport Bool, Float, Int, IntList, OptionalInt, OptionalIntList, OptionalStr, Str, Tensor

cpdef Float power_of(OptionalStr norm, Bool inverse)
cpdef IntList transformed_dims(Int ndim, OptionalIntList size, OptionalIntList dim)
cpdef IntList shifted_dims(Int ndim, OptionalIntList dim)
cpdef OptionalIntList one_size(OptionalInt n)
cpdef IntList transformed_sizes(IntList shape, OptionalIntList size, IntList dim)
cpdef IntList sizes_of_half(IntList shape, OptionalIntList size, IntList dim)
cpdef IntList halved_last(IntList size)
cpdef Bool fits(IntList shape, IntList size, IntList dim)
cpdef IntList convolved_dims(Str op, IntList shape, IntList other, OptionalIntList axes)
cpdef IntList convolved_starts(Str op, IntList shape, IntList other, IntList dims, Str mode)
cpdef IntList convolved_sizes(Str op, IntList shape, IntList other, IntList dims, Str mode)
cpdef Bool is_quicker_by_fft(Str op, Tensor self, Tensor other, Str method)
cpdef Str mode_of_vectors(Str op, IntList shape, IntList other, Str mode)
cpdef Int kind_of_transform(Int type, Bool inverse)
