"""The one door to ``runtime/arrays/kernels``: see ``array.pxd`` for what each function does.

Python sees here only the settings of the kernels: threads, the cache of arrays, the default dtype.
"""

from cpython.pycapsule cimport PyCapsule_New
from libc.limits cimport INT_MAX
from libc.stdint cimport uint64_t, uintptr_t

import numpy

cdef extern from "Python.h":
    void Py_DECREF_pointer "Py_DECREF"(PyObject *)
    ctypedef struct TypeWithDict "PyTypeObject":
        PyObject *tp_dict
    void PyType_Modified(TypeWithDict *kind)

cdef extern from "runtime/arrays/kernels/products/blas.h":
    void gs_limit_blas_threads(int n) noexcept
    void gs_limit_threads_of_scipy() noexcept
    ctypedef struct gs_blas_threads:
        int limit
        int numpy
        int scipy
    gs_blas_threads gs_get_blas_threads() noexcept
    void gs_put_blas_threads(gs_blas_threads before) noexcept

cdef extern from "runtime/arrays/kernels/support/numpy_api.h":
    PyObject *gs_silence_begin() except NULL
    void gs_silence_end(PyObject *silence) noexcept

cdef extern from "runtime/arrays/kernels/kernels.h":
    int gs_import_numpy() except -1
    int gs_loops_init() except -1
    void gs_cache_init() noexcept
    void gs_threads_init() noexcept

    PyObject *gs_array_new(int type_num, int ndim, const npy_intp *dims) except NULL
    void gs_array_release(PyObject *a) noexcept
    void gs_cache_clear() noexcept
    void gs_cache_set_limit(size_t nbytes) noexcept
    size_t gs_cache_limit() noexcept
    size_t gs_cache_bytes() noexcept
    uint64_t gs_cache_recycled() noexcept

    int gs_call_each(object function, Py_ssize_t count) except -1
    int gs_get_num_threads() noexcept
    void gs_set_num_threads(int n) noexcept

    PyObject *gs_cast(PyObject *a, int type_num) except NULL
    PyObject *gs_clone(PyObject *a) except NULL
    PyObject *gs_clone_by_rows(PyObject *a) except NULL
    PyObject *gs_contiguous(PyObject *a) except NULL
    int gs_copy_into(PyObject *out, PyObject *a) except -1
    int gs_fill(PyObject *out, PyObject *number) except -1
    PyObject *gs_result_like(PyObject *operand, int type) except NULL
    PyObject *gs_result_new(int type, PyObject **operands, int n, int nd, const npy_intp *dims) except NULL
    int gs_is_dense(PyObject *a) noexcept
    PyObject *gs_full(int type_num, int ndim, const npy_intp *dims, PyObject *number) except NULL
    PyObject *gs_wrapped(int type_num, PyObject *number) except NULL

    void gs_meta_report_to(void (*function)(int in_use) noexcept) noexcept
    PyObject *gs_meta_new(int type, int nd, const npy_intp *dims) except NULL
    int gs_meta_of_array(PyObject *array) noexcept
    int gs_meta_is_stand_in(PyObject *array) noexcept
    PyObject *gs_batched_new(int type, int nd, const npy_intp *dims, PyObject *batch) except NULL
    int gs_batched_of_array(PyObject *array) noexcept
    PyObject *gs_indexed_new(int type, int nd, const npy_intp *dims, PyObject *rows) except NULL
    int gs_indexed_of_array(PyObject *array) noexcept

    int gs_default_float
    int gs_promote_types(int a, int b) except -1

    int gs_uses_loop(Ufunc ufunc, int type_num) noexcept
    const char *gs_ufunc_name(Ufunc ufunc) noexcept
    const char *gs_type_name(int type_num) noexcept
    int GS_N_UFUNCS

    PyObject *gs_unary(Ufunc ufunc, PyObject *a) except NULL
    PyObject *gs_binary(Ufunc ufunc, PyObject *a, PyObject *b) except NULL
    PyObject *gs_binary_scalar(Ufunc ufunc, PyObject *a, PyObject *number, int number_first) except NULL
    int gs_unary_into(Ufunc ufunc, PyObject *a, PyObject *out) except -1
    int gs_binary_into(Ufunc ufunc, PyObject *a, PyObject *b, PyObject *out) except -1
    int gs_binary_scalar_into(Ufunc ufunc, PyObject *a, PyObject *number, int number_first, PyObject *out) except -1
    int gs_accumulate(PyObject **slot, PyObject *value) except -1
    int gs_is_exclusive(PyObject *a) noexcept
    int gs_result_type_of(PyObject *a, PyObject *b) except -1
    PyObject *gs_fused(const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse) except? NULL
    PyObject *gs_fused_doubled(const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse) except? NULL
    PyObject *gs_fused_sum(const FusedKernel *kernel, PyObject **inputs, const double *scalars, int ndim, const npy_intp *dims) except? NULL
    int gs_fused_into(const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *out) except -1
    PyObject *gs_where(PyObject *condition, PyObject *a, PyObject *b) except NULL

    PyObject *gs_sum(PyObject *a, PyObject *axes, int keepdims) except NULL
    PyObject *gs_mean(PyObject *a, PyObject *axes, int keepdims) except NULL
    PyObject *gs_nansum(PyObject *a, PyObject *axes, int keepdims) except NULL
    PyObject *gs_sum_of_squares(PyObject *a, PyObject *axes, int keepdims) except NULL
    PyObject *gs_prod(PyObject *a, PyObject *axes, int keepdims) except NULL
    PyObject *gs_amax(PyObject *a, PyObject *axes, int keepdims) except NULL
    PyObject *gs_amin(PyObject *a, PyObject *axes, int keepdims) except NULL
    PyObject *gs_sum_to(PyObject *a, int ndim, const npy_intp *dims) except NULL

    PyObject *gs_softmax(PyObject *a, int axis) except NULL
    PyObject *gs_softmax_backward(PyObject *grad, PyObject *result, int axis) except NULL
    PyObject *gs_log_softmax(PyObject *a, int axis) except NULL
    PyObject *gs_log_softmax_backward(PyObject *grad, PyObject *result, int axis) except NULL
    PyObject *gs_logsumexp(PyObject *a, PyObject *axes, int keepdims) except NULL

    PyObject *gs_matmul(PyObject *a, int transpose_a, PyObject *b, int transpose_b) except NULL
    PyObject *gs_linear(PyObject *x, PyObject *weight, PyObject *bias) except NULL
    ctypedef enum MatmulBackend "gs_matmul_backend":
        GS_MATMUL_AUTO
        GS_MATMUL_BLAS
        GS_MATMUL_OWN
    int gs_set_matmul_backend(MatmulBackend backend) noexcept
    MatmulBackend gs_get_matmul_backend() noexcept

