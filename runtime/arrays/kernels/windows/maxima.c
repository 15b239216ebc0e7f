/* Note [Windows abreast]
 *
 * Along a row, windows of one size at equal distances are searched together: the k-th elements of all of them are compared
 * with the greatest element of each so far, in a loop over vectors.  Windows at the rims, which padding cuts off, are
 * searched one by one.  A long window that has no others like it beside it is searched as a vector.
 *
 * Windows that consist of consecutive whole rows are treated as windows of one long row: the places are the same.
 */
#include "pooling.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GS_LANES 16
#define GS_ABREAST 64
#define GS_FEWEST_ABREAST 4
#define GS_LARGEST_STRIDE 3 /* with loads of its own; others are slower */

/* Windows side by side.  If there are several, they have one size and begin `stride` elements apart. */
typedef struct {
    npy_intp count, stride;
} gs_run;

typedef struct {
    const gs_windows *windows;
    const gs_run *runs;
    const void *from;
    void *to;
    npy_int64 *places;
    int is_out_of_memory;
} searching;

#define REAL float
#define TAG int32_t
#define NAME(x) x##_float32
#include "maxima_kernels.h"
#undef REAL
#undef TAG
#undef NAME

#define REAL double
#define TAG int64_t
#define NAME(x) x##_float64
#include "maxima_kernels.h"
#undef REAL
#undef NAME

#define REAL int64_t
#define NAME(x) x##_int64
#include "maxima_kernels.h"
#undef REAL
#undef TAG
#undef NAME

/* How many of the `n` windows from the first are like it. */
static npy_intp
count_abreast(const npy_intp *span, npy_intp n)
{
    npy_intp count = 1;
    while (count < n && span[2 * count] - span[2 * count - 2] == span[2] - span[0] &&
           span[2 * count + 1] - span[2 * count] == span[1] - span[0]) {
        count++;
    }
    return count;
}

/* Is it worth searching them together?  Long windows are quick by themselves, and an offset must fit into a TAG. */
static int
go_abreast(npy_intp count, npy_intp stride, npy_intp size)
{
    if (stride > GS_LARGEST_STRIDE && (size >= GS_LANES || count < 2 * size - 4)) {
        return 0;
    }
    return count >= GS_FEWEST_ABREAST && size <= INT32_MAX;
}

static void
find_runs(const gs_windows *w, gs_run *runs)
{
    npy_intp n = w->output[2], count;
    for (npy_intp r = 0; r < n; r += count) {
        const npy_intp *span = w->spans[2] + 2 * r;
        npy_intp stride = r + 1 < n ? span[2] - span[0] : 0;
        count = count_abreast(span, n - r < GS_ABREAST ? n - r : GS_ABREAST);
        count = go_abreast(count, stride, span[1] - span[0]) ? count : 1;
        *runs++ = (gs_run){count, stride};
    }
}

/* Do the windows consist of consecutive whole rows? */
static int
has_whole_rows(const gs_windows *w)
{
    return w->output[2] == 1 && w->spans[2][0] == 0 && w->spans[2][1] == w->image[2] && w->step[2] == 1 &&
           w->step[1] == 1 && w->image[1] > 1;
}

/* The same windows in images of one dimension fewer; the last spans go into `spans`. */
static gs_windows
with_joined_rows(const gs_windows *w, npy_intp *spans)
{
    static const npy_intp only_one[] = {0, 1};
    for (npy_intp i = 0; i < 2 * w->output[1]; i++) {
        spans[i] = w->spans[1][i] * w->image[2];
    }
    return (gs_windows){
        .type = w->type,
        .images = w->images,
        .image = {1, w->image[0], w->image[1] * w->image[2]},
        .output = {1, w->output[0], w->output[1]},
        .step = {1, w->step[0], 1},
        .spans = {only_one, w->spans[0], spans},
    };
}

static int
search(const gs_windows *w, const void *image, void *maxima, npy_int64 *places)
{
    searching job = {.windows = w, .from = image, .to = maxima, .places = places};
    gs_run *runs = malloc(sizeof(gs_run) * (size_t)(w->output[2] + 1));
    if (runs == NULL) {
        return -1;
    }
    find_runs(w, runs);
    job.runs = runs;
    gs_task task = w->type == NPY_FLOAT32   ? maxima_of_images_float32
                   : w->type == NPY_FLOAT64 ? maxima_of_images_float64
                                            : maxima_of_images_int64;
    gs_parallel(task, &job, w->images, gs_cost_of_windows(w), 1);
    free(runs);
    return job.is_out_of_memory ? -1 : 0;
}

/* Rows are joined as long as the windows consist of whole ones. */
static int
search_in_rows(const gs_windows *w, const void *image, void *maxima, npy_int64 *places)
{
    if (!has_whole_rows(w)) {
        return search(w, image, maxima, places);
    }
    npy_intp *spans = malloc(sizeof(npy_intp) * (size_t)(2 * w->output[1] + 1));
    if (spans == NULL) {
        return -1;
    }
    gs_windows joined = with_joined_rows(w, spans);
    int result = search_in_rows(&joined, image, maxima, places);
    free(spans);
    return result;
}

int
gs_window_maxima(const gs_windows *w, const void *image, void *maxima, npy_int64 *places)
{
    if (search_in_rows(w, image, maxima, places) < 0) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}
