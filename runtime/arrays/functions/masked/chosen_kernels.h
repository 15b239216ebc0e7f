/* Elements where a mask is true: gathered, written, or filled with one. */
#ifndef GRADSMITH_CHOSEN_KERNELS_H
#define GRADSMITH_CHOSEN_KERNELS_H

#include "support/numpy_api.h"

/* Elements of `width` bytes side by side, and a mask of as many; false is 0. Called without the GIL. */
typedef struct {
    npy_intp width;
    npy_intp size;
    const uint8_t *mask;
    char *elements;
    char *others;        /* of which there are `count`, one after the other */
    npy_intp count;
} gs_chosen;

/* Is there a loop for elements of so many bytes? */
int gs_can_choose(npy_intp width);

/* The first `count` of the chosen elements, written to the others; how many there are. */
npy_intp gs_gather_chosen(const gs_chosen *c);

/* The others written over the first `count` of the chosen elements. */
void gs_write_chosen(const gs_chosen *c);

/* The first of the others written over all chosen elements. */
void gs_fill_chosen(const gs_chosen *c);

#endif
