#include "decompositions/lapack.h"
#include "products/blas.h"

/* Of NumPy's own wheels, and of OpenBLAS as distributions build it for integers of 64 bits. */
static const char *const names[2][3][3] = {
    {
        {"scipy_ssytrd_64_", "ssytrd_64_", NULL},
        {"scipy_sstedc_64_", "sstedc_64_", NULL},
        {"scipy_sbdsdc_64_", "sbdsdc_64_", NULL},
    },
    {
        {"scipy_dsytrd_64_", "dsytrd_64_", NULL},
        {"scipy_dstedc_64_", "dstedc_64_", NULL},
        {"scipy_dbdsdc_64_", "dbdsdc_64_", NULL},
    },
};

/* Through a union, since C has no cast from an object to a function. */
static gs_function
function_of(const char *const *candidates)
{
    union {
        void *address;
        gs_function function;
    } found = {gs_function_of_numpy(candidates)};
    return found.function;
}

const gs_lapack *
gs_lapack_of_numpy(int type)
{
    static gs_lapack found[2];
    static int is_known[2];
    int number = type == NPY_FLOAT64;
    if (!is_known[number]) {
        found[number] = (gs_lapack){function_of(names[number][0]), function_of(names[number][1]),
                                    function_of(names[number][2])};
        is_known[number] = 1;
    }
    const gs_lapack *lapack = &found[number];
    return lapack->sytrd != NULL && lapack->stedc != NULL && lapack->bdsdc != NULL ? lapack : NULL;
}
