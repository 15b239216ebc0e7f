"""Averages of values, weighted by the softmax of products of queries with keys, and their gradients.

Operands are (*, queries, width), (*, keys, width) and (*, keys, value width), a mask (*, queries, keys); all before the
last two dimensions are heads, which broadcast.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport attend, attend_backward, cast, contiguous, is_meta
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

import numpy as np

from gradsmith.runtime.arrays.functions.networks.heads import has_rows, order_of_rows, places_for, sizes_of

cnp.import_array()

cdef extern from "runtime/arrays/kernels/networks/attention.h":
    ctypedef struct Job "gs_attention":
        int type, mask_type
        bint is_causal
        double scale
        cnp.npy_intp heads, queries, keys, width, value_width
        const cnp.npy_intp *query_at
        const cnp.npy_intp *key_at
        const cnp.npy_intp *value_at
        const cnp.npy_intp *mask_at
        cnp.npy_intp query_row, key_row, value_row, mask_row, mask_column
        const cnp.npy_intp *result_at
        const cnp.npy_intp *grads_at[3]
        cnp.npy_intp result_row
        cnp.npy_intp grads_row[3]


cpdef tuple attention_of(object query, object key, object value, object mask, double scale, bint causal):
    """The averages, and the logarithm of the sum of exponentials for each query: infinite if it may see nothing."""
    cdef Job job
    sizes = sizes_of(query, key, value, mask)
    cdef int type_number = cnp.PyArray_TYPE(query)
    shapes = (sizes.result, sizes.result[:len(sizes.result) - 1])
    for operand in (query, key, value):
        if is_meta(<PyObject *>operand):
            return (fresh_beside(operand, type_number, shapes[0]), fresh_beside(operand, type_number, shapes[1]))
    query, key, value, mask = in_rows(query), in_rows(key), in_rows(value), in_mask_type(mask, query)
    kept = set_job(&job, sizes, query, key, value, mask, type_number, scale, causal)
    result, logsumexp = in_order_of(query, type_number, shapes[0]), fresh(type_number, shapes[1])
    kept.append(places_of(result, sizes.heads))
    job.result_at, job.result_row = place(kept[len(kept) - 1]), row_step(result)
    attend(
        &job, data(query), data(key), data(value), data(mask), data(result), data(logsumexp))
    return (result, logsumexp)


cpdef tuple attention_backward_of(
    object grad, object query, object key, object value, object mask, object logsumexp, object delta, double scale,
    bint causal
):
    """The gradients of query, key and value, for each head of the result.

    `delta` is, for each query, the sum of result times gradient less the gradient of `logsumexp`.
    """
    cdef Job job
    cdef void *into[3]
    expect_ranks(grad, logsumexp, delta)
    others = (grad.shape[:grad.ndim - 2], logsumexp.shape[:logsumexp.ndim - 1], delta.shape[:delta.ndim - 1])
    sizes = sizes_of(query, key, value, mask, others)
    cdef int type_number = cnp.PyArray_TYPE(query)
    rows = sizes.result[:len(sizes.result) - 1]
    grad, logsumexp, delta = spread(grad, sizes.result), spread(logsumexp, rows), spread(delta, rows)
    shapes = (sizes.query, sizes.key, sizes.value)
    for operand in (grad, query, key, value):
        if is_meta(<PyObject *>operand):
            return tuple([fresh_beside(operand, type_number, shape) for shape in shapes])
    query, key, value, mask = in_rows(query), in_rows(key), in_rows(value), in_mask_type(mask, query)
    kept = set_job(&job, sizes, query, key, value, mask, type_number, scale, causal)
    grad = in_rows(take(cast(<PyObject *>grad, type_number)))
    logsumexp, delta = plain(logsumexp, type_number), plain(delta, type_number)
    results = [in_order_of(model, type_number, shape) for model, shape in zip((query, key, value), shapes)]
    kept += [places_of(array, sizes.heads) for array in (grad, *results)]
    job.result_at, job.result_row = place(kept[len(kept) - 4]), row_step(grad)
    for i in range(3):
        into[i] = data(results[i])
        job.grads_at[i], job.grads_row[i] = place(kept[len(kept) - 3 + i]), row_step(results[i])
    attend_backward(
        &job, data(query), data(key), data(value), data(mask), data(grad), data(logsumexp),
        data(delta), into)
    return tuple(results)


# ---- operands

cdef object plain(object a, int type_number):
    a = take(cast(<PyObject *>a, type_number))
    return take(contiguous(<PyObject *>a))


cdef object in_rows(object a):
    """Itself where elements of rows lie side by side and rows are apart by whole elements."""
    return a if has_rows(a) else take(contiguous(<PyObject *>a))


cdef object in_order_of(object model, int type_number, tuple shape):
    """A new array for rows, with heads and rows in the model's order in memory: what was split apart can be joined."""
    if cnp.PyArray_IS_C_CONTIGUOUS(model):
        return fresh(type_number, shape)
    axes, places = order_of_rows(shape, model.shape, model.strides)
    return fresh(type_number, tuple([shape[axis] for axis in axes])).transpose(places)