cdef extern from "runtime/arrays/kernels/kernels.h":
    int gs_product(int type, const npy_intp *sizes, const npy_intp *strides, char *a, char *b, char *c)
    int gs_add_product(int type, const npy_intp *sizes, const npy_intp *strides, char *a, char *b, char *c)
    int gs_direct_loop(Ufunc ufunc, int type, void **run, void **data, int *out_type) noexcept

cdef extern from *:
    # sum.h and thread_pool.h include NumPy in the way of the kernels, so what is used of them is declared again.
    """
    int gs_sum_float32(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner);
    int gs_sum_float64(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner);
    void gs_matrix_vector(int type, const void *matrix, npy_intp step, const void *x, void *out, npy_intp rows, npy_intp columns);
    void gs_vector_matrix(int type, const void *x, const void *matrix, npy_intp step, void *out, npy_intp rows, npy_intp columns);
    void gs_outer(int type, const void *x, npy_intp x_step, const void *y, void *out, npy_intp rows, npy_intp columns);
    """
    void gs_matrix_vector(int type, const void *matrix, npy_intp step, const void *x, void *out, npy_intp rows, npy_intp columns)
    void gs_vector_matrix(int type, const void *x, const void *matrix, npy_intp step, void *out, npy_intp rows, npy_intp columns)
    void gs_outer(int type, const void *x, npy_intp x_step, const void *y, void *out, npy_intp rows, npy_intp columns)
    int gs_sum_float32(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner)
    int gs_sum_float64(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner)

cdef extern from *:
    # thread_pool.h includes NumPy in the way of the kernels, so what is used of it is declared again.
    """
    void gs_parallel(
        void (*task)(void *context, npy_intp first, npy_intp last), void *context, npy_intp n, npy_intp cost,
        npy_intp step);
    """
    void gs_parallel(
        void (*task)(void *, npy_intp, npy_intp) noexcept, void *, npy_intp, npy_intp, npy_intp) noexcept

gs_import_numpy()
gs_loops_init()
gs_cache_init()
gs_threads_init()


# ---- pointwise


cdef PyObject *unary(int ufunc, PyObject *a) except NULL:
    return gs_unary(<Ufunc>ufunc, a)


cdef PyObject *binary(int ufunc, PyObject *a, PyObject *b) except NULL:
    return gs_binary(<Ufunc>ufunc, a, b)


