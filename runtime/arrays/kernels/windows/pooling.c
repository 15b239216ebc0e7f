/* Note [Windows in two passes]
 *
 * The rows of a window are folded into one row first, which is a loop over whole rows and so one over vectors, and the
 * columns of that row are gone over for each place of the output.  Rows are those of all windows that lie above one
 * another, so nothing is read twice along a row.  Threads take whole images: sums have one order, whatever their number.
 */
#include "pooling.h"
#include "reductions/sum.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const gs_windows *windows;
    const void *from;
    void *to;
    int is_out_of_memory;
} pooling;

typedef struct {
    const gs_places *geometry;
    const void *from;
    const npy_int64 *places;
    void *to;
    int is_outside;
} placing;

/* Is there one window, which is the whole image? */
static int
is_whole(const gs_windows *w)
{
    int found = w->images > 0;
    for (int i = 0; i < GS_POOLED; i++) {
        found = found && w->output[i] == 1 && w->spans[i][0] == 0 && w->spans[i][1] == w->image[i];
    }
    return found;
}

static npy_intp
divisor_of_whole(const gs_windows *w)
{
    return w->divisors[0][0] * w->divisors[1][0] * w->divisors[2][0];
}

#define REAL float
#define NAME(x) x##_float32
#include "pooling_kernels.h"
#undef REAL
#undef NAME

#define REAL double
#define NAME(x) x##_float64
#include "pooling_kernels.h"
#undef REAL
#undef NAME

npy_intp
gs_cost_of_windows(const gs_windows *w)
{
    npy_intp cost = gs_volume(w->output) * 4;
    for (int i = 0; i < GS_POOLED; i++) {
        cost *= w->output[i] ? (w->spans[i][1] - w->spans[i][0] + w->step[i] - 1) / w->step[i] : 0;
    }
    return cost + gs_volume(w->image);
}

static int
pool(gs_task task, const gs_windows *w, const void *from, void *to)
{
    pooling job = {.windows = w, .from = from, .to = to};
    gs_parallel(task, &job, w->images, gs_cost_of_windows(w), 1);
    if (job.is_out_of_memory) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
gs_window_means(const gs_windows *w, const void *image, void *means)
{
    if (is_whole(w)) {
        return w->type == NPY_FLOAT32 ? means_of_whole_images_float32(w, image, means)
                                      : means_of_whole_images_float64(w, image, means);
    }
    return pool(w->type == NPY_FLOAT32 ? means_of_images_float32 : means_of_images_float64, w, image, means);
}

int
gs_spread_means(const gs_windows *w, const void *means, void *image)
{
    gs_task task = w->type == NPY_FLOAT32 ? spread_over_images_float32 : spread_over_images_float64;
    if (is_whole(w)) {
        task = w->type == NPY_FLOAT32 ? spread_over_whole_images_float32 : spread_over_whole_images_float64;
    }
    return pool(task, w, means, image);
}

static int
place(gs_task task, const gs_places *p, const void *from, const npy_int64 *places, void *to)
{
    placing job = {.geometry = p, .from = from, .places = places, .to = to};
    gs_parallel(task, &job, p->images, p->n_places * 2 + p->size, 1);
    if (job.is_outside) {
        PyErr_Format(PyExc_IndexError, "a place is outside of an image of %zd elements", p->size);
        return -1;
    }
    return 0;
}

int
gs_take_places(const gs_places *p, const void *image, const npy_int64 *places, void *found)
{
    return place(p->type == NPY_FLOAT32 ? take_places_float32 : take_places_float64, p, image, places, found);
}

int
gs_add_to_places(const gs_places *p, const void *values, const npy_int64 *places, void *image)
{
    return place(p->type == NPY_FLOAT32 ? add_to_places_float32 : add_to_places_float64, p, values, places, image);
}
