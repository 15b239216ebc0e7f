/* The ufuncs by number.  The inner loops behind them are found in loops.c and used in pointwise.c.
 *
 * Cython modules include this header through array.pxd: it must stay free of the NumPy API.
 */
#ifndef GRADSMITH_UFUNC_LOOPS_H
#define GRADSMITH_UFUNC_LOOPS_H

#define GS_UFUNC(NAME, name, rule, cost) GS_##NAME,
typedef enum {
#include "ufunc_list.h"
    GS_N_UFUNCS
} gs_ufunc;
#undef GS_UFUNC

#endif
