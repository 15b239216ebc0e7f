/* Greatest elements and means of windows of images, and the transposes of both. */
#ifndef GRADSMITH_POOLING_H
#define GRADSMITH_POOLING_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

#define GS_POOLED 3 /* dimensions; leading ones of size one where there are fewer */

/* Images of one channel, and a window for each place of an output; all row by row.  Elements that are not outside of
 * the image alone count, so a window is given by the first of them and by the place after the last. */
typedef struct {
    int type; /* NPY_FLOAT32 or NPY_FLOAT64; for maxima NPY_INT64 too */
    npy_intp images;
    npy_intp image[GS_POOLED], output[GS_POOLED];
    npy_intp step[GS_POOLED];            /* between elements of a window */
    const npy_intp *spans[GS_POOLED];    /* two for each place of the output */
    const npy_intp *divisors[GS_POOLED]; /* of means: each place has three, whose product divides the sum */
} gs_windows;

/* Of the sizes of three dimensions. */
static inline npy_intp
gs_volume(const npy_intp *sizes)
{
    return sizes[0] * sizes[1] * sizes[2];
}

/* Elements that all outputs of an image read, as if along each dimension all windows had the size of the first. */
npy_intp gs_cost_of_windows(const gs_windows *w);

/* Called with the GIL, which large ones release; -1 with an exception. */

/* `places` are those in the image: of equal elements the first, of NaN the last. */
int gs_window_maxima(const gs_windows *w, const void *image, void *maxima, npy_int64 *places);
int gs_window_means(const gs_windows *w, const void *image, void *means);
int gs_spread_means(const gs_windows *w, const void *means, void *image);

/* The elements of each of some images at places of its own, and their sums there. */
typedef struct {
    int type; /* NPY_FLOAT32 or NPY_FLOAT64 */
    npy_intp images, size, n_places;
} gs_places;

int gs_take_places(const gs_places *p, const void *image, const npy_int64 *places, void *found);
int gs_add_to_places(const gs_places *p, const void *values, const npy_int64 *places, void *image);

GS_HIDDEN_END

#endif
