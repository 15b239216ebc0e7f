/* Note [Few of many]
 *
 * The best elements so far are kept in order. Few of the others ever get among them: of a row in random order, the i-th
 * with the probability k / i. So a block of elements is compared with the last of the best at once, in vectors, and looked
 * through only where one of them goes before it.
 *
 * A row that is almost in order is not in random order: each of its elements might get among the best, to be driven out by
 * the next ones. So a long row is first gone over for a bound. It is laid in lanes; the k-th best of the best
 * elements of the lanes is one that k elements reach, and few others do. What does not reach it is passed over.
 */
#include "selection_kernels.h"
#include "support/simd.h"

enum {
    BLOCK = 32,
    LANES = 2 * GS_MOST_SELECTED,
    LONG = 16 * LANES, /* elements from which on the bound is worth it */
    FEW = 32,          /* of however many; a sort takes less time for more, unless it is one in FEW_OF */
    FEW_OF = 16
};

#define TEMPLATE "runtime/arrays/functions/counting/selection_template.h"
#include "each_real_type.h"

int
gs_can_select(int type, npy_intp n, npy_intp k)
{
    if (k > GS_MOST_SELECTED || (k > FEW && n < FEW_OF * k))
        return 0;
#define YES(suffix) return 1
    switch (gs_real_type(type)) {
        GS_REAL_CASES(YES)
    }
    return 0;
}

void
gs_select_rows(void *selection, npy_intp first, npy_intp last)
{
    const gs_selection *s = selection;
#define SELECT(suffix) (s->largest ? greatest_##suffix : least_##suffix)(s, first, last)
    switch (gs_real_type(s->type)) {
        GS_REAL_CASES(SELECT)
    }
}