cdef object places_of(object a, tuple heads):
    return places_for(a.shape, a.strides, a.itemsize, heads)


cdef object in_mask_type(object mask, object query):
    if mask is None or mask.dtype == np.bool_ and mask.flags.aligned:
        return mask
    mask = take(cast(<PyObject *>mask, cnp.PyArray_TYPE(query)))
    whole = mask.flags.aligned and not any([step % mask.itemsize for step in mask.strides])
    return mask if whole else take(contiguous(<PyObject *>mask))


cdef void *data(object array) noexcept:
    return NULL if array is None else cnp.PyArray_DATA(array)


cdef int expect_ranks(object grad, object logsumexp, object delta) except -1:
    if grad.ndim < 2 or logsumexp.ndim < 1 or delta.ndim < 1:
        raise RuntimeError(
            f"attention_backward(): expected a gradient (*, L, V), sums (*, L) and products (*, L), but their sizes are "
            f"{list(grad.shape)}, {list(logsumexp.shape)}, {list(delta.shape)}"
        )
    return 0


cdef object spread(object a, tuple shape):
    """For each head; what has other rows or columns is refused."""
    if a.shape == shape:
        return a
    try:
        return np.broadcast_to(a, shape)
    except ValueError:
        raise RuntimeError(
            f"attention_backward(): a gradient or sums of size {list(a.shape)} do not go with a result of size "
            f"{list(shape)}"
        ) from None


cdef object set_job(
    Job *job, object sizes, object query, object key, object value, object mask, int type_number, double scale,
    bint causal
):
    """Fill it in; the arrays that it points into."""
    job.type, job.scale, job.is_causal = type_number, scale, causal
    job.mask_type = -1 if mask is None else cnp.PyArray_TYPE(mask)
    cdef Py_ssize_t before = len(sizes.heads)
    job.queries, job.width = sizes.query[before], sizes.query[before + 1]
    job.keys, job.value_width = sizes.value[before], sizes.value[before + 1]
    job.query_row, job.key_row, job.value_row = row_step(query), row_step(key), row_step(value)
    heads = sizes.heads
    places = [places_of(a, heads) for a in (query, key, value)]
    job.heads = cnp.PyArray_SIZE(places[0])
    job.query_at, job.key_at, job.value_at = place(places[0]), place(places[1]), place(places[2])
    job.mask_at = NULL
    job.mask_row = job.mask_column = 0
    if mask is not None:
        places.append(places_of(mask, heads))
        job.mask_at, job.mask_row, job.mask_column = place(places[3]), row_step(mask), column_step(mask)
    return places


cdef const cnp.npy_intp *place(cnp.ndarray places) noexcept:
    return <const cnp.npy_intp *>cnp.PyArray_DATA(places)


cdef cnp.npy_intp row_step(cnp.ndarray a) noexcept:
    return cnp.PyArray_STRIDE(a, cnp.PyArray_NDIM(a) - 2) // cnp.PyArray_ITEMSIZE(a)


cdef cnp.npy_intp column_step(cnp.ndarray a) noexcept:
    return cnp.PyArray_STRIDE(a, cnp.PyArray_NDIM(a) - 1) // cnp.PyArray_ITEMSIZE(a)
