/* Note [Tiles of short rows]
 *
 * (10, 1, 5) > (1, 10, 5) is walked in a hundred rows of five elements, and NumPy's loops, made for long rows, take ten
 * times as long to begin as to compute one.  Where the result has no gaps, the elements of operands that are broadcast
 * or lie apart are gathered in tiles, row after row as the result's lie, and the loop is called once for a tile.
 */
#ifndef GRADSMITH_TILES_H
#define GRADSMITH_TILES_H

#include "iteration.h"

GS_HIDDEN_BEGIN

/* As gs_iteration_run, in tiles where rows are short.  The output, which is the last operand, does not overlap with
 * the inputs, or an input lies element by element where the output does. */
void gs_run_elementwise(gs_iteration *it, const gs_loop *loop);

GS_HIDDEN_END

#endif
