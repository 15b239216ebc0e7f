/* Inner loops for complex numbers where NumPy's are inexact or give other values at special points. */
#ifndef GRADSMITH_COMPLEX_LOOPS_H
#define GRADSMITH_COMPLEX_LOOPS_H

#include "loops.h"

GS_HIDDEN_BEGIN

/* NULL when NumPy's own loop serves. */
gs_loop_function gs_complex_loop(gs_ufunc ufunc, int type);

GS_HIDDEN_END

#endif
