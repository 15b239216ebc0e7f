#include "clamped_kernels.h"
#include "support/simd.h"

#define TEMPLATE "runtime/arrays/functions/ordered/clamped_template.h"
#include "each_real_type.h"

void
gs_clamp_integers(void *clamped, npy_intp first, npy_intp last)
{
    const gs_clamped *c = clamped;
#define CLAMP(suffix) clamp_##suffix(c, first, last)
    switch (gs_real_type(c->type)) {
        GS_REAL_CASES(CLAMP)
    }
}
