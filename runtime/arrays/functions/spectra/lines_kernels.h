/* Discrete Fourier transforms of many lines of complex numbers, eight of them at once. */
#ifndef GRADSMITH_LINES_KERNELS_H
#define GRADSMITH_LINES_KERNELS_H

#include <numpy/npy_common.h>

#define GS_LINE_FACTORS 16

/* Arrays are (outer, length, inner), row by row, of complex numbers of single or double precision; a line is a column of
 * the second dimension. */
typedef struct {
    const void *from;
    void *to;
    npy_intp outer, length, inner;
    int is_single, is_inverse;
    double factor; /* of each result */
    int n_factors;
    int factors[GS_LINE_FACTORS]; /* of 2, 3, 4, 5 and 8; their product is the length */
    const double *turns;          /* (length, 2): the cosines and sines of each part of a full turn */
    int is_out_of_memory;         /* set when a group could not be transformed */
} gs_lines;

/* Groups of lines, which are numbered; those from first to last are transformed, which may be done on another thread. */
npy_intp gs_groups_of_lines(const gs_lines *lines);
void gs_transform_lines(void *lines, npy_intp first, npy_intp last);

#endif
