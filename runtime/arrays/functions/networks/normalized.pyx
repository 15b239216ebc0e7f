"""Elements less the mean of a group and divided by its deviation, scaled and shifted; and the gradients of that.

A group is what has one place in all dimensions but some. Its mean and its variance have size one in these.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport (
    cast, contiguous, is_meta, standardize, standardize_backward, standardize_sums,
)
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

import numpy as np

from gradsmith.runtime.arrays.dtypes import promote_types
from gradsmith.runtime.arrays.functions.networks.group_plans import plan_for

cnp.import_array()

cdef extern from "runtime/arrays/kernels/networks/normalization.h":
    ctypedef struct Job "gs_normalization":
        int type
        bint is_centered
        double eps
        cnp.npy_intp outer, groups, inner, period, run


cpdef tuple standardized_of(object a, object weight, object bias, object dim, double eps, bint centered):
    """The result, of the dtype that all have in common, and mean and variance; those of halves are float32."""
    cdef Job job
    dtype = common_dtype("standardized", (a, weight, bias))
    plan = plan_of(a, weight, bias, dim)
    cdef int type_number = kernel_type(dtype)
    if is_meta(<PyObject *>a):
        stats = [fresh_beside(a, type_number, plan.stats) for _ in range(2)]
        return (fresh_beside(a, dtype.num, a.shape), *stats)
    if plan.order is not None:
        return in_other_order(a, weight, bias, plan, eps, centered, dtype)
    set_job(&job, plan, type_number, eps, centered)
    fits = plan.has_factors
    a = plain(a, type_number)
    own_weight = plain(weight, type_number) if fits else None
    own_bias = plain(bias, type_number) if fits else None
    result, mean, var = fresh(type_number, a.shape), fresh(type_number, plan.stats), fresh(type_number, plan.stats)
    if plan.is_empty:
        mean.fill(np.nan)
        var.fill(np.nan)
    else:
        standardize(&job, data(a), data(own_weight), data(own_bias), data(result), data(mean), data(var))
    if not fits:
        result = scaled_and_shifted(result, weight, bias)
    return (in_type(result, dtype.num), mean, var)


cpdef object standardized_backward_of(
    object grad, object a, object center, object variance, object weight, object dim, double eps, bint centered
):
    """The gradient of `a`, given that of the result."""
    cdef Job job
    dtype = common_dtype("standardized_backward", (grad, a, weight))
    plan = plan_of(a, weight, None, dim)
    check_sizes(grad, a, center, variance, plan)
    cdef int type_number = kernel_type(dtype)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>grad):
        return fresh_beside(a if is_meta(<PyObject *>a) else grad, dtype.num, a.shape)
    if plan.order is not None:
        grad, a, center, variance = [operand.transpose(plan.order) for operand in (grad, a, center, variance)]
        weight = None if weight is None else aligned(weight, a.ndim).transpose(plan.order)
        found = standardized_backward_of(grad, a, center, variance, weight, plan.last, eps, centered)
        return np.ascontiguousarray(found.transpose(np.argsort(plan.order)))
    if not plan.has_factors:
        grad, weight = scaled_and_shifted(grad, weight, None), None
    set_job(&job, plan, type_number, eps, centered)
    grad, a, weight = plain(grad, type_number), plain(a, type_number), plain(weight, type_number)
    center, variance = plain(center, type_number), plain(variance, type_number)
    result = fresh(type_number, a.shape)
    standardize_backward(&job, data(grad), data(a), data(weight), data(center), data(variance), data(result))
    return in_type(result, dtype.num)


cpdef object standardized_sums_of(
    object grad, object a, object center, object variance, object size, object dim, double eps
):
    """The gradient of the weight, whose size is given."""
    cdef Job job
    size = tuple(size)
    dtype = common_dtype("standardized_sums", (grad, a))
    plan = plan_for(a.shape, tuple(dim), size, None)
    check_sizes(grad, a, center, variance, plan)
    cdef int type_number = kernel_type(dtype)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>grad):
        return fresh_beside(a if is_meta(<PyObject *>a) else grad, dtype.num, size)
    if plan.order is not None or not plan.has_factors or plan.is_empty:
        with np.errstate(all="ignore"):
            products = grad * ((a - center) / np.sqrt(variance + eps))
        return in_type(summed_to(products, size), dtype.num)
    set_job(&job, plan, type_number, eps, True)
    grad, a = plain(grad, type_number), plain(a, type_number)
    center, variance = plain(center, type_number), plain(variance, type_number)
    result = fresh(type_number, size)
    standardize_sums(&job, data(grad), data(a), data(center), data(variance), data(result))
    return in_type(result, dtype.num)


# ---- operands

cdef object common_dtype(str op, tuple operands):
    dtype = operands[0].dtype
    for operand in operands[1:]:
        if operand is not None and operand.dtype is not dtype:
            dtype = promote_types(dtype, operand.dtype)
    if dtype.kind != "f":
        raise RuntimeError(f"{op}(): expected floating tensors, but they are {dtype}; convert them with .to()")
    return dtype


cdef int kernel_type(object dtype) except -1:
    return cnp.NPY_FLOAT64 if dtype.itemsize == 8 else cnp.NPY_FLOAT32


cdef object plain(object a, int type_number):
    if a is None:
        return None
    a = in_type(a, type_number)
    return take(contiguous(<PyObject *>a))


cdef object in_type(object a, int type_number):
    return take(cast(<PyObject *>a, type_number))


cdef object scaled_and_shifted(object a, object weight, object bias):
    with np.errstate(all="ignore"):
        a = a if weight is None else a * weight
        return np.asarray(a if bias is None else a + bias)


cdef void *data(object array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


cdef int check_sizes(object grad, object a, object center, object variance, object plan) except -1:
    if grad.shape != a.shape or center.shape != plan.stats or variance.shape != plan.stats:
        raise RuntimeError(
            f"standardized(): a gradient of size {list(grad.shape)}, means of size {list(center.shape)} and variances of "
            f"size {list(variance.shape)} do not go with an input of size {list(a.shape)}"
        )
    return 0


cdef object aligned(object factor, int ndim):
    return factor.reshape((1,) * (ndim - factor.ndim) + factor.shape)


cdef object summed_to(object a, tuple size):
    shape = (1,) * (a.ndim - len(size)) + size
    axes = tuple([axis for axis in range(a.ndim) if shape[axis] == 1])
    return a.sum(axis=axes, keepdims=True).reshape(size)


cdef tuple in_other_order(object a, object weight, object bias, object plan, double eps, bint centered, object dtype):
    """The same of an array whose groups' dimensions come last."""
    cdef int ndim = a.ndim
    weight, bias = [
        None if factor is None else aligned(factor, ndim).transpose(plan.order) for factor in (weight, bias)
    ]
    found = standardized_of(a.transpose(plan.order), weight, bias, plan.last, eps, centered)
    back = np.argsort(plan.order)
    return tuple([np.ascontiguousarray(one.transpose(back)) for one in found])


# ---- how the kernels see them

cdef object plan_of(object a, object weight, object bias, object dim):
    return plan_for(
        a.shape, tuple(dim), None if weight is None else weight.shape, None if bias is None else bias.shape
    )


cdef int set_job(Job *job, object plan, int type_number, double eps, bint centered) except -1:
    job.type, job.eps, job.is_centered = type_number, eps, centered
    job.outer, job.groups, job.inner = plan.sizes
    job.period, job.run = plan.factors
    return 0
