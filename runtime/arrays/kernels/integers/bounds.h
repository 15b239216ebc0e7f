/* Inner loops of maximum and minimum of integers, as those of NumPy's ufuncs. */
#ifndef GRADSMITH_INTEGER_BOUNDS_H
#define GRADSMITH_INTEGER_BOUNDS_H

#include "support/loops.h"

GS_HIDDEN_BEGIN

/* The loop for a type of integers, or NULL: for another type or ufunc. NumPy's take three times as long beside one number. */
gs_loop_function gs_integer_bound_loop(gs_ufunc ufunc, int type);

GS_HIDDEN_END

#endif
