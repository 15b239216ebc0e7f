/* Matrix products on AVX-512. */
#ifndef GRADSMITH_GEMM_H
#define GRADSMITH_GEMM_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* c = a @ b, or c -= a @ b, or c += a @ b, with a (m, k) and b (k, n), of NPY_FLOAT32 or NPY_FLOAT64; strides in elements,
 * columns of c have unit stride and each operand has a unit stride in one of its directions. */
typedef struct {
    int type;
    const char *a, *b;
    char *c;
    npy_intp m, k, n;
    npy_intp a_row, a_column, b_row, b_column, c_row;
    int subtracts, adds;
    const char *bias; /* n elements that are added to each row of c, or NULL */
} gs_gemm_job;

/* Can this processor, and this build, do it at all? */
int gs_gemm_is_possible(void);

/* Called with the GIL, which larger products release; -1 with MemoryError without memory for the packed operands. */
int gs_gemm(const gs_gemm_job *job);

/* The same, called without the GIL or with it, which it neither needs nor releases; -1 without an exception. */
int gs_gemm_unlocked(const gs_gemm_job *job);

GS_HIDDEN_END

#endif
