/* Running maxima and minima with their places. */
#ifndef GRADSMITH_EXTREMES_KERNELS_H
#define GRADSMITH_EXTREMES_KERNELS_H

#include "support/numpy_api.h"

/* Memory is (outer, length, inner), by rows. Of equal elements the last one is named; NaN outdoes all others, and of several
 * the last one is named too. */
typedef struct {
    int type; /* NumPy's number */
    int largest;
    npy_intp length, inner;
    const char *a;
    char *values;
    npy_int64 *places;
} gs_running_extremes;

/* How many tasks there are for each of `outer`. */
npy_intp gs_extreme_tiles(npy_intp inner);

/* Does the tasks first <= i < last. Called without the GIL. */
void gs_run_extremes(void *extremes, npy_intp first, npy_intp last);

/* Is there a loop for NumPy's type? */
int gs_has_extremes(int type);

#endif
