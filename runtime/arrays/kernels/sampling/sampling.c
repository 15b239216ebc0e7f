/* Note [Channels side by side]
 *
 * All channels of a point are read from the same places of an image.  So images and values are turned to have their
 * channels side by side, some at a time: an element of an image then is a vector, which is loaded, multiplied with one
 * weight and added, where single elements would each be fetched from a place of their own.
 *
 *     image[channel][element]   ->   turned[element][channel]
 *
 * Where points are too few to turn an image for, or there is one channel, elements are fetched as the image is.
 *
 * Sums have one order, whatever the number of threads.
 */
#include "sampling.h"
#include "support/simd.h"
#include "threads/thread_pool.h"
#include "walks/transposed.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 256  /* points whose values are turned at once */
#define WIDEST 16  /* channels */
#define CHUNK 4096 /* points that are at least worth turning an image for */
#define SMALL 8192 /* elements of a channel that stays in the cache */

typedef struct {
    const gs_samples *samples;
    const void *image, *values, *weights;
    const npy_int64 *places;
    void *result;
    npy_intp width, n_groups; /* channels that are turned at once, and how often that is */
    npy_intp chunk, n_chunks; /* points of an item */
    int is_out_of_memory;
} sampling;

/* Some points of an image; `step` is the distance of taps. */
typedef struct {
    const npy_int64 *places;
    const void *weights;
    npy_intp n, taps, step;
} block;

static npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static block
block_of(const sampling *job, npy_intp image, npy_intp point, npy_intp n, size_t item_size)
{
    const gs_samples *s = job->samples;
    npy_intp start = image * s->taps * s->points + point;
    const char *weights = job->weights == NULL ? NULL : (const char *)job->weights + (size_t)start * item_size;
    return (block){job->places + start, weights, n, s->taps, s->points};
}

#include "support/with_float32.h"
#include "sampling_kernels.h"
#include "support/with_float64.h"
#include "sampling_kernels.h"

GS_CLONES static npy_int64
greatest(const npy_int64 *places, npy_intp n)
{
    npy_int64 most = -1;
    for (npy_intp i = 0; i < n; i++) {
        most = places[i] > most ? places[i] : most;
    }
    return most;
}

static int
expect_inside(const gs_samples *s, const npy_int64 *places)
{
    npy_int64 most = greatest(places, s->images * s->taps * s->points);
    if (most >= s->size) {
        PyErr_Format(PyExc_IndexError, "a place, %lld, is outside of an image of %zd elements", (long long)most, s->size);
        return -1;
    }
    return 0;
}

static void
lay_out(sampling *job)
{
    const gs_samples *s = job->samples;
    job->width = s->channels == 1 ? 1 : s->channels <= 4 ? 4 : s->channels <= 8 ? 8 : WIDEST;
    job->n_groups = (s->channels + job->width - 1) / job->width;
    job->chunk = (s->size > CHUNK ? s->size : CHUNK) / BLOCK * BLOCK;
    job->n_chunks = (s->points + job->chunk - 1) / job->chunk;
}

static int
is_taken(const gs_samples *s)
{
    return s->channels == 1 || s->points * s->taps <= (s->size <= SMALL ? s->size : s->size / 4);
}

static int
run(gs_task task, sampling *job, npy_intp n_items, npy_intp n_points)
{
    npy_intp cost = n_points * job->samples->taps * job->width / 4 + job->samples->size * job->width;
    gs_parallel(task, job, n_items, cost, 1);
    if (job->is_out_of_memory) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
gs_sample(const gs_samples *s, const void *image, const void *weights, const npy_int64 *places, void *values)
{
    sampling job = {.samples = s, .image = image, .weights = weights, .places = places, .result = values};
    if (expect_inside(s, places) < 0) {
        return -1;
    }
    lay_out(&job);
    gs_task task = s->type == NPY_FLOAT32 ? sample_chunks_float32 : sample_chunks_float64;
    if (is_taken(s)) {
        task = s->type == NPY_FLOAT32 ? take_chunks_float32 : take_chunks_float64;
    }
    return run(task, &job, s->images * job.n_groups * job.n_chunks, smaller(job.chunk, s->points));
}

int
gs_spread_samples(const gs_samples *s, const void *values, const void *weights, const npy_int64 *places, void *image)
{
    sampling job = {.samples = s, .values = values, .weights = weights, .places = places, .result = image};
    if (expect_inside(s, places) < 0) {
        return -1;
    }
    lay_out(&job);
    return run(s->type == NPY_FLOAT32 ? spread_groups_float32 : spread_groups_float64, &job, s->images * job.n_groups,
               s->points);
}

int
gs_weigh_samples(const gs_samples *s, const void *values, const void *image, const npy_int64 *places, void *weights)
{
    sampling job = {.samples = s, .values = values, .image = image, .places = places, .result = weights};
    if (expect_inside(s, places) < 0) {
        return -1;
    }
    lay_out(&job);
    size_t item_size = s->type == NPY_FLOAT32 ? 4 : 8;
    memset(weights, 0, item_size * (size_t)(s->images * s->taps * s->points));
    gs_task task = s->type == NPY_FLOAT32 ? weigh_chunks_float32 : weigh_chunks_float64;
    return run(task, &job, s->images * job.n_chunks, smaller(job.chunk, s->points) * job.n_groups);
}
