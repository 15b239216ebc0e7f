/* Note [Resizing in two passes]
 *
 * One loop does everything: `fold` adds up rows of n elements, each times a number.  Down the image rows are rows of the
 * image.  Across it they would be single elements, so as many rows as a vector has lanes are turned to lie side by side
 * first, and turned back afterwards:
 *
 *     image[row][column]   ->   turned[column][row]   -fold->   turned[place][row]   ->   result[row][place]
 *
 * Where channels lie side by side already, and are many, nothing is turned.  An image that becomes lower is folded down
 * before it is folded across, one that becomes higher afterwards: so the second pass has less to do.
 *
 * The transpose of a resizing is another one, whose spans are the places that see an element.  So backward is this kernel
 * too, and no element is added to by several threads.  Sums have one order, whatever the number of threads.
 */
#include "sampling/resampling.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BAND 64 /* rows of a result that are one item of work */

typedef struct {
    const gs_resampling *r;
    const void *image;
    void *result;
    npy_intp bands; /* of each image */
    int is_out_of_memory;
} resizing;

static npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static npy_intp
larger(npy_intp a, npy_intp b)
{
    return a > b ? a : b;
}

static int
goes_down_first(const gs_resampling *r)
{
    return r->to[0] < r->from[0];
}

/* The rows of an image that some rows of the result see. */
static void
rows_seen(const gs_resampling *r, npy_intp first, npy_intp last, npy_intp *low, npy_intp *high)
{
    *low = r->from[0];
    *high = 0;
    for (npy_intp i = first; i < last; i++) {
        *low = smaller(*low, r->spans[0][2 * i]);
        *high = larger(*high, r->spans[0][2 * i + 1]);
    }
    *high = larger(*high, *low);
}

#define KERNELS "sampling/resampling_kernels.h"
#include "instruction_sets/each_kernel.h"
#undef KERNELS

/* Additions of an item, of which a vector has some. */
static npy_intp
cost_of(const gs_resampling *r)
{
    npy_intp rows = smaller(BAND, r->to[0]), across = r->to[1] * (r->most[1] + 1);
    return rows * (larger(r->from[1], r->to[1]) * (r->most[0] + 1) + across) * r->inner / 4 + 1;
}

int
gs_resample(const gs_resampling *r, const void *image, void *result)
{
    resizing job = {.r = r, .image = image, .result = result, .bands = (r->to[0] + BAND - 1) / BAND};
    const gs_task *task = BEST_KERNELS(resize_bands, r->type);
    gs_parallel(*task, &job, r->images * job.bands, cost_of(r), 1);
    if (job.is_out_of_memory) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}
