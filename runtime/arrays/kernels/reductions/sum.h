/* Sums of contiguous float arrays. */
#ifndef GRADSMITH_SUM_H
#define GRADSMITH_SUM_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* out[o, i] = sum over r of x[o, r, i]; sizes are at least 1.  The order of additions depends on the sizes alone, never on
 * the number of threads.  -1 with MemoryError on failure.  Called with the GIL, which large sums release. */
int gs_sum_float32(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner);
int gs_sum_float64(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner);

/* The same of elements that are written when they are needed, and kept nowhere: `write` writes n of them, from `first` on
 * in the order of (outer, r, inner), without the GIL and from any thread.  `cost` is that of an element, in additions.  The
 * sums have the bits of those of an array. */
typedef void (*gs_terms)(void *context, npy_intp first, npy_intp n, void *to);
int gs_sum_terms_float32(gs_terms write, void *context, npy_intp cost, float *out, npy_intp outer, npy_intp r,
                         npy_intp inner);
int gs_sum_terms_float64(gs_terms write, void *context, npy_intp cost, double *out, npy_intp outer, npy_intp r,
                         npy_intp inner);

/* The same of the elements that are no NaN. */
int gs_sum_numbers_float32(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner);
int gs_sum_numbers_float64(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner);

/* The same of the squares of elements. */
int gs_sum_squares_float32(const float *x, float *out, npy_intp outer, npy_intp r, npy_intp inner);
int gs_sum_squares_float64(const double *x, double *out, npy_intp outer, npy_intp r, npy_intp inner);

/* The same for pairs, the parts of complex numbers: out[o, p] = sum over r of x[o, r, p]. */
int gs_sum_pairs_float32(const float *x, float *out, npy_intp outer, npy_intp r);
int gs_sum_pairs_float64(const double *x, double *out, npy_intp outer, npy_intp r);

GS_HIDDEN_END

#endif