cdef PyObject *binary_scalar(int ufunc, PyObject *a, object number, bint number_first) except NULL:
    return gs_binary_scalar(<Ufunc>ufunc, a, <PyObject *>number, number_first)


cdef int unary_into(int ufunc, PyObject *a, PyObject *out) except -1:
    return gs_unary_into(<Ufunc>ufunc, a, out)


cdef int binary_into(int ufunc, PyObject *a, PyObject *b, PyObject *out) except -1:
    return gs_binary_into(<Ufunc>ufunc, a, b, out)


cdef int binary_scalar_into(int ufunc, PyObject *a, object number, bint number_first, PyObject *out) except -1:
    return gs_binary_scalar_into(<Ufunc>ufunc, a, <PyObject *>number, number_first, out)


cdef PyObject *fused(const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse) except? NULL:
    return gs_fused(kernel, inputs, scalars, reuse)


cdef PyObject *fused_doubled(
    const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse
) except? NULL:
    return gs_fused_doubled(kernel, inputs, scalars, reuse)


cdef PyObject *fused_sum(
    const FusedKernel *kernel, PyObject **inputs, const double *scalars, int ndim, const npy_intp *dims
) except? NULL:
    return gs_fused_sum(kernel, inputs, scalars, ndim, dims)


cdef int fused_over(const FusedKernel *kernel, PyObject **inputs, const double *scalars, PyObject *out) except -1:
    return gs_fused_into(kernel, inputs, scalars, out)


cdef PyObject *where(PyObject *condition, PyObject *a, PyObject *b) except NULL:
    return gs_where(condition, a, b)


# ---- allocation and ownership


cdef PyObject *empty_array(int type_num, int ndim, const npy_intp *dims) except NULL:
    return gs_array_new(type_num, ndim, dims)


cdef PyObject *empty_in_order(PyObject *model, int type_num, int ndim, const npy_intp *dims) except NULL:
    return gs_result_new(type_num, &model, 1, ndim, dims)


cdef PyObject *full_array(int type_num, int ndim, const npy_intp *dims, object number) except NULL:
    return gs_full(type_num, ndim, dims, <PyObject *>number)


cdef PyObject *clone(PyObject *a) except NULL:
    return gs_clone(a)


cdef PyObject *clone_by_rows(PyObject *a) except NULL:
    return gs_clone_by_rows(a)


cdef PyObject *contiguous(PyObject *a) except NULL:
    return gs_contiguous(a)


cdef PyObject *cast(PyObject *a, int type_num) except NULL:
    return gs_cast(a, type_num)


cdef int copy_into(PyObject *out, PyObject *a) except -1:
    return gs_copy_into(out, a)


cdef int fill(PyObject *out, object number) except -1:
    return gs_fill(out, <PyObject *>number)


def copy_values(out, values):
    """``out[...] = values``, of arrays; fast where `values` is one element."""
    copy_into(<PyObject *>out, <PyObject *>values)


def element_of(number, dtype):
    """Array without dimensions that holds a number; RuntimeError where the dtype cannot hold it."""
    return owned(gs_full(number_type(dtype), 0, NULL, <PyObject *>number))


def wrapped_element(number, dtype):
    """The same for an operand of arithmetic: an integer beyond the dtype's range wraps around."""
    return owned(gs_wrapped(number_type(dtype), <PyObject *>number))


cdef int number_type(object dtype) except -1:
    found = numpy.dtype(dtype)
    if found.kind not in "biufc" or found.char in "gG":
        raise TypeError(f"expected a dtype that tensors have, but got {found}")
    return found.num


cdef object empty_like(object a, object dtype):
    return owned(gs_result_like(<PyObject *>a, dtype.num))


def empty_of(array, dtype):
    """Uninitialised array with the shape of `array`, and its dimensions in the same order in memory."""
    return empty_like(array, dtype)


cdef object owned(PyObject *array):
    """The object of a new reference."""
    result = <object>array
    Py_DECREF_pointer(array)
    return result


cdef bint is_dense(PyObject *a) noexcept:
    return gs_is_dense(a)


cdef void release_array(PyObject *a) noexcept:
    gs_array_release(a)


cdef bint is_exclusive(PyObject *a) noexcept:
    return gs_is_exclusive(a)


cdef int accumulate(PyObject **slot, PyObject *value) except -1:
    return gs_accumulate(slot, value)


# ---- convolutions

cdef extern from *:
    """
    /* A result is dense, whatever its order. */
    static int gs_are_true(PyObject *bools) {
        return gs_size(bools) == 0 || memchr(gs_fields(bools)->data, 0, (size_t)gs_size(bools)) == NULL;
    }
    """
    bint gs_are_true(PyObject *bools) noexcept


