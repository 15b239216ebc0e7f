/* The element of a certain rank of each row. */
#ifndef GRADSMITH_RANKED_KERNELS_H
#define GRADSMITH_RANKED_KERNELS_H

#include "support/numpy_api.h"

/* Which element of an ascending row, in which NaN is the greatest: that of a rank, the middle one or NaN where there is
 * one, the middle one of the others. Of two in the middle it is the first. */
typedef enum { GS_RANK, GS_MIDDLE, GS_MIDDLE_OF_NUMBERS } gs_ranked;

typedef struct {
    int type;           /* NumPy's number */
    gs_ranked wanted;
    npy_intp rank;      /* from 0, for GS_RANK */
    const char *rows;   /* side by side, of n elements each; n > 0 */
    npy_intp n;
    char *values;       /* one for each row */
    npy_int64 *places;  /* equal elements keep the order of their places */
    int is_out_of_memory;
} gs_ranking;

/* Finds in the rows first <= i < last. Called without the GIL. */
void gs_rank_rows(void *ranking, npy_intp first, npy_intp last);

/* Rows of which all elements are put in order. */
typedef struct {
    int type;
    int descending;     /* NaN is the greatest either way, and equal elements keep their order */
    const char *rows;
    npy_intp n;         /* at most GS_FEW_TO_ORDER */
    char *values;
    npy_int64 *places;
} gs_short_rows;

enum { GS_FEW_TO_ORDER = 128 }; /* and half as many of 8 bytes */

/* Orders the rows first <= i < last. Called without the GIL, or with it. */
void gs_order_short_rows(void *rows, npy_intp first, npy_intp last);

/* Is there a loop for NumPy's type? */
int gs_can_rank(int type);

#endif
