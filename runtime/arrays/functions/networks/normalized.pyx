"""Elements less the mean of a group and divided by its deviation, scaled and shifted; and the gradients of that.

A group is what has one place in all dimensions but some. Its mean and its variance have size one in these.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport PyObject
cimport numpy as cnp
from libc.string cimport memcpy
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport (
    cast, contiguous, is_meta, standardize, standardize_backward, standardize_sums,
)
from gradsmith.runtime.arrays.functions.ownership cimport MAX_DIMS, fresh_of_sizes, take

import numpy as np

from gradsmith.runtime.arrays.dtypes import promote_types
from gradsmith.runtime.arrays.functions.networks.group_plans import plan_for

cnp.import_array()

cdef extern from "runtime/arrays/kernels/networks/normalization.h":
    ctypedef struct Job "gs_normalization":
        int type
        bint is_centered
        double eps
        npy_intp outer, groups, inner, period, run


cpdef tuple standardized_of(
    cnp.ndarray a, cnp.ndarray weight, cnp.ndarray bias, object dim, double eps, bint centered
):
    """The result, of the dtype that all have in common, and mean and variance; those of halves are float32."""
    cdef Job job
    cdef cnp.dtype dtype = common_dtype("standardized", a, weight, bias)
    cdef Plan plan = plan_of(a, weight, bias, dim)
    cdef int type_number = kernel_type(dtype), ndim = cnp.PyArray_NDIM(a)
    mean = fresh_of_sizes(a, type_number, ndim, plan.stats)
    var = fresh_of_sizes(a, type_number, ndim, plan.stats)
    if is_meta(<PyObject *>a):
        return (fresh_of_sizes(a, dtype.type_num, ndim, cnp.PyArray_DIMS(a)), mean, var)
    if plan.order is not None:
        return in_other_order(a, weight, bias, plan, eps, centered)
    set_job(&job, plan, type_number, eps, centered)
    cdef bint fits = plan.has_factors
    a = plain(a, type_number)
    own_weight = plain(weight, type_number) if fits else None
    own_bias = plain(bias, type_number) if fits else None
    result = fresh_of_sizes(a, type_number, ndim, cnp.PyArray_DIMS(a))
    if plan.is_empty:
        mean.fill(np.nan)
        var.fill(np.nan)
    else:
        standardize(&job, data(a), data(own_weight), data(own_bias), data(result), data(mean), data(var))
    if not fits:
        result = scaled_and_shifted(result, weight, bias)
    return (in_type(result, dtype.type_num), mean, var)


cpdef object standardized_backward_of(
    cnp.ndarray grad, cnp.ndarray a, cnp.ndarray center, cnp.ndarray variance, cnp.ndarray weight, object dim, double eps,
    bint centered
):
    """The gradient of `a`, given that of the result."""
    cdef Job job
    cdef cnp.dtype dtype = common_dtype("standardized_backward", grad, a, weight)
    cdef Plan plan = plan_of(a, weight, None, dim)
    check_sizes(grad, a, center, variance, plan)
    cdef int type_number = kernel_type(dtype)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>grad):
        return fresh_of_sizes(
            a if is_meta(<PyObject *>a) else grad, dtype.type_num, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a)
        )
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
    result = fresh_of_sizes(a, type_number, cnp.PyArray_NDIM(a), cnp.PyArray_DIMS(a))
    standardize_backward(&job, data(grad), data(a), data(weight), data(center), data(variance), data(result))
    return in_type(result, dtype.type_num)


cpdef object standardized_sums_of(
    cnp.ndarray grad, cnp.ndarray a, cnp.ndarray center, cnp.ndarray variance, object size, object dim, double eps
):
    """The gradient of the weight, whose size is given."""
    cdef Job job
    cdef npy_intp sizes[MAX_DIMS]
    cdef int ndim = read_sizes(size, sizes)
    cdef cnp.dtype dtype = common_dtype("standardized_sums", grad, a, None)
    cdef Plan plan = plan_of_sizes(a, ndim, sizes, -1, NULL, dim)
    check_sizes(grad, a, center, variance, plan)
    cdef int type_number = kernel_type(dtype)
    if is_meta(<PyObject *>a) or is_meta(<PyObject *>grad):
        return fresh_of_sizes(a if is_meta(<PyObject *>a) else grad, dtype.type_num, ndim, sizes)
    if plan.order is not None or not plan.has_factors or plan.is_empty:
        with np.errstate(all="ignore"):
            products = grad * ((a - center) / np.sqrt(variance + eps))
        return in_type(summed_to(products, tuple(size)), dtype.type_num)
    set_job(&job, plan, type_number, eps, True)
    grad, a = plain(grad, type_number), plain(a, type_number)
    center, variance = plain(center, type_number), plain(variance, type_number)
    result = fresh_of_sizes(a, type_number, ndim, sizes)
    standardize_sums(&job, data(grad), data(a), data(center), data(variance), data(result))
    return in_type(result, dtype.type_num)


# ---- operands

cdef cnp.dtype common_dtype(str op, cnp.ndarray a, cnp.ndarray b, cnp.ndarray c):
    """That of the arrays; `b` and `c` may be None."""
    cdef cnp.dtype dtype = a.descr
    if b is not None and b.descr is not dtype:
        dtype = promote_types(dtype, b.descr)
    if c is not None and c.descr is not dtype:
        dtype = promote_types(dtype, c.descr)
    if not cnp.PyTypeNum_ISFLOAT(dtype.type_num):
        raise RuntimeError(f"{op}(): expected floating tensors, but they are {dtype}; convert them with .to()")
    return dtype


cdef int kernel_type(cnp.dtype dtype) except -1:
    return cnp.NPY_FLOAT64 if dtype.type_num == cnp.NPY_FLOAT64 else cnp.NPY_FLOAT32


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


cdef int check_sizes(cnp.ndarray grad, cnp.ndarray a, cnp.ndarray center, cnp.ndarray variance, Plan plan) except -1:
    cdef int ndim = cnp.PyArray_NDIM(a)
    if not (
        has_sizes(grad, ndim, cnp.PyArray_DIMS(a)) and has_sizes(center, ndim, plan.stats)
        and has_sizes(variance, ndim, plan.stats)
    ):
        raise RuntimeError(
            f"standardized(): a gradient of size {shape(grad)}, means of size {shape(center)} and variances of size "
            f"{shape(variance)} do not go with an input of size {shape(a)}"
        )
    return 0


cdef bint has_sizes(cnp.ndarray a, int ndim, const npy_intp *sizes) noexcept:
    return cnp.PyArray_NDIM(a) == ndim and cnp.PyArray_CompareLists(cnp.PyArray_DIMS(a), sizes, ndim)


cdef list shape(cnp.ndarray a):
    return list((<object>a).shape)


cdef object aligned(object factor, int ndim):
    return factor.reshape((1,) * (ndim - factor.ndim) + factor.shape)


cdef object summed_to(object a, tuple size):
    shape = (1,) * (a.ndim - len(size)) + size
    axes = tuple([axis for axis in range(a.ndim) if shape[axis] == 1])
    return a.sum(axis=axes, keepdims=True).reshape(size)


cdef tuple in_other_order(cnp.ndarray a, object weight, object bias, Plan plan, double eps, bint centered):
    """The same of an array whose groups' dimensions come last."""
    cdef int ndim = a.ndim
    weight, bias = [
        None if factor is None else aligned(factor, ndim).transpose(plan.order) for factor in (weight, bias)
    ]
    found = standardized_of(a.transpose(plan.order), weight, bias, plan.last, eps, centered)
    back = np.argsort(plan.order)
    return tuple([np.ascontiguousarray(one.transpose(back)) for one in found])