cdef extern from "runtime/arrays/kernels/windows/convolution.h":
    int gs_convolve_output(
        const Convolution *c, const void *image, const void *weight, const void *bias, void *output) except -1
    int gs_convolve_image(const Convolution *c, const void *output, const void *weight, void *image) except -1
    int gs_convolve_weight(const Convolution *c, const void *output, const void *image, void *weight) except -1


cdef int convolve_output(
    const Convolution *c, const void *image, const void *weight, const void *bias, void *output
) except -1:
    return gs_convolve_output(c, image, weight, bias, output)


cdef int convolve_image(const Convolution *c, const void *output, const void *weight, void *image) except -1:
    return gs_convolve_image(c, output, weight, image)


cdef int convolve_weight(const Convolution *c, const void *output, const void *image, void *weight) except -1:
    return gs_convolve_weight(c, output, image, weight)


# ---- windows

cdef extern from "runtime/arrays/kernels/windows/pooling.h":
    int gs_window_maxima(const Windows *w, const void *image, void *maxima, npy_int64 *places) except -1
    int gs_window_means(const Windows *w, const void *image, void *means) except -1
    int gs_spread_means(const Windows *w, const void *means, void *image) except -1
    int gs_take_places(const Places *p, const void *image, const npy_int64 *places, void *found) except -1
    int gs_add_to_places(const Places *p, const void *values, const npy_int64 *places, void *image) except -1


cdef int window_maxima(const Windows *w, const void *image, void *maxima, npy_int64 *places) except -1:
    return gs_window_maxima(w, image, maxima, places)


cdef int window_means(const Windows *w, const void *image, void *means) except -1:
    return gs_window_means(w, image, means)


cdef int spread_means(const Windows *w, const void *means, void *image) except -1:
    return gs_spread_means(w, means, image)


cdef int take_places(const Places *p, const void *image, const npy_int64 *places, void *found) except -1:
    return gs_take_places(p, image, places, found)


cdef int add_to_places(const Places *p, const void *values, const npy_int64 *places, void *image) except -1:
    return gs_add_to_places(p, values, places, image)


# ---- samples

cdef extern from "runtime/arrays/kernels/sampling/sampling.h":
    int gs_sample(
        const Samples *s, const void *image, const void *weights, const npy_int64 *places, void *values) except -1
    int gs_spread_samples(
        const Samples *s, const void *values, const void *weights, const npy_int64 *places, void *image) except -1
    int gs_weigh_samples(
        const Samples *s, const void *values, const void *image, const npy_int64 *places, void *weights) except -1


cdef int sample(
    const Samples *s, const void *image, const void *weights, const npy_int64 *places, void *values
) except -1:
    return gs_sample(s, image, weights, places, values)


cdef int spread_samples(
    const Samples *s, const void *values, const void *weights, const npy_int64 *places, void *image
) except -1:
    return gs_spread_samples(s, values, weights, places, image)


cdef int weigh_samples(
    const Samples *s, const void *values, const void *image, const npy_int64 *places, void *weights
) except -1:
    return gs_weigh_samples(s, values, image, places, weights)


cdef extern from "runtime/arrays/kernels/sampling/resampling.h":
    int gs_resample(const Resampling *r, const void *image, void *result) except -1


cdef int resample(const Resampling *r, const void *image, void *result) except -1:
    return gs_resample(r, image, result)


# ---- networks

cdef extern from "runtime/arrays/kernels/networks/normalization.h":
    int gs_standardize(
        const void *job, const void *x, const void *weight, const void *bias, void *result, void *mean, void *var
    ) except -1
    int gs_standardize_backward(
        const void *job, const void *grad, const void *x, const void *weight, const void *mean, const void *var,
        void *result) except -1
    int gs_standardize_sums(
        const void *job, const void *grad, const void *x, const void *mean, const void *var, void *sums) except -1

cdef extern from "runtime/arrays/kernels/networks/class_losses.h":
    int gs_class_losses(
        const void *job, const void *x, const npy_intp *classes, void *losses, void *logsumexp) except -1
    int gs_class_losses_backward(
        const void *job, const void *grad, const void *x, const npy_intp *classes, const void *logsumexp,
        void *result) except -1

cdef extern from "runtime/arrays/kernels/products/groups.h":
    int gs_rows_of_groups(const void *job) except -1
    int gs_outers_of_groups(const void *job) except -1


cdef extern from "runtime/arrays/kernels/networks/attention.h":
    int gs_attend(
        const void *job, const void *query, const void *key, const void *value, const void *mask, void *result,
        void *logsumexp) except -1
    int gs_attend_backward(
        const void *job, const void *query, const void *key, const void *value, const void *mask, const void *grad,
        const void *logsumexp, const void *delta, void **grads) except -1


