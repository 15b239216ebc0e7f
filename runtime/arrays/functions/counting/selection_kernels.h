/* The first few elements of each row in its order. */
#ifndef GRADSMITH_SELECTION_KERNELS_H
#define GRADSMITH_SELECTION_KERNELS_H

#include "support/numpy_api.h"

/* A row in descending order, or in an ascending one, has NaN as its greatest element; equal ones keep the order of their
 * places. */
typedef struct {
    int type;           /* NumPy's number */
    int largest;
    const char *rows;   /* side by side, of n elements each */
    npy_intp n, k;      /* k of n, at most GS_MOST_SELECTED */
    char *values;       /* k for each row */
    npy_int64 *places;
} gs_selection;

#define GS_MOST_SELECTED 64

/* Selects in the rows first <= i < last of a selection. Called without the GIL. */
void gs_select_rows(void *selection, npy_intp first, npy_intp last);

/* Is there a loop for NumPy's type, and is k of n so few that it is worth it? */
int gs_can_select(int type, npy_intp n, npy_intp k);

#endif
