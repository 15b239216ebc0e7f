/* Integers between two bounds. */
#ifndef GRADSMITH_CLAMPED_KERNELS_H
#define GRADSMITH_CLAMPED_KERNELS_H

#include "support/numpy_api.h"

typedef struct {
    int type; /* NumPy's number */
    const char *from;
    char *to;                 /* may be `from` */
    npy_int64 least, greatest; /* numbers of the type; the greatest counts where it is below the least */
} gs_clamped;

/* Called without the GIL. */
void gs_clamp_integers(void *clamped, npy_intp first, npy_intp last);

#endif