cdef int standardize(
    const void *job, const void *x, const void *weight, const void *bias, void *result, void *mean, void *var
) except -1:
    return gs_standardize(job, x, weight, bias, result, mean, var)


cdef int standardize_backward(
    const void *job, const void *grad, const void *x, const void *weight, const void *mean, const void *var,
    void *result
) except -1:
    return gs_standardize_backward(job, grad, x, weight, mean, var, result)


cdef int standardize_sums(
    const void *job, const void *grad, const void *x, const void *mean, const void *var, void *sums
) except -1:
    return gs_standardize_sums(job, grad, x, mean, var, sums)


cdef int class_losses(const void *job, const void *x, const npy_intp *classes, void *losses, void *logsumexp) except -1:
    return gs_class_losses(job, x, classes, losses, logsumexp)


cdef int class_losses_backward(
    const void *job, const void *grad, const void *x, const npy_intp *classes, const void *logsumexp, void *result
) except -1:
    return gs_class_losses_backward(job, grad, x, classes, logsumexp, result)


cdef int attend(
    const void *job, const void *query, const void *key, const void *value, const void *mask, void *result,
    void *logsumexp
) except -1:
    return gs_attend(job, query, key, value, mask, result, logsumexp)


cdef int attend_backward(
    const void *job, const void *query, const void *key, const void *value, const void *mask, const void *grad,
    const void *logsumexp, const void *delta, void **grads
) except -1:
    return gs_attend_backward(job, query, key, value, mask, grad, logsumexp, delta, grads)

# ---- sequences

cdef extern from "runtime/arrays/kernels/sequences/recurrence.h":
    int gs_recur(const Recurrence *r) except -1

cdef extern from "runtime/arrays/kernels/sequences/ctc.h":
    int gs_ctc_losses(const Alignments *c, void *losses) except -1
    int gs_ctc_slopes(const Alignments *c, void *slopes) except -1
    int gs_ctc_curvature(const Alignments *c, void *curvature) except -1


cdef int recur(const Recurrence *r) except -1:
    return gs_recur(r)


cdef int ctc_losses(const Alignments *c, void *losses) except -1:
    return gs_ctc_losses(c, losses)


cdef int ctc_slopes(const Alignments *c, void *slopes) except -1:
    return gs_ctc_slopes(c, slopes)


cdef int ctc_curvature(const Alignments *c, void *curvature) except -1:
    return gs_ctc_curvature(c, curvature)

# ---- factors of matrices

cdef extern from "runtime/arrays/kernels/factors/lu.h":
    int gs_lu(int type, void *a, int *pivots, npy_intp count, npy_intp m, npy_intp n) except -1
    int gs_lu_solve(
        int type, const void *factors, const int *pivots, npy_intp step, void *x, npy_intp count, npy_intp n, npy_intp k,
        int transposed) except -1
    int gs_lu_inverse(
        int type, const void *factors, const int *pivots, void *inverse, npy_intp count, npy_intp n) except -1
    int gs_triangular(
        int type, const void *a, npy_intp a_row, npy_intp a_column, npy_intp a_step, int upper, int unitriangular,
        void *x, npy_intp count, npy_intp n, npy_intp k) except -1


cdef int lu(int type, void *a, int *pivots, npy_intp count, npy_intp m, npy_intp n) except -1:
    return gs_lu(type, a, pivots, count, m, n)


cdef int lu_solve(
    int type, const void *factors, const int *pivots, npy_intp step, void *x, npy_intp count, npy_intp n, npy_intp k,
    bint transposed
) except -1:
    return gs_lu_solve(type, factors, pivots, step, x, count, n, k, transposed)


cdef int lu_inverse(
    int type, const void *factors, const int *pivots, void *inverse, npy_intp count, npy_intp n
) except -1:
    return gs_lu_inverse(type, factors, pivots, inverse, count, n)


cdef int solve_triangular(
    int type, const void *a, npy_intp a_row, npy_intp a_column, npy_intp a_step, bint upper, bint unitriangular, void *x,
    npy_intp count, npy_intp n, npy_intp k
) except -1:
    return gs_triangular(type, a, a_row, a_column, a_step, upper, unitriangular, x, count, n, k)


cdef extern from "runtime/arrays/kernels/factors/cholesky.h":
    int gs_cholesky(int type, const void *a, void *factors, int *orders, npy_intp count, npy_intp n) except -1
    int gs_cholesky_slope(
        int type, const void *factors, const void *gradients, void *slopes, npy_intp count, npy_intp n) except -1


