/* Sums of a few weighted elements of images for each of some points, and the transposes of these. */
#ifndef GRADSMITH_SAMPLING_H
#define GRADSMITH_SAMPLING_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Images are (images, channels, size), values (images, channels, points), weights and places (images, taps, points), of
 * NPY_FLOAT32 or NPY_FLOAT64, and row by row.  They are bound by
 *
 *     values[n, c, p] = sum over k of weights[n, k, p] * image[n, c, places[n, k, p]]
 *
 * where a negative place is outside of the image, of which nothing is taken: no weight there counts.  Given two of the
 * three, each function computes the third as the sum over all products in which it stands. */
typedef struct {
    int type;
    npy_intp images, channels, size, taps, points;
} gs_samples;

/* Called with the GIL, which large ones release; -1 with IndexError when a place is behind the end of its image, or with
 * MemoryError. */
int gs_sample(const gs_samples *s, const void *image, const void *weights, const npy_int64 *places, void *values);
int gs_spread_samples(const gs_samples *s, const void *values, const void *weights, const npy_int64 *places, void *image);
int gs_weigh_samples(const gs_samples *s, const void *values, const void *image, const npy_int64 *places, void *weights);

GS_HIDDEN_END

#endif
