/* Products of matrices of integers, which wrap around. */
#ifndef GRADSMITH_INTEGER_PRODUCTS_H
#define GRADSMITH_INTEGER_PRODUCTS_H

#include "support/loops.h"

GS_HIDDEN_BEGIN

/* A loop that is called as that of NumPy's matmul, for results whose columns lie side by side; NULL for other types. */
gs_loop_function gs_integer_matmul(int type);

GS_HIDDEN_END

#endif
