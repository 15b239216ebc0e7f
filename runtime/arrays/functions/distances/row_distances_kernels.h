/* Distances between the rows of matrices, and their gradients; see row_distances_kernels.c. */
#ifndef GRADSMITH_ROW_DISTANCES_KERNELS_H
#define GRADSMITH_ROW_DISTANCES_KERNELS_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

typedef enum { GS_GREATEST = 0, GS_TAXICAB = 1, GS_EUCLIDEAN = 2 } gs_norm;

/* Batches of matrices of NPY_FLOAT32 or NPY_FLOAT64 by rows: `rows` is (n_batches, n_rows, width), `others` is
 * (n_batches, n_others, width).
 *
 * Without weights, `to` gets the distances (n_batches, n_rows, n_others).  With weights of that shape, it gets for each row the
 * weighted sum of the steps from the others to it, (n_batches, n_rows, width): their differences for GS_EUCLIDEAN, the signs of
 * these for GS_TAXICAB, and for GS_GREATEST those signs where the difference is the distance, which `norms` gives.  `to_row`
 * and `to_other` lead from one element of weights, and of `norms`, to the next. */
typedef struct {
    int type;
    gs_norm norm;
    npy_intp n_batches, n_rows, n_others, width;
    const char *rows, *others, *weights, *norms;
    npy_intp to_row, to_other;
    char *to;
    char *panels, *memory; /* of gs_begin_distances */
} gs_distances;

/* 0 without memory. */
int gs_begin_distances(gs_distances *d);
void gs_end_distances(gs_distances *d);

/* The work is gs_distance_pieces(d) pieces, of which each stands for itself. */
npy_intp gs_distance_pieces(const gs_distances *d);
void gs_run_distances(void *d, npy_intp first, npy_intp last);

GS_HIDDEN_END

#endif
