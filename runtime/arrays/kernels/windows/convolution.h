/* Convolutions of one to three dimensions, and their transposes. */
#ifndef GRADSMITH_CONVOLUTION_H
#define GRADSMITH_CONVOLUTION_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

#define GS_CONVOLVED 3 /* dimensions; leading ones of size one where there are fewer */

/* An image is (images, groups * inner, *image), a weight (groups * outer, inner, *window), and an output
 * (images, groups * outer, *output), all NPY_FLOAT32 or all NPY_FLOAT64, row by row.  They are bound by
 *
 *     output[n, g, o, p] = sum over i, k of image[n, g, i, p * stride + k * dilation - padding] * weight[g, o, i, k]
 *
 * where the image is zero outside of its size.  Given two of them, each of these functions computes the third as the
 * sum over all products in which it stands. */
typedef struct {
    int type;
    npy_intp images, groups, inner, outer;
    npy_intp image[GS_CONVOLVED], window[GS_CONVOLVED], output[GS_CONVOLVED];
    npy_intp stride[GS_CONVOLVED], dilation[GS_CONVOLVED], padding[GS_CONVOLVED];
} gs_convolution;

/* Called with the GIL, which large ones release; -1 with MemoryError. */
int gs_convolve_output(const gs_convolution *c, const void *image, const void *weight, const void *bias, void *output);
int gs_convolve_image(const gs_convolution *c, const void *output, const void *weight, void *image);
int gs_convolve_weight(const gs_convolution *c, const void *output, const void *image, void *weight);

GS_HIDDEN_END

#endif
