/* Gaussian elimination with partial pivoting, and Cholesky's decomposition. */
#include "elimination_kernels.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "support/simd.h"

/* A vector of 32 bytes fits a register on most machines; the compiler splits wider ones and keeps them in memory. */
#if defined(__GNUC__) || defined(__clang__)
#define GS_HAS_VECTORS
#define GS_VECTOR_BYTES 32
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define GS_HAS_SHUFFLES
#endif
#define TILE 16
#define MOST_COLUMNS (GS_MOST_ROWS + GS_MOST_RIGHT)

#define REAL float
#define INTEGER int32_t
#define NAME(x) x##_float
#define ABS fabsf
#define SQRT sqrtf
#define LOG logf
#define EPSILON FLT_EPSILON
#define ROOT (1 / sqrtf(FLT_EPSILON))
#define LEAST FLT_MIN
#define GREATEST FLT_MAX
#ifdef GS_HAS_SHUFFLES
#define INTERLEAVE_LOW(a, b) __builtin_shuffle(a, b, (mask_float){0, 8, 1, 9, 2, 10, 3, 11})
#define INTERLEAVE_HIGH(a, b) __builtin_shuffle(a, b, (mask_float){4, 12, 5, 13, 6, 14, 7, 15})
#endif
#include "elimination_template.h"

#define REAL double
#define INTEGER int64_t
#define NAME(x) x##_double
#define ABS fabs
#define SQRT sqrt
#define LOG log
#define EPSILON DBL_EPSILON
#define ROOT (1 / sqrt(DBL_EPSILON))
#define LEAST DBL_MIN
#define GREATEST DBL_MAX
#ifdef GS_HAS_SHUFFLES
#define INTERLEAVE_LOW(a, b) __builtin_shuffle(a, b, (mask_double){0, 4, 1, 5})
#define INTERLEAVE_HIGH(a, b) __builtin_shuffle(a, b, (mask_double){2, 6, 3, 7})
#endif
#include "elimination_template.h"

ptrdiff_t
gs_small_solve(int is_double, const void *a, const void *b, void *x, ptrdiff_t count, int n, int m)
{
    return is_double ? solve_double(a, b, x, count, n, m) : solve_float(a, b, x, count, n, m);
}

void
gs_small_lu(int is_double, const void *a, void *factors, int32_t *pivots, ptrdiff_t count, int n)
{
    if (is_double) {
        lu_double(a, factors, pivots, count, n);
    } else {
        lu_float(a, factors, pivots, count, n);
    }
}

void
gs_small_det(int is_double, const void *a, void *det, ptrdiff_t count, int n)
{
    if (is_double) {
        det_double(a, det, count, n);
    } else {
        det_float(a, det, count, n);
    }
}

void
gs_small_adjugate(int is_double, const void *a, void *adjugate, unsigned char *is_sound, ptrdiff_t count, int n)
{
    if (is_double) {
        invert_double(a, adjugate, is_sound, count, n, 1);
    } else {
        invert_float(a, adjugate, is_sound, count, n, 1);
    }
}

void
gs_small_inverse(int is_double, const void *a, void *inverse, unsigned char *is_sound, ptrdiff_t count, int n)
{
    if (is_double) {
        invert_double(a, inverse, is_sound, count, n, 0);
    } else {
        invert_float(a, inverse, is_sound, count, n, 0);
    }
}

void
gs_small_slogdet(int is_double, const void *a, void *sign, void *logarithm, ptrdiff_t count, int n)
{
    if (is_double) {
        slogdet_double(a, sign, logarithm, count, n);
    } else {
        slogdet_float(a, sign, logarithm, count, n);
    }
}

ptrdiff_t
gs_small_cholesky(int is_double, const void *a, void *factor, ptrdiff_t count, int n)
{
    return is_double ? cholesky_double(a, factor, count, n) : cholesky_float(a, factor, count, n);
}

void
gs_symmetric(int is_double, const void *a, void *out, ptrdiff_t count, ptrdiff_t n, int lower)
{
    if (is_double) {
        symmetric_double(a, out, count, n, lower);
    } else {
        symmetric_float(a, out, count, n, lower);
    }
}

void
gs_mean_with_transpose(int is_double, const void *a, void *out, ptrdiff_t count, ptrdiff_t n)
{
    if (is_double) {
        mean_double(a, out, count, n);
    } else {
        mean_float(a, out, count, n);
    }
}
