#include "modes_kernels.h"
#include "support/simd.h"

#define TEMPLATE "runtime/arrays/functions/frequency/modes_template.h"
#include "each_real_type.h"

int
gs_has_modes(int type)
{
#define YES(suffix) return 1
    switch (gs_real_type(type)) {
        GS_REAL_CASES(YES)
    }
    return 0;
}

void
gs_find_modes(void *modes, npy_intp first, npy_intp last)
{
    const gs_modes *m = modes;
#define FIND(suffix) modes_##suffix(m, first, last)
    switch (gs_real_type(m->type)) {
        GS_REAL_CASES(FIND)
    }
}
