/* Places that are drawn with the probabilities that weights have, and the first of the greatest elements of bags. */
#ifndef GRADSMITH_CATEGORIES_KERNELS_H
#define GRADSMITH_CATEGORIES_KERNELS_H

#include <stdint.h>

typedef enum { GS_WEIGHTS_RIGHT, GS_WEIGHTS_INVALID, GS_WEIGHTS_ZERO } gs_weights_state;

/* Of `rows` rows of `n` weights, places for `count` levels each, from 0 (included) to 1: a level counts the weights whose
 * sums it has reached.  Levels are changed; `sums` has room for n numbers.  A row with a weight that is negative or not
 * finite, or without a positive one, ends it. */
gs_weights_state gs_categories(int is_float, const void *weights, int64_t rows, int64_t n, double *sums, double *levels,
                               int64_t count, int64_t *places);

/* For each bag of rows and each column the first row of the bag with the greatest element, NaN being the greatest; bag i
 * ends before row ends[i].  -1 where a bag is empty.  Bags of
 * floats have fewer than 2^31 rows. */
void gs_first_greatest(int is_float, const void *rows, const int64_t *ends, int64_t bags, int64_t width, int64_t *places);

#endif
