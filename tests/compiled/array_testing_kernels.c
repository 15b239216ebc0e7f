#include "array_testing_kernels.h"

#define KERNELS(suffix, real)                                                                      \
    GS_CLONES static void scale_##suffix(char **args, const double *scalars, npy_intp n)          \
    {                                                                                              \
        const real *x = (const real *)args[0];                                                     \
        real *out = (real *)args[1];                                                               \
        const real factor = (real)scalars[0];                                                      \
        GS_IVDEP                                                                                   \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            out[i] = x[i] * factor;                                                                \
        }                                                                                          \
    }                                                                                              \
    GS_CLONES static void tanh_backward_##suffix(char **args, const double *scalars, npy_intp n)  \
    {                                                                                              \
        const real *x = (const real *)args[0];                                                     \
        const real *y = (const real *)args[1];                                                     \
        real *out = (real *)args[2];                                                               \
        (void)scalars;                                                                             \
        GS_IVDEP                                                                                   \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            out[i] = x[i] * ((real)1 - y[i] * y[i]);                                               \
        }                                                                                          \
    }                                                                                              \
    GS_CLONES static void multiply_add_##suffix(char **args, const double *scalars, npy_intp n)   \
    {                                                                                              \
        const real *x = (const real *)args[0];                                                     \
        const real *y = (const real *)args[1];                                                     \
        const real *z = (const real *)args[2];                                                     \
        real *out = (real *)args[3];                                                               \
        (void)scalars;                                                                             \
        GS_IVDEP                                                                                   \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            out[i] = x[i] + y[i] * z[i];                                                           \
        }                                                                                          \
    }

KERNELS(f4, float)
KERNELS(f8, double)

const gs_fused_kernel gs_test_scale = {"scale", {scale_f4, scale_f8}, 1, 1, 1, {0}, {0}};
const gs_fused_kernel gs_test_tanh_backward = {
    "tanh_backward", {tanh_backward_f4, tanh_backward_f8}, 2, 0, 2, {GS_GRAD, GS_SAVED}, {0}};
const gs_fused_kernel gs_test_multiply_add = {
    "multiply_add", {multiply_add_f4, multiply_add_f8}, 3, 0, 2, {GS_GRAD, GS_SAVED, GS_SAVED + 1}, {0}};
