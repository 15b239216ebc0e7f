#include "factors/lapack.h"
#include "products/blas.h"

/* Of NumPy's own wheels, and of OpenBLAS as distributions build it for integers of 64 bits. */
static const char *const sytrd_names[] = {"scipy_dsytrd_64_", "dsytrd_64_", NULL};
static const char *const stedc_names[] = {"scipy_dstedc_64_", "dstedc_64_", NULL};
static const char *const bdsdc_names[] = {"scipy_dbdsdc_64_", "dbdsdc_64_", NULL};

const gs_lapack *
gs_lapack_of_numpy(void)
{
    static gs_lapack found;
    static int is_known;
    if (!is_known) {
        /* Through a union, since C has no cast from an object to a function. */
        union {
            void *addresses[3];
            gs_lapack functions;
        } known = {{gs_function_of_numpy(sytrd_names), gs_function_of_numpy(stedc_names),
                    gs_function_of_numpy(bdsdc_names)}};
        found = known.functions;
        is_known = 1;
    }
    return found.sytrd != NULL && found.stedc != NULL && found.bdsdc != NULL ? &found : NULL;
}
