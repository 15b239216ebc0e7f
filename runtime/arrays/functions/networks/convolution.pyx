"""Convolutions of images of three dimensions, and their transposes in the image and in the weight.

An image is (images, channels, *sizes), a weight (outputs, channels / groups, *sizes), an output (images, outputs,
*sizes), and any dimensions before these are broadcast, as in a generalized ufunc. kernels/windows/convolution.h says
what binds the three.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport (
    Convolution, contiguous, convolve_image, convolve_output, convolve_weight, is_meta,
)
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

from libc.math cimport fabs, fmax

import numpy as np

cnp.import_array()

cdef enum:
    OWN = 5         # dimensions of each operand

cdef double LONGEST = 2.0**40       # reach of a window, or of all along a dimension
cdef double MOST = 2.0**56          # places that all windows reach


cpdef object conv_output_of(
    object a, object weight, object bias, object stride, object padding, object dilation, Py_ssize_t groups, object size
):
    """Weighted windows of an image."""
    cdef Convolution c
    expect_rank("conv_output", a, weight, groups)
    c.groups, c.images, c.inner, c.outer = groups, of(a, 0), of(weight, 1), of(weight, 0) // groups
    bind(&c, a.shape[a.ndim - 3:], weight.shape[weight.ndim - 3:], size, stride, padding, dilation)
    expect_channels("conv_output", of(a, 1), groups * c.inner)
    expect_channels("conv_output", of(weight, 0), groups * c.outer)
    shape = (c.images, groups * c.outer, *size)
    if bias is not None and (bias.ndim == 0 or bias.shape[bias.ndim - 1] != of(weight, 0)):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {of(weight, 0)} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )
    if bias is not None and bias.dtype != a.dtype:
        raise RuntimeError(f"Input type ({a.dtype}) and bias type ({bias.dtype}) should be the same; convert one of them")
    if bias is None or bias.ndim == 1 and a.dtype.kind == "f" and a.ndim == OWN and weight.ndim == OWN:
        return run("conv_output", &c, a, weight, bias, shape, output_with_bias)
    result = run("conv_output", &c, a, weight, None, shape, output_with_bias)
    return result + bias[..., None, :, None, None, None]


cpdef object conv_image_of(
    object a, object weight, object stride, object padding, object dilation, Py_ssize_t groups, object size
):
    """The image whose windows got the output `a`: the transpose of `conv_output` in the image."""
    cdef Convolution c
    expect_rank("conv_image", a, weight, groups)
    c.groups, c.images, c.inner, c.outer = groups, of(a, 0), of(weight, 1), of(weight, 0) // groups
    bind(&c, size, weight.shape[weight.ndim - 3:], a.shape[a.ndim - 3:], stride, padding, dilation)
    expect_channels("conv_image", of(a, 1), groups * c.outer)
    expect_channels("conv_image", of(weight, 0), groups * c.outer)
    return run("conv_image", &c, a, weight, None, (c.images, groups * c.inner, *size), image_without_bias)


cpdef object conv_weight_of(
    object a, object image, object stride, object padding, object dilation, Py_ssize_t groups, object size
):
    """The weight that got the output `a` from an image: the transpose of `conv_output` in the weight."""
    cdef Convolution c
    expect_rank("conv_weight", a, image, groups)
    c.groups, c.images, c.inner, c.outer = groups, of(a, 0), of(image, 1) // groups, of(a, 1) // groups
    bind(&c, image.shape[image.ndim - 3:], size, a.shape[a.ndim - 3:], stride, padding, dilation)
    expect_channels("conv_weight", of(image, 1), groups * c.inner)
    expect_channels("conv_weight", of(a, 1), groups * c.outer)
    if of(image, 0) != c.images:
        raise RuntimeError(f"conv_weight(): {c.images} outputs do not go with {of(image, 0)} images")
    return run("conv_weight", &c, a, image, None, (groups * c.outer, c.inner, *size), weight_without_bias)


# ---- what is bound to what

cdef int bind(
    Convolution *c, object image, object window, object output, object stride, object padding, object dilation
) except -1:
    """Sizes and steps. A step that is never taken is no longer than what it could reach.

    Any step beyond brings the same elements to a window; a shorter one would bring zeros from outside of the image, which
    make NaN of infinite weights.
    """
    cdef double reach, plane, planes = 1
    cdef int i
    if not len(image) == len(window) == len(output) == len(stride) == len(padding) == len(dilation) == 3:
        raise RuntimeError("a convolution has three sizes, and a stride, a padding and a dilation for each of them")
    try:
        for i in range(3):
            c.image[i], c.window[i], c.output[i] = image[i], window[i], output[i]
            c.stride[i], c.padding[i], c.dilation[i] = stride[i], padding[i], dilation[i]
    except OverflowError:
        raise too_large(window, output, stride, padding, dilation)
    for i in range(3):
        if c.stride[i] < 1 or c.dilation[i] < 1:
            raise RuntimeError(f"stride ({list(stride)}) and dilation ({list(dilation)}) of a convolution are positive")
        if c.window[i] == 1:
            c.dilation[i] = 1
        # The kernels compute with machine numbers, of places as well as of bytes.
        reach = fmax(0, (<double>c.window[i] - 1) * <double>c.dilation[i])
        if reach >= LONGEST or fabs(<double>c.padding[i]) >= LONGEST:
            raise too_large(window, output, stride, padding, dilation)
        if c.output[i] == 1:
            c.stride[i] = min(c.stride[i], max(c.image[i], 0) + abs(c.padding[i]) + <Py_ssize_t>reach + 1)
        plane = <double>c.stride[i] * (<double>c.output[i] + <Py_ssize_t>reach // c.stride[i] + 1)
        if plane >= LONGEST:
            raise too_large(window, output, stride, padding, dilation)
        planes *= plane
    if planes * c.images * c.groups * max(c.inner, c.outer, 1) >= MOST:
        raise too_large(window, output, stride, padding, dilation)
    return 0


cdef object too_large(object window, object output, object stride, object padding, object dilation):
    return RuntimeError(
        f"a convolution with stride {list(stride)}, padding {list(padding)}, dilation {list(dilation)} and window "
        f"{list(window)}, with an output of size {list(output)}, is too large"
    )


cdef Py_ssize_t of(object a, int own) except -1:
    """The size of a dimension, counted from those that are the operand's own."""
    return a.shape[a.ndim - OWN + own]


