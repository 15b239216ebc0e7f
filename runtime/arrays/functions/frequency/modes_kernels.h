/* The most frequent element of each row. */
#ifndef GRADSMITH_MODES_KERNELS_H
#define GRADSMITH_MODES_KERNELS_H

#include "support/numpy_api.h"

/* The smallest of several that are equally frequent, and its last place.  No NaN equals another: one is taken where it
 * comes first and nothing is there twice, or where there is nothing else. */
typedef struct {
    int type;            /* NumPy's number */
    const char *rows;    /* side by side, of n elements each; n > 0 */
    const char *ordered; /* the same in ascending order, NaN last; NULL for up to GS_FEW_ORDERED elements */
    npy_intp n;
    char *values;        /* one for each row */
    npy_int64 *places;
} gs_modes;

#define GS_FEW_ORDERED 32

/* Is there a loop for NumPy's type? */
int gs_has_modes(int type);

/* Writes the modes of the rows first <= i < last. Called without the GIL. */
void gs_find_modes(void *modes, npy_intp first, npy_intp last);

#endif
