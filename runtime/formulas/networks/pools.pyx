"""Windows of pooling, as PyTorch lays and checks them: for each place of the output what it sees of the image."""


cpdef object pool_spans(
    object op, object shape, object window, object stride, object padding, object dilation, object ceil_mode
):
    """The first element of each window and the place after its last, along three dimensions."""
    found = []
    for n, k, s, p, d in geometry(op, shape, window, stride, padding, dilation, ceil_mode):
        spans = []
        for i in range(places(n, k, s, p, d, ceil_mode)):
            start = i * s - p
            first = start if start >= 0 else start + -(start // d) * d
            end = min(start + d * (k - 1) + 1, n)
            if first >= end:
                raise RuntimeError(
                    f"{op}(): the window at place {i} sees nothing of a dimension of size {n}: kernel_size {k}, stride "
                    f"{s}, padding {p}, dilation {d}"
                )
            spans.append((first, end))
        found.append(tuple(spans))
    return (((0, 1),),) * (3 - len(found)) + tuple(found)


cpdef object pool_divisors(
    object op, object shape, object window, object stride, object padding, object ceil_mode, object with_padding,
    object divisor
):
    """What the sum of each window is divided by: along each dimension the elements it has, or those of the padded image."""
    if divisor == 0:
        raise RuntimeError(f"{op}(): divisor must be not zero")
    found = []
    for n, k, s, p, d in geometry(op, shape, window, stride, padding, (1,) * len(window), ceil_mode):
        starts = [i * s - p for i in range(places(n, k, s, p, d, ceil_mode))]
        if divisor is not None:
            found.append((1,) * len(starts))
        elif with_padding:
            found.append(tuple([min(start + k, n + p) - start for start in starts]))
        else:
            found.append(tuple([min(start + k, n) - max(start, 0) for start in starts]))
    first, *others = ((1,),) * (3 - len(found)) + tuple(found)
    return (first if divisor is None else (divisor,) * len(first), *others)


cpdef object adaptive_spans(object op, object shape, object dims, object size):
    """Windows that share the image out evenly, each overlapping the next by an element where they do not fit."""
    found = [
        tuple([(i * n // m, -(-(i + 1) * n // m)) for i in range(m)]) for n, m in adaptive_sizes(op, shape, dims, size)
    ]
    return (((0, 1),),) * (3 - len(found)) + tuple(found)


cpdef object adaptive_divisors(object op, object shape, object dims, object size):
    spans = adaptive_spans(op, shape, dims, size)
    return tuple([tuple([end - first for first, end in along]) for along in spans])


cdef list adaptive_sizes(object op, object shape, object dims, object size):
    """Pairs of sizes of the input and of the output; None, or a number alone, as PyTorch takes them."""
    sizes = shape[len(shape) - dims:]
    wanted = (size,) * dims if isinstance(size, int) or size is None else tuple(size)
    wanted = wanted * dims if len(wanted) == 1 else wanted
    if len(wanted) != dims:
        raise RuntimeError(f"{op}(): expected output_size to be an int or {dims} of them, but got {list(wanted)}")
    wanted = [n if m is None else m for n, m in zip(sizes, wanted)]
    if not all([isinstance(m, int) for m in wanted]):
        raise TypeError(f"{op}(): argument 'output_size' must be int or None, or {dims} of them, but got {size}")
    if min(wanted) < 0:
        raise RuntimeError(f"{op}(): elements of output_size must be greater than or equal to 0, but got {wanted}")
    if min(sizes) < 1:
        raise RuntimeError(
            f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)}"
        )
    return list(zip(sizes, wanted))


cdef list geometry(
    object op, object shape, object window, object stride, object padding, object dilation, object ceil_mode
):
    """For each dimension the size of the image and of the window, stride, padding and dilation."""
    cdef int dims = len(window)
    stride = stride or window
    sizes = shape[len(shape) - dims:]
    for name, values, least in (("kernel_size", window, 1), ("stride", stride, 1), ("dilation", dilation, 1)):
        if len(values) != dims or min(values) < least:
            raise RuntimeError(f"{op}(): {name} should be {dims} numbers greater than zero, but got {list(values)}")
    for k, p, d in zip(window, padding, dilation):
        if p < 0:
            raise RuntimeError(f"{op}(): pad must be non-negative, but got pad: {p}")
        if p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"{op}(): pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
    found = list(zip(sizes, window, stride, padding, dilation))
    outputs = [places(n, k, s, p, d, ceil_mode) for n, k, s, p, d in found]
    if min(sizes) < 1 or min(outputs) < 1:
        raise RuntimeError(
            f"{op}(): Given input size: {list(shape)}. Calculated output size: {outputs}. Output size is too small"
        )
    return found


cdef object places(object n, object k, object s, object p, object d, object ceil_mode):
    """The size of the output; a last window that would begin in the padding behind the image is left out."""
    reach = n + 2 * p - d * (k - 1) - 1
    if not ceil_mode:
        return reach // s + 1
    count = -(-reach // s) + 1
    return count - 1 if (count - 1) * s >= n + p else count