cdef int expect_rank(str op, object one, object other, Py_ssize_t groups) except -1:
    if groups < 1:
        raise RuntimeError(f"{op}(): groups ({groups}) of a convolution are positive")
    if one.ndim < OWN or other.ndim < OWN:
        raise RuntimeError(f"{op}(): operands have {OWN} dimensions at least, not {one.ndim} and {other.ndim}")
    return 0


cdef int expect_channels(str op, Py_ssize_t found, Py_ssize_t expected) except -1:
    if found != expected:
        raise RuntimeError(f"{op}(): {found} channels where the other operand and the groups want {expected}")
    return 0


# ---- calls of the kernels

cdef int output_with_bias(
    const Convolution *c, const void *image, const void *weight, const void *bias, void *output
) except -1:
    return convolve_output(c, image, weight, bias, output)


cdef int image_without_bias(
    const Convolution *c, const void *a, const void *weight, const void *bias, void *image
) except -1:
    return convolve_image(c, a, weight, image)


cdef int weight_without_bias(
    const Convolution *c, const void *a, const void *image, const void *bias, void *weight
) except -1:
    return convolve_weight(c, a, image, weight)


ctypedef int (*biased_kernel)(
    const Convolution *c, const void *one, const void *other, const void *bias, void *result) except -1


