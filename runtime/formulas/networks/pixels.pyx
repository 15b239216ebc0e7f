"""Shapes of images whose channels become pixels, the other way round, or change places."""


cpdef object shuffled_parts(object shape, object factor):
    """(*, channels, factor, factor, height, width)"""
    *before, channels, height, width = expect_image("pixel_shuffle", shape, factor, "upscale_factor")
    if channels % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {factor * factor}"
        )
    return (*before, channels // (factor * factor), factor, factor, height, width)


cpdef object shuffled_order(object ndim):
    """(*, channels, height, factor, width, factor)"""
    return (*range(ndim - 3), *[ndim - 3 + dim for dim in (0, 3, 1, 4, 2)])


cpdef object shuffled_shape(object shape, object factor):
    *before, channels, height, width = shape
    return (*before, channels // (factor * factor), height * factor, width * factor)


cpdef object unshuffled_parts(object shape, object factor):
    """(*, channels, height, factor, width, factor)"""
    *before, channels, height, width = expect_image("pixel_unshuffle", shape, factor, "downscale_factor")
    for name, dim, size in (("height", -2, height), ("width", -1, width)):
        if size % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({dim})={size} is "
                f"not divisible by {factor}"
            )
    return (*before, channels, height // factor, factor, width // factor, factor)


cpdef object unshuffled_order(object ndim):
    """(*, channels, factor, factor, height, width)"""
    return (*range(ndim - 3), *[ndim - 3 + dim for dim in (0, 2, 4, 1, 3)])


cpdef object unshuffled_shape(object shape, object factor):
    *before, channels, height, width = shape
    return (*before, channels * factor * factor, height // factor, width // factor)


cpdef object channel_groups(object shape, object groups):
    """(images, groups, channels of one, *sizes)"""
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}"
        )
    if groups < 1 or shape[1] % groups:
        raise RuntimeError(
            f"channel_shuffle expects a positive number of groups that divides the number of channels, {shape[1]}, "
            f"but groups={groups}"
        )
    return (shape[0], groups, shape[1] // groups, *shape[2:])


cpdef object sized_for_means(object self, object size):
    """An input of local_response_norm."""
    if self.ndim < 3:
        raise ValueError(
            f"local_response_norm(): expected 3D or higher dimensionality input, but its size is {list(self.shape)}"
        )
    if size < 1:
        raise RuntimeError(f"local_response_norm(): size must be greater than zero, but it is {size}")
    return self


cdef object expect_image(str op, object shape, object factor, str name):
    if len(shape) < 3:
        raise RuntimeError(
            f"{op} expects input to have at least 3 dimensions, but got input with {len(shape)} dimension(s)"
        )
    if factor < 1:
        raise RuntimeError(f"{op} expects a positive {name}, but got {factor}")
    return shape
