/* Note [Sorting by digits]
 *
 * An element becomes a whole number that is ordered as it is, its key, and travels with its place.  From the last digit to
 * the first, pairs are dealt into the buckets of the digit's values; equal digits stay in the order that they had, so each
 * pass refines the one before, and the order is stable (Knuth, The Art of Computer Programming, volume 3, section 5.2.5).
 * How full each bucket gets is counted for all digits in one pass before.  A digit that all keys share is left out:
 * small integers take one or two passes.
 *
 * A comparison sort takes log n rounds of unpredictable branches in their place.
 */
#include "radix_kernels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define N_BUCKETS (1 << DIGIT_BITS)
#define DIGIT(key, d) (((key) >> ((d) * DIGIT_BITS)) & (N_BUCKETS - 1))

#define KEY uint32_t
#define N_DIGITS 3
#define SIGN 0x80000000u
#define INFINITE 0x7F800000u
#define NAME(stem) stem##_of_4_bytes
#include "radix_template.h"

#define KEY uint64_t
#define N_DIGITS 6
#define SIGN 0x8000000000000000u
#define INFINITE 0x7FF0000000000000u
#define NAME(stem) stem##_of_8_bytes
#include "radix_template.h"

/* The keys of a row from the least of them on, where they fit into half the bytes: it is sorted in half the time. */
static int
narrowed(const uint64_t *row, npy_intp n, gs_number_kind kind, uint32_t *keys)
{
    uint64_t least = UINT64_MAX, greatest = 0;
    for (npy_intp i = 0; i < n; i++) {
        uint64_t key = key_of_8_bytes(row[i], kind);
        least = key < least ? key : least;
        greatest = key > greatest ? key : greatest;
    }
    if (greatest - least > UINT32_MAX) {
        return 0;
    }
    for (npy_intp i = 0; i < n; i++) {
        keys[i] = (uint32_t)(key_of_8_bytes(row[i], kind) - least);
    }
    return 1;
}

static int
order_of_integers(const uint64_t *rows, npy_intp n_rows, npy_intp n, gs_number_kind kind, npy_int64 *places)
{
    uint32_t *keys = malloc((size_t)n * sizeof *keys);
    int status = keys == NULL ? -1 : 0;
    for (npy_intp r = 0; r < n_rows && status == 0; r++, rows += n, places += n) {
        status = narrowed(rows, n, kind, keys) ? order_of_4_bytes(keys, 1, n, GS_UNSIGNED, places)
                                               : order_of_8_bytes(rows, 1, n, kind, places);
    }
    free(keys);
    return status;
}

int
gs_order_rows(const void *rows, npy_intp n_rows, npy_intp n, int itemsize, gs_number_kind kind, npy_int64 *places)
{
    if (itemsize == 4) {
        return order_of_4_bytes(rows, n_rows, n, kind, places);
    }
    return kind == GS_FLOATING ? order_of_8_bytes(rows, n_rows, n, kind, places)
                               : order_of_integers(rows, n_rows, n, kind, places);
}