cdef object run(str op, Convolution *c, object one, object other, object bias, tuple shape, biased_kernel kernel):
    """One call for each place of the dimensions before the operands' own."""
    if one.dtype != other.dtype:
        raise RuntimeError(
            f"Input type ({one.dtype}) and weight type ({other.dtype}) should be the same: operands of a convolution have one "
            "dtype"
        )
    if one.dtype.kind not in "fciu" or op == "conv_weight" and one.dtype.kind in "iu":
        raise RuntimeError(f"a convolution is not implemented for {one.dtype}; convert it to a floating dtype")
    loops = () if one.ndim == other.ndim == OWN else np.broadcast_shapes(
        one.shape[:one.ndim - OWN], other.shape[:other.ndim - OWN]
    )
    if is_meta(<PyObject *>one) or is_meta(<PyObject *>other):
        model = one if is_meta(<PyObject *>one) else other
        return fresh_beside(model, cnp.PyArray_TYPE(one), (*loops, *shape))
    if one.dtype.kind == "c":
        return of_parts(op, c, one, other, shape, kernel)
    if one.dtype.kind in "iu":
        return of_integers(op, c, one, other, loops, shape)
    if cnp.PyArray_TYPE(one) not in (cnp.NPY_FLOAT32, cnp.NPY_FLOAT64):
        bias = None if bias is None else bias.astype(np.float32)
        return run(op, c, one.astype(np.float32), other.astype(np.float32), bias, shape, kernel).astype(one.dtype)
    c.type = cnp.PyArray_TYPE(one)
    bias = None if bias is None else take(contiguous(<PyObject *>bias))
    if not loops:
        return call(c, one, other, bias, shape, kernel)
    result = np.empty((*loops, *shape), one.dtype)
    one = np.broadcast_to(one, (*loops, *one.shape[one.ndim - OWN:]))
    other = np.broadcast_to(other, (*loops, *other.shape[other.ndim - OWN:]))
    for place in np.ndindex(*loops):
        result[place] = call(c, one[place], other[place], bias, shape, kernel)
    return result


cdef object call(Convolution *c, object one, object other, object bias, tuple shape, biased_kernel kernel):
    result = fresh(c.type, shape)
    one, other = take(contiguous(<PyObject *>one)), take(contiguous(<PyObject *>other))
    if one.size == 0 or other.size == 0:
        return sums_of_nothing(result, bias)
    if result.size == 0:
        return result
    kernel(
        c, cnp.PyArray_DATA(one), cnp.PyArray_DATA(other), NULL if bias is None else cnp.PyArray_DATA(bias),
        cnp.PyArray_DATA(result))
    return result


cdef object sums_of_nothing(object result, object bias):
    """What a kernel, which has products to begin with, does not write."""
    result.fill(0)
    return result if bias is None else np.add(result, bias[:, None, None, None], out=result)


cdef object of_parts(str op, Convolution *c, object one, object other, tuple shape, biased_kernel kernel):
    """Complex operands: each is linear in both parts."""
    a, b, x, y = one.real, one.imag, other.real, other.imag
    real = run(op, c, a, x, None, shape, kernel) - run(op, c, b, y, None, shape, kernel)
    result = np.empty(real.shape, one.dtype)
    result.real = real
    result.imag = run(op, c, a, y, None, shape, kernel) + run(op, c, b, x, None, shape, kernel)
    return result


cdef object of_integers(str op, Convolution *c, object one, object other, tuple loops, tuple shape):
    """No kernel: networks that compute with integers do without this."""
    from gradsmith.runtime.arrays.functions.networks.integer_windows import integer_image, integer_output

    function = integer_output if op == "conv_output" else integer_image
    steps = [[c.stride[i] for i in range(3)], [c.padding[i] for i in range(3)], [c.dilation[i] for i in range(3)]]
    result = np.zeros((*loops, *shape), one.dtype)
    if one.size == 0 or other.size == 0 or result.size == 0:
        return result
    dtype, one, other = one.dtype, one.astype(np.int64), other.astype(np.int64)
    one = np.broadcast_to(one, (*loops, *one.shape[one.ndim - OWN:]))
    other = np.broadcast_to(other, (*loops, *other.shape[other.ndim - OWN:]))
    for place in np.ndindex(*loops):
        found = function(one[place], other[place], *steps, c.groups, shape[2:])
        result[place] = found.astype(dtype)
    return result
