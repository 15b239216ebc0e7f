/* Inner loops of elementary functions, as those of NumPy's ufuncs. */
#ifndef GRADSMITH_ELEMENTARY_LOOPS_H
#define GRADSMITH_ELEMENTARY_LOOPS_H

#include "support/loops.h"

GS_HIDDEN_BEGIN

/* The loop for NPY_FLOAT32 or NPY_FLOAT64, or NULL: NumPy's serves. */
gs_loop_function gs_elementary_loop(gs_ufunc ufunc, int type);

GS_HIDDEN_END

#endif
