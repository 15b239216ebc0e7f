/* Fused kernels for the tests of the executor: x * scalar, x * (1 - y * y), x + y * z. */
#ifndef GRADSMITH_ARRAY_TESTING_KERNELS_H
#define GRADSMITH_ARRAY_TESTING_KERNELS_H

#include "runtime/arrays/kernels/fused.h"

GS_HIDDEN_BEGIN
extern const gs_fused_kernel gs_test_scale, gs_test_tanh_backward, gs_test_multiply_add;
GS_HIDDEN_END

#endif
