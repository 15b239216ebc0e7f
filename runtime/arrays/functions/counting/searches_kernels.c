/* Note [Searches side by side]
 *
 * A binary search decides log n times which half to go on with. These are not branches here, half of which would be
 * foreseen wrongly, but additions: every search of a row takes the same steps. So a group of searches goes through each
 * step together, and while the memory for one is awaited, the others proceed.
 */
#include "searches_kernels.h"
#include "support/simd.h"

enum { GROUP = 16 };

#define TEMPLATE "runtime/arrays/functions/counting/searches_template.h"
#include "each_real_type.h"

int
gs_can_search(int type)
{
#define YES(suffix) return 1
    switch (gs_real_type(type)) {
        GS_REAL_CASES(YES)
    }
    return 0;
}

void
gs_run_search(void *search, npy_intp first, npy_intp last)
{
    const gs_search *s = search;
#define RUN(suffix) (s->after ? search_after_##suffix : search_before_##suffix)(s, first, last)
    switch (gs_real_type(s->type)) {
        GS_REAL_CASES(RUN)
    }
}
