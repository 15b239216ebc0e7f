/* Places of elements in ascending rows. */
#ifndef GRADSMITH_SEARCHES_KERNELS_H
#define GRADSMITH_SEARCHES_KERNELS_H

#include "support/numpy_api.h"

/* Before elements that equal the wanted one, or after them; NaN is the greatest, and comes last in its row. */
typedef struct {
    int type;            /* NumPy's number */
    int after;
    const char *rows;    /* side by side, of n elements each */
    npy_intp n;
    const char *wanted;  /* so many for each row */
    npy_intp per_row;
    void *found;         /* int32 or int64 */
    int is_int32;
} gs_search;

/* Looks for the elements first <= i < last. Called without the GIL. */
void gs_run_search(void *search, npy_intp first, npy_intp last);

/* Is there a loop for NumPy's type? */
int gs_can_search(int type);

#endif