cdef int cholesky(int type, const void *a, void *factors, int *orders, npy_intp count, npy_intp n) except -1:
    return gs_cholesky(type, a, factors, orders, count, n)


cdef int cholesky_slope(
    int type, const void *factors, const void *gradients, void *slopes, npy_intp count, npy_intp n
) except -1:
    return gs_cholesky_slope(type, factors, gradients, slopes, count, n)


cdef extern from "runtime/arrays/kernels/decompositions/decompositions.h":
    int gs_qr(
        int type, const void *a, const QRResults *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k) except -1
    bint gs_can_decompose() noexcept
    npy_intp gs_eigh(int type, const void *a, void *values, void *vectors, npy_intp count, npy_intp n) except -1
    npy_intp gs_svd(
        int type, const void *a, void *u, void *values, void *vh, npy_intp count, npy_intp m, npy_intp n,
        npy_intp left) except -1


cdef int qr(
    int type, const void *a, const QRResults *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k
) except -1:
    return gs_qr(type, a, results, count, m, n, k)


cdef bint can_decompose() noexcept:
    return gs_can_decompose()


cdef npy_intp eigh(int type, const void *a, void *values, void *vectors, npy_intp count, npy_intp n) except -1:
    return gs_eigh(type, a, values, vectors, count, n)


cdef npy_intp svd(
    int type, const void *a, void *u, void *values, void *vh, npy_intp count, npy_intp m, npy_intp n, npy_intp left
) except -1:
    return gs_svd(type, a, u, values, vh, count, m, n, left)


# ---- arrays without data


cdef bint is_meta(PyObject *a) noexcept:
    return gs_meta_of_array(a)


cdef bint is_stand_in(PyObject *a) noexcept:
    return gs_meta_is_stand_in(a)


cdef PyObject *meta_array(int type_num, int ndim, const npy_intp *dims) except NULL:
    return gs_meta_new(type_num, ndim, dims)


cdef PyObject *batched_array(int type_num, int ndim, const npy_intp *dims, object batch) except NULL:
    return gs_batched_new(type_num, ndim, dims, <PyObject *>batch)


cdef bint is_batched_array(PyObject *a) noexcept:
    return gs_batched_of_array(a)


cdef bint is_on_meta(PyObject *a) noexcept:
    if gs_batched_of_array(a):
        # A batch is where its slices are; a view that NumPy made of its array counts as one with data.
        return getattr((<object>a).base, "is_meta", False)
    return gs_meta_of_array(a) and not gs_indexed_of_array(a)


cdef PyObject *indexed_array(int type_num, int ndim, const npy_intp *dims, object rows) except NULL:
    return gs_indexed_new(type_num, ndim, dims, <PyObject *>rows)


cdef bint is_indexed_array(PyObject *a) noexcept:
    return gs_indexed_of_array(a)


cdef void report_meta_to(meta_listener listener) noexcept:
    gs_meta_report_to(listener)


cdef object readable_copy(object a):
    return array_without_data(a.shape, a.dtype) if gs_meta_of_array(<PyObject *>a) else owned(gs_clone(<PyObject *>a))


def are_equal(a, b):
    """Whether arrays of one shape, which have data, have equal elements."""
    if type(a) is not numpy.ndarray or type(b) is not numpy.ndarray:
        raise TypeError(f"are_equal(): expected arrays, got {type(a).__name__} and {type(b).__name__}")
    cdef PyObject *found = gs_binary(EQUAL, <PyObject *>a, <PyObject *>b)
    cdef bint is_equal = gs_are_true(found)
    release_array(found)
    return is_equal


def has_no_data(array):
    """Is `array` that of a tensor on the meta device?"""
    return bool(gs_meta_of_array(<PyObject *>array))


def array_without_data(shape, dtype):
    """Stand-in for an array: read-only, every element the same zero, whatever the size."""
    cdef npy_intp dims[64]
    cdef int ndim = 0
    if len(shape) > 64:
        raise ValueError(f"arrays have at most 64 dimensions, but {len(shape)} sizes were given")
    for size in shape:
        dims[ndim] = size
        ndim += 1
    return owned(gs_meta_new(numpy.dtype(dtype).num, ndim, dims))


# ---- types


cdef int default_type() noexcept:
    return gs_default_float


cdef int promote_types(int a, int b) except -1:
    return gs_promote_types(a, b)


cdef int result_type_of(PyObject *a, PyObject *b) except -1:
    return gs_result_type_of(a, b)


