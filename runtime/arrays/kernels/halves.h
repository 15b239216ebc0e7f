/* Loops for float16, which are those of float32 between two conversions.  See Note [Halves] in halves.c. */
#ifndef GRADSMITH_HALVES_H
#define GRADSMITH_HALVES_H

#include "fused.h"
#include "support/loops.h"

GS_HIDDEN_BEGIN

/* The loop that converts elements of one type to another, of which one is float16; or NULL. */
gs_loop_function gs_half_converter(int from, int to);

/* Fills in the loop for float16; 0 when float32 has none, or the op is not the same in both. */
int gs_take_half_loop(gs_ufunc ufunc, gs_loop *loop);

/* Computes a formula in float32 and rounds it once at the end. `out` is one of the inputs or shares no memory with them.
 * 0, and nothing is written, unless all are float16, of one shape and contiguous. */
int gs_fused_halves(const gs_fused_kernel *kernel, PyObject *const *inputs, const double *scalars, PyObject *out);

/* The loop of float32 over halves and one float, each result rounded to a half. Both arrays are contiguous and of one shape;
 * they are the same one, or share no memory. */
void gs_halves_with_number(const gs_loop *loop, PyObject *a, float number, int number_first, PyObject *out);

GS_HIDDEN_END

#endif
