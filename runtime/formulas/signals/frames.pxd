"""Helpers of short-time Fourier transforms; the generator reads their signatures here."""

from gradsmith.runtime.formulas.schema_types cimport (
    Bool, Int, IntList, OptionalBool, OptionalInt, OptionalTensor, Str, Tensor
)

cpdef Tensor short_time_frames(Tensor self, Int n_fft, OptionalInt hop_length, OptionalInt win_length, OptionalTensor window, Bool center, Str pad_mode, OptionalBool align_to_window)
cpdef Bool is_onesided(Str op, Tensor self, OptionalTensor window, OptionalBool onesided, OptionalBool return_complex)
cpdef Tensor checked_spectra(Tensor self, Int n_fft, OptionalInt hop_length, OptionalInt win_length, OptionalTensor window, OptionalBool onesided, Bool return_complex)
cpdef Tensor window_of_frames(Tensor self, Int n_fft, OptionalInt win_length, OptionalTensor window)
cpdef IntList places_of_frames(Tensor self, Int n_fft, OptionalInt hop_length, Bool center, OptionalInt length)
