/* Python and NumPy numbers as elements of arrays.
 *
 * Note [Numbers that do not fit]
 * PyTorch converts a number in two ways.  An operand of arithmetic is a tensor of its own, and its integer wraps around
 * on the way to the common type: int8 + 300 is int8 + 44.  A value to be stored (fill_, masked_fill, full, scatter), a
 * bound of clamp and an exponent are checked: what the type cannot hold is an error.  Checked are integers, fractions
 * beyond the last integer, NaN in integers, imaginary parts in real types, and finite numbers that would become infinite.
 * A negative integer goes into an unsigned type by its two's complement as long as its magnitude fits.
 */
#ifndef GRADSMITH_NUMBERS_H
#define GRADSMITH_NUMBERS_H

#include "numpy_api.h"

GS_HIDDEN_BEGIN

/* The category of a Python or NumPy number; raises TypeError for anything else. */
int gs_number_category(PyObject *number);

/* Writes a number as one element of a type, or raises RuntimeError: the type cannot hold it. */
int gs_store_number(PyObject *number, int type, char *element);

/* The same for an operand of arithmetic: integers wrap around, floats become infinite.  OverflowError beyond 64 bits. */
int gs_wrap_number(PyObject *number, int type, char *element);

/* The place of an integer: below (-1), within (0) or above (1) the range of an integer type. */
int gs_side_of_range(PyObject *number, int type);

GS_HIDDEN_END

#endif
