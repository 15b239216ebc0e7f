/* Running sums and products, and linear recurrences, in place and one element after the other.
 *
 * Memory is (outer, length, inner), by rows; a `reverse` scan goes from the last element to the first. `type` is NumPy's
 * number of float32, float64 or, for sums, int64. Single precision is added and multiplied in double: after ten million
 * equal numbers a float32 sum would be wrong in its first digit. */
#ifndef GRADSMITH_SCANS_KERNELS_H
#define GRADSMITH_SCANS_KERNELS_H

#include "support/numpy_api.h"

void gs_running_sums(int type, void *a, npy_intp outer, npy_intp length, npy_intp inner, int reverse);
void gs_running_products(int type, void *a, npy_intp outer, npy_intp length, npy_intp inner);

/* ``a[k] += weight[k] * a[k - 1]``; in reverse ``a[k] += weight[k + 1] * a[k + 1]``. The first weight is not used. */
void gs_recurrences(
    int type, void *a, const void *weights, npy_intp outer, npy_intp length, npy_intp inner, int reverse);

#endif
