cpdef object resampled_of(object a, object taps, object transposed)
