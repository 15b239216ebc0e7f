/* The functions behind runtime/arrays/array.pyx: everything that leaves this folder.
 *
 * Arrays are exact numpy.ndarray objects, borrowed in, new references out; NULL or -1 with an exception on failure.
 */
#ifndef GRADSMITH_KERNELS_H
#define GRADSMITH_KERNELS_H

#include <Python.h>
#include <stdint.h>
#include <numpy/npy_common.h>

#include "fused.h"
#include "support/simd.h"
#include "support/ufunc_loops.h"

GS_HIDDEN_BEGIN

/* for programs, which have memory and no arrays */
/* The inner loop of a ufunc that may be called on any plain memory of the type; 0 where there is none. */
int gs_direct_loop(gs_ufunc ufunc, int type, void **run, void **data, int *out_type);
int gs_product(int type, const npy_intp *sizes, const npy_intp *strides, char *a, char *b, char *c);
int gs_add_product(int type, const npy_intp *sizes, const npy_intp *strides, char *a, char *b, char *c);

/* start-up, in this order */
int gs_import_numpy(void);
int gs_loops_init(void);
void gs_cache_init(void);
void gs_threads_init(void);

/* array_cache.c */
PyObject *gs_array_new(int type, int nd, const npy_intp *dims);
int gs_is_exclusive(PyObject *a);
void gs_array_release(PyObject *array);
void gs_cache_clear(void);
void gs_cache_set_limit(size_t nbytes);
size_t gs_cache_limit(void);
size_t gs_cache_bytes(void);
uint64_t gs_cache_recycled(void);

/* thread_pool.c */
int gs_get_num_threads(void);
void gs_set_num_threads(int n);

/* parallel_calls.c: function(0), ..., function(count - 1), on several threads at a time. */
int gs_call_each(PyObject *function, Py_ssize_t count);

/* assign.c */
PyObject *gs_cast(PyObject *array, int type);
PyObject *gs_clone(PyObject *array);
PyObject *gs_clone_by_rows(PyObject *array);
PyObject *gs_contiguous(PyObject *array);
int gs_copy_into(PyObject *out, PyObject *array);
int gs_fill(PyObject *out, PyObject *number);
PyObject *gs_full(int type, int nd, const npy_intp *dims, PyObject *number);
/* Without dimensions, and not checked: see numbers.h, Note [Numbers that do not fit]. */
PyObject *gs_wrapped(int type, PyObject *number);

/* meta.c: arrays without data.  The function is told when the first of them is there, and when the last has gone. */
void gs_meta_report_to(void (*function)(int in_use));
PyObject *gs_meta_new(int type, int nd, const npy_intp *dims);
int gs_meta_of_array(PyObject *array);
int gs_meta_is_stand_in(PyObject *array);
/* The array of a batched tensor, whose base is `batch`; see runtime/batching. */
PyObject *gs_batched_new(int type, int nd, const npy_intp *dims, PyObject *batch);
int gs_batched_of_array(PyObject *array);
PyObject *gs_indexed_new(int type, int nd, const npy_intp *dims, PyObject *rows);
int gs_indexed_of_array(PyObject *array);

/* promotion.c */
extern int gs_default_float;
int gs_promote_types(int a, int b);
int gs_result_type_of(PyObject *a, PyObject *b);

/* loops.c: does NumPy's inner loop for this type serve directly?  Otherwise the public ufunc is called. */
int gs_uses_loop(gs_ufunc ufunc, int type);
const char *gs_ufunc_name(gs_ufunc ufunc);
const char *gs_op_name(gs_ufunc ufunc); /* for errors: of the op that the ufunc computes */
const char *gs_inplace_op_name(gs_ufunc ufunc); /* the same without the underscore */
const char *gs_type_name(int type);

/* pointwise.c */
PyObject *gs_unary(gs_ufunc ufunc, PyObject *a);
PyObject *gs_binary(gs_ufunc ufunc, PyObject *a, PyObject *b);
PyObject *gs_binary_scalar(gs_ufunc ufunc, PyObject *a, PyObject *number, int number_first);
int gs_unary_into(gs_ufunc ufunc, PyObject *a, PyObject *out);
int gs_binary_into(gs_ufunc ufunc, PyObject *a, PyObject *b, PyObject *out);
int gs_binary_scalar_into(gs_ufunc ufunc, PyObject *a, PyObject *number, int number_first, PyObject *out);
int gs_accumulate(PyObject **slot, PyObject *value);

/* order.c: an uninitialised array for the result of one operand, of its shape; and whether an array's elements lie side
 * by side in some order of the dimensions. */
PyObject *gs_result_like(PyObject *operand, int type);
PyObject *gs_result_new(int type, PyObject *const *operands, int n, int nd, const npy_intp *dims);
int gs_is_dense(PyObject *array);

/* fused.c */
PyObject *gs_fused(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse);
PyObject *gs_fused_doubled(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, PyObject *reuse);
PyObject *gs_fused_sum(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, int nd, const npy_intp *dims);
int gs_fused_into(const gs_fused_kernel *kernel, PyObject **inputs, const double *scalars, PyObject *out);

/* select.c */
PyObject *gs_where(PyObject *condition, PyObject *a, PyObject *b);

/* reduce.c */
PyObject *gs_sum(PyObject *a, PyObject *axes, int keepdims);
PyObject *gs_mean(PyObject *a, PyObject *axes, int keepdims);
PyObject *gs_nansum(PyObject *a, PyObject *axes, int keepdims);
PyObject *gs_sum_of_squares(PyObject *a, PyObject *axes, int keepdims); /* of float32 and float64, with data */
PyObject *gs_prod(PyObject *a, PyObject *axes, int keepdims);
PyObject *gs_amax(PyObject *a, PyObject *axes, int keepdims);
PyObject *gs_amin(PyObject *a, PyObject *axes, int keepdims);
PyObject *gs_sum_to(PyObject *a, int nd, const npy_intp *dims);

/* softmax.c */
PyObject *gs_softmax(PyObject *a, int axis);
PyObject *gs_softmax_backward(PyObject *grad, PyObject *result, int axis);
PyObject *gs_log_softmax(PyObject *a, int axis);
PyObject *gs_log_softmax_backward(PyObject *grad, PyObject *result, int axis);
PyObject *gs_logsumexp(PyObject *a, PyObject *axes, int keepdims);

/* matmul.c: who multiplies large float matrices.  AUTO is one of the others, by processor. */
typedef enum { GS_MATMUL_AUTO, GS_MATMUL_BLAS, GS_MATMUL_OWN } gs_matmul_backend;
int gs_set_matmul_backend(gs_matmul_backend backend); /* 0: not possible on this processor */
gs_matmul_backend gs_get_matmul_backend(void);
PyObject *gs_matmul(PyObject *a, int transpose_a, PyObject *b, int transpose_b);
PyObject *gs_linear(PyObject *x, PyObject *weight, PyObject *bias);

GS_HIDDEN_END

#endif
