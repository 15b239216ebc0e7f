/* Linear algebra of many small matrices: as many as a vector has lanes are worked on side by side. */
#ifndef GS_ELIMINATION_KERNELS_H
#define GS_ELIMINATION_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define GS_MOST_ROWS 8
#define GS_MOST_RIGHT 8

/* All matrices are contiguous, one behind the other; `is_double` says of which numbers. Each function gives the number of
 * the first matrix for which there is no result, or -1. */

/* x of a x = b: a is n by n, b and x are n by m. Without b, x is the inverse of a. */
ptrdiff_t gs_small_solve(int is_double, const void *a, const void *b, void *x, ptrdiff_t count, int n, int m);

/* Both triangular factors in one matrix, and the row, counted from 1, that each row was exchanged with. */
void gs_small_lu(int is_double, const void *a, void *factors, int32_t *pivots, ptrdiff_t count, int n);

/* The determinant, zero of a singular matrix. */
void gs_small_det(int is_double, const void *a, void *det, ptrdiff_t count, int n);

/* The determinant times the inverse, and whether that is sound: no ill-conditioned matrix, no determinant that underflows. */
void gs_small_adjugate(int is_double, const void *a, void *adjugate, unsigned char *is_sound, ptrdiff_t count, int n);

/* The inverse, not finite where there is none, and whether any digits of it are right. */
void gs_small_inverse(int is_double, const void *a, void *inverse, unsigned char *is_sound, ptrdiff_t count, int n);

/* Sign and logarithm of the absolute value of the determinant. */
void gs_small_slogdet(int is_double, const void *a, void *sign, void *logarithm, ptrdiff_t count, int n);

/* The lower triangle whose product with its transpose is a; reads the lower triangle of a. */
ptrdiff_t gs_small_cholesky(int is_double, const void *a, void *factor, ptrdiff_t count, int n);

/* The symmetric matrix that one triangle of a describes. */
void gs_symmetric(int is_double, const void *a, void *out, ptrdiff_t count, ptrdiff_t n, int lower);

/* Half the sum of a and its transpose. */
void gs_mean_with_transpose(int is_double, const void *a, void *out, ptrdiff_t count, ptrdiff_t n);

#endif
