/* Note [Ranks by counting]
 *
 * How many elements of a row are less than a bound is counted in vectors, without a branch for each.  Elements are integers
 * for that, in the order of the numbers: the bits of a floating number, where those of negative ones are turned round.
 *
 * In a row of few elements each is compared with each: as many come before an element as its rank says.  A longer row is
 * made shorter first: it is split at the one of some of its elements that should be the nearest, and only the side with the
 * rank is kept.  Where all elements are near each other, as small integers are, the range of the numbers that the wanted one
 * might be is halved instead, with as many counts as the range has bits.
 */
#include "ranked_kernels.h"
#include "support/simd.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 32,    /* elements that are each compared with each to find the one of a rank */
    SHORT = 512, /* elements of a row whose keys need no memory of their own */
    SOME = 16,   /* elements from which one is chosen to split a row */
    NARROW = 4096,
    MOST_SPLITS = 48
};

#define TEMPLATE "runtime/arrays/functions/counting/ranked_template.h"
#include "each_real_type.h"

int
gs_can_rank(int type)
{
#define YES(suffix) return 1
    switch (gs_real_type(type)) {
        GS_REAL_CASES(YES)
    }
    return 0;
}

void
gs_rank_rows(void *ranking, npy_intp first, npy_intp last)
{
    gs_ranking *r = ranking;
#define FIND(suffix) rank_rows_##suffix(r, first, last)
    switch (gs_real_type(r->type)) {
        GS_REAL_CASES(FIND)
    }
}

void
gs_order_short_rows(void *rows, npy_intp first, npy_intp last)
{
    const gs_short_rows *r = rows;
#define ORDER(suffix) order_rows_##suffix(r, first, last)
    switch (gs_real_type(r->type)) {
        GS_REAL_CASES(ORDER)
    }
}
