#include "decompositions/decompositions.h"
#include "decompositions/lapack.h"

int
gs_can_decompose(void)
{
    return gs_lapack_of_numpy(NPY_FLOAT32) != NULL && gs_lapack_of_numpy(NPY_FLOAT64) != NULL;
}

int
gs_qr(int type, const void *a, const gs_qr_results *results, npy_intp count, npy_intp m, npy_intp n, npy_intp k)
{
    return type == NPY_FLOAT32 ? gs_qr_float32(a, results, count, m, n, k) : gs_qr_float64(a, results, count, m, n, k);
}

npy_intp
gs_eigh(int type, const void *a, void *values, void *vectors, npy_intp count, npy_intp n)
{
    return type == NPY_FLOAT32 ? gs_eigh_float32(a, values, vectors, count, n)
                               : gs_eigh_float64(a, values, vectors, count, n);
}

npy_intp
gs_svd(int type, const void *a, void *u, void *values, void *vh, npy_intp count, npy_intp m, npy_intp n, npy_intp left)
{
    return type == NPY_FLOAT32 ? gs_svd_float32(a, u, values, vh, count, m, n, left)
                               : gs_svd_float64(a, u, values, vh, count, m, n, left);
}