def add_dtype_attributes(dict attributes not None):
    """Give NumPy's class of dtypes, which is closed to Python, attributes, as far as it has none of their names.

    Programs ask ``x.dtype.is_floating_point``, and the dtypes of tensors are NumPy's own.
    """
    cdef TypeWithDict *kind = <TypeWithDict *>numpy.dtype
    cdef dict own = <dict>kind.tp_dict
    for name, attribute in attributes.items():
        own.setdefault(name, attribute)
    PyType_Modified(kind)


# Type number -> dtype, of those that numbers may have.
cdef dict DEFAULTS = {numpy.dtype(name).num: numpy.dtype(name) for name in ("float16", "float32", "float64")}


def set_default_dtype(dtype):
    """Make `dtype` (float32, float64 or float16) the dtype of numbers, and of float functions of integers."""
    global gs_default_float
    if dtype is None or numpy.dtype(dtype).kind != "f" or numpy.dtype(dtype).itemsize > 8:
        raise TypeError(f"set_default_dtype(): only float32, float64 and float16 can be the default dtype, got {dtype}")
    gs_default_float = numpy.dtype(dtype).num


def get_default_dtype():
    """The NumPy dtype set by `set_default_dtype`; float32 at first."""
    return DEFAULTS[gs_default_float]


# ---- reductions


cdef PyObject *sum_axes(PyObject *a, object axes, bint keepdims) except NULL:
    return gs_sum(a, <PyObject *>axes, keepdims)


cdef PyObject *mean_axes(PyObject *a, object axes, bint keepdims) except NULL:
    return gs_mean(a, <PyObject *>axes, keepdims)


cdef PyObject *nansum_axes(PyObject *a, object axes, bint keepdims) except NULL:
    return gs_nansum(a, <PyObject *>axes, keepdims)


def sum_of_squares(array, axes, bint keepdims):
    """Of float32 and float64 that lie side by side, with the bits of the sum of an array of squares, of which there is none."""
    return owned(gs_sum_of_squares(<PyObject *>array, <PyObject *>axes, keepdims))


cdef PyObject *prod_axes(PyObject *a, object axes, bint keepdims) except NULL:
    return gs_prod(a, <PyObject *>axes, keepdims)


cdef PyObject *amax_axes(PyObject *a, object axes, bint keepdims) except NULL:
    return gs_amax(a, <PyObject *>axes, keepdims)


cdef PyObject *amin_axes(PyObject *a, object axes, bint keepdims) except NULL:
    return gs_amin(a, <PyObject *>axes, keepdims)


cdef PyObject *sum_to(PyObject *a, int ndim, const npy_intp *dims) except NULL:
    return gs_sum_to(a, ndim, dims)


# ---- softmax family


cdef PyObject *softmax(PyObject *a, int axis) except NULL:
    return gs_softmax(a, axis)


cdef PyObject *softmax_backward(PyObject *grad, PyObject *result, int axis) except NULL:
    return gs_softmax_backward(grad, result, axis)


cdef PyObject *log_softmax(PyObject *a, int axis) except NULL:
    return gs_log_softmax(a, axis)


cdef PyObject *log_softmax_backward(PyObject *grad, PyObject *result, int axis) except NULL:
    return gs_log_softmax_backward(grad, result, axis)


cdef PyObject *logsumexp(PyObject *a, object axes, bint keepdims) except NULL:
    return gs_logsumexp(a, <PyObject *>axes, keepdims)


# ---- matrix products


cdef PyObject *matmul(PyObject *a, PyObject *b) except NULL:
    return gs_matmul(a, 0, b, 0)


cdef PyObject *matmul_transposed(PyObject *a, bint transpose_a, PyObject *b, bint transpose_b) except NULL:
    return gs_matmul(a, transpose_a, b, transpose_b)


cdef PyObject *linear(PyObject *x, PyObject *weight, PyObject *bias) except NULL:
    return gs_linear(x, weight, bias)


cdef int rows_of_groups(const void *job) except -1:
    return gs_rows_of_groups(job)


cdef int outers_of_groups(const void *job) except -1:
    return gs_outers_of_groups(job)


# ---- settings


def set_num_threads(n):
    """Let kernels use up to `n` threads for large arrays, the calling one included, and NumPy's and SciPy's BLAS as many.

    SciPy may be imported later: the limit holds from the first op that uses it.
    """
    if n < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {n}")
    if n > INT_MAX:
        raise ValueError(f"set_num_threads(): overflow: {n} threads are more than {INT_MAX}, the largest C int")
    gs_set_num_threads(n)
    gs_limit_blas_threads(gs_get_num_threads())


def limit_threads_of_scipy():
    """Hand the number of threads on to a SciPy that was imported after it had been set."""
    gs_limit_threads_of_scipy()