# ---- how the kernels see them

cdef enum:
    MOST_PLANS = 1024


cdef class Plan:
    """What `group_plans` finds out about the sizes of operands, where C has it."""

    cdef npy_intp outer, groups, inner, period, run
    cdef npy_intp stats[MAX_DIMS]
    cdef bint is_empty, has_factors
    cdef tuple order, last

    def __cinit__(self, found):
        for place, size in enumerate(found.stats):
            self.stats[place] = size
        self.is_empty, self.has_factors = found.is_empty, found.has_factors
        self.order, self.last = found.order, found.last
        if found.sizes is not None:
            self.outer, self.groups, self.inner = found.sizes
        self.period, self.run = found.factors


cdef dict plans = {}    # by sizes: the same few layers ask again and again


cdef Plan plan_of(cnp.ndarray a, cnp.ndarray weight, cnp.ndarray bias, object dim):
    return plan_of_sizes(a, ndim_of(weight), sizes_of(weight), ndim_of(bias), sizes_of(bias), dim)


cdef Plan plan_of_sizes(
    cnp.ndarray a, int n_weight, const npy_intp *weight, int n_bias, const npy_intp *bias, object dim
):
    """The numbers of sizes are -1 where there is no weight or bias."""
    cdef npy_intp key[5 * (MAX_DIMS + 1)]
    cdef Py_ssize_t n = written(key, 0, ndim_of(a), sizes_of(a))
    n = written(key, written(key, n, n_weight, weight), n_bias, bias)
    n += read_sizes(dim, key + n)
    name = PyBytes_FromStringAndSize(<char *>key, n * sizeof(npy_intp))
    plan = plans.get(name)
    if plan is None:
        if len(plans) >= MOST_PLANS:
            plans.clear()
        plans[name] = plan = Plan(plan_for(
            as_tuple(ndim_of(a), sizes_of(a)), tuple(dim), as_tuple(n_weight, weight), as_tuple(n_bias, bias)
        ))
    return <Plan>plan


cdef inline int ndim_of(cnp.ndarray a) noexcept:
    return -1 if a is None else cnp.PyArray_NDIM(a)


cdef inline const npy_intp *sizes_of(cnp.ndarray a) noexcept:
    return NULL if a is None else cnp.PyArray_DIMS(a)


cdef tuple as_tuple(int ndim, const npy_intp *sizes):
    return None if ndim < 0 else tuple([sizes[place] for place in range(ndim)])


cdef inline Py_ssize_t written(npy_intp *key, Py_ssize_t n, int ndim, const npy_intp *sizes) noexcept:
    """Write the number of sizes, and these behind it, and give the new end."""
    key[n] = ndim
    if ndim > 0:
        memcpy(&key[n + 1], sizes, ndim * sizeof(npy_intp))
    return n + 1 + max(ndim, 0)


cdef int read_sizes(object sizes, npy_intp *to) except -1:
    """Write them, which may be negative, and give their number."""
    cdef int n = 0
    if len(sizes) > MAX_DIMS:
        raise RuntimeError(f"standardized(): there are at most {MAX_DIMS} dimensions, but {len(sizes)} were given")
    for size in sizes:
        to[n] = size
        n += 1
    return n


cdef int set_job(Job *job, Plan plan, int type_number, double eps, bint centered) except -1:
    job.type, job.eps, job.is_centered = type_number, eps, centered
    job.outer, job.groups, job.inner = plan.outer, plan.groups, plan.inner
    job.period, job.run = plan.period, plan.run
    return 0
