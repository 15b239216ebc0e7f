/* Inner loops of functions of two numbers, as those of NumPy's ufuncs. */
#ifndef GRADSMITH_ELEMENTARY_PAIRS_H
#define GRADSMITH_ELEMENTARY_PAIRS_H

#include "support/loops.h"

GS_HIDDEN_BEGIN

/* Puts a loop of our own for NPY_FLOAT32 or NPY_FLOAT64 in the place of NumPy's, which it calls where that serves. */
void gs_take_pair_loop(gs_ufunc ufunc, int type, gs_loop *loop);

GS_HIDDEN_END

#endif