def get_num_threads():
    """The number of threads that kernels may use; at first the number of cores this process may run on."""
    return gs_get_num_threads()


def thread_limits():
    """The numbers of threads of kernels and of BLAS, for `put_thread_limits`."""
    cdef gs_blas_threads blas = gs_get_blas_threads()
    return gs_get_num_threads(), blas.limit, blas.numpy, blas.scipy


def put_thread_limits(limits):
    """Give back the threads that there were before `set_num_threads`, of BLAS too."""
    cdef gs_blas_threads blas
    kernels, blas.limit, blas.numpy, blas.scipy = limits
    gs_set_num_threads(kernels)
    gs_put_blas_threads(blas)


def silently(function, *operands):
    """``function(*operands)`` without NumPy's warnings of numbers that leave their range."""
    cdef PyObject *silence = gs_silence_begin()
    try:
        return function(*operands)
    finally:
        gs_silence_end(silence)


def call_each(function, count):
    """Call ``function(i)`` for every i below `count`, on as many threads as kernels use; the first error is raised."""
    gs_call_each(function, count)


def parallel_loop():
    """The pool's `gs_parallel`, for C that is linked into another module; see kernels/threads/thread_pool.h."""
    return PyCapsule_New(<void *>&gs_parallel, "gradsmith.parallel_loop", NULL)


def inner_loop(int ufunc, int type_num):
    """Addresses of a ufunc's inner loop and its data, and the type of its result, for memory of one type; or None."""
    cdef void *run = NULL
    cdef void *data = NULL
    cdef int out_type = 0
    if not gs_direct_loop(<Ufunc>ufunc, type_num, &run, &data, &out_type):
        return None
    return <uintptr_t>run, <uintptr_t>data, out_type


def kernel_addresses():
    """Addresses of C functions by name; see kernels/kernels.h, kernels/reductions/sum.h and kernels/products/gemv.h."""
    return {
        "product": <uintptr_t>&gs_product,
        "add_product": <uintptr_t>&gs_add_product,
        "matrix_vector": <uintptr_t>&gs_matrix_vector,
        "vector_matrix": <uintptr_t>&gs_vector_matrix,
        "outer": <uintptr_t>&gs_outer,
        "sum_float32": <uintptr_t>&gs_sum_float32,
        "sum_float64": <uintptr_t>&gs_sum_float64,
    }


def empty_cache():
    """Give the memory of all recycled arrays back."""
    gs_cache_clear()


def set_cache_limit(nbytes):
    """Keep at most `nbytes` of memory in recycled arrays; 0 turns recycling off."""
    if nbytes < 0:
        raise ValueError(f"set_cache_limit expects a number of bytes, got {nbytes}")
    gs_cache_set_limit(nbytes)


def get_cache_limit():
    """The limit set by `set_cache_limit`; at first an eighth of the machine's memory, but no more than 4 GB."""
    return gs_cache_limit()


def cache_size():
    """Bytes that recycled arrays hold at the moment."""
    return gs_cache_bytes()


def cache_hits():
    """How many arrays have been recycled since the start."""
    return gs_cache_recycled()


_MATMUL_BACKENDS = {"auto": GS_MATMUL_AUTO, "blas": GS_MATMUL_BLAS, "own": GS_MATMUL_OWN}


def set_matmul_backend(name):
    """Set the implementation of large float products: "blas" (NumPy's), "own" (AVX-512) or "auto", by processor."""
    if name not in _MATMUL_BACKENDS:
        raise ValueError(f"set_matmul_backend expects one of {list(_MATMUL_BACKENDS)}, got {name!r}")
    if not gs_set_matmul_backend(_MATMUL_BACKENDS[name]):
        raise RuntimeError(f"set_matmul_backend: {name!r} needs a processor with AVX-512")


def get_matmul_backend(dtype="float32"):
    """The backend in use for a dtype, "blas" or "own"."""
    if numpy.dtype(dtype) not in (numpy.dtype("float32"), numpy.dtype("float64")):
        return "blas"
    return "own" if gs_get_matmul_backend() == GS_MATMUL_OWN else "blas"


def direct_loops():
    """For each ufunc, the dtypes whose inner loop is called directly instead of through NumPy's public function."""
    cdef dict loops = {}
    cdef int ufunc, type_num
    for ufunc in range(GS_N_UFUNCS):
        loops[gs_ufunc_name(<Ufunc>ufunc).decode()] = [
            gs_type_name(type_num).decode() for type_num in range(24) if gs_uses_loop(<Ufunc>ufunc, type_num)
        ]
    return loops
