/* The elements of images that the points of grids stand between, and their weights. */
#ifndef GRADSMITH_POINTS_KERNELS_H
#define GRADSMITH_POINTS_KERNELS_H

#include "support/numpy_api.h"

enum { GS_ZEROS, GS_BORDER, GS_REFLECTION };

/* Grids are (images, points, coordinates), places and weights (images, taps, points), row by row.  There are two taps along
 * each coordinate, or one with `nearest`; those of the first coordinate take turns first.  A place outside of the image is
 * negative.  Each step is rounded as the ops round it that nn/grids.py is made of. */
typedef struct {
    int type; /* NPY_FLOAT32 or NPY_FLOAT64 */
    int coordinates, nearest, padding, aligned;
    npy_intp images, points;
    npy_intp sizes[3]; /* along each coordinate: the last size of an image comes first */
    const void *grid;
    npy_int64 *places;
    void *weights; /* not written with `nearest` */
} gs_points;

/* Of the blocks of points first <= i < last; each image has gs_blocks_of_points of them. Called without the GIL. */
void gs_find_places(void *points, npy_intp first, npy_intp last);
npy_intp gs_blocks_of_points(const gs_points *p);

#endif
