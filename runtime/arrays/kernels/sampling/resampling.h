/* Images of other sizes: each of two dimensions by itself is a few weighted elements for each place of the result. */
#ifndef GRADSMITH_RESAMPLING_H
#define GRADSMITH_RESAMPLING_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Images are (images, from[0], from[1], inner), results (images, to[0], to[1], inner), of NPY_FLOAT32 or NPY_FLOAT64, and
 * row by row.  Along a dimension d
 *
 *     result[i] = sum over k of weights[i, k] * image[spans[i, 0] + k]
 *
 * for spans[i, 0] + k below spans[i, 1].  Spans lie within the image and may be empty; weights are (to[d], most[d]), of the
 * type of images.  A dimension without spans stays as it is. */
typedef struct {
    int type;
    npy_intp images, inner;
    npy_intp from[2], to[2], most[2];
    const npy_intp *spans[2];
    const void *weights[2];
} gs_resampling;

/* Called with the GIL, which large ones release; -1 with MemoryError. */
int gs_resample(const gs_resampling *r, const void *image, void *result);

GS_HIDDEN_END

#endif
