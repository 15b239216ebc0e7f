#include "points_kernels.h"
#include "support/simd.h"

#include <math.h>

#define BLOCK 256
#define MOST 3 /* coordinates */

#include "support/with_float32.h"
#include "points_template.h"
#include "support/with_float64.h"
#include "points_template.h"

npy_intp
gs_blocks_of_points(const gs_points *p)
{
    return (p->points + BLOCK - 1) / BLOCK;
}

void
gs_find_places(void *points, npy_intp first, npy_intp last)
{
    const gs_points *p = points;
    npy_intp blocks = gs_blocks_of_points(p);
    for (npy_intp i = first; i < last; i++) {
        npy_intp start = i % blocks * BLOCK, n = p->points - start < BLOCK ? p->points - start : BLOCK;
        (p->type == NPY_FLOAT32 ? find_places_float32 : find_places_float64)(p, i / blocks, start, n);
    }
}
