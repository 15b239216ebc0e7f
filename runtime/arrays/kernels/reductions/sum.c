/* Note [Summation]
 *
 * Elements are added in 64 lanes, or 16 of a short row, a block of 4096 (or 256 rows) at a time, and the sums of blocks in
 * double.  Lanes make the additions independent, so they run at the speed of memory without -ffast-math; short chains of
 * float additions make the error smaller than NumPy's pairwise sum.
 *
 *     rows     (outer, r)          each row in blocks:              [4096][4096][...]
 *     columns  (outer, r, inner)   tiles of columns, blocks of rows; one row of the tile is one vector
 *
 * The shape alone decides what a block is.  Threads take blocks in any order; their sums are kept apart and added in
 * order at the end: the result does not depend on how many threads there were.
 */
#include "sum.h"
#include "threads/thread_pool.h"

#include <stdlib.h>

#define BLOCK 4096         /* elements of a row whose sum is one float chain per lane */
#define MIDDLE 512         /* elements of a row up to which 16 lanes do */
#define ROWS 256           /* the same for columns */
#define TILE 512           /* columns that are summed together */
#define MOST_PARTS 64      /* parts a long column is cut into */
#define NARROW 32          /* rows below this many columns are joined to longer ones */

#define ALL_ELEMENTS(x) (x)
#define SQUARES(x) ((x) * (x))
#define NUMBERS(x) ((x) == (x) ? (x) : 0) /* what is no NaN */

#define TERM ALL_ELEMENTS
#define ADDS_PAIRS
#include "support/with_float32.h"
#include "sum_template.h"

#include "support/with_float64.h"
#include "sum_template.h"
#undef TERM
#undef ADDS_PAIRS

#define TERM NUMBERS
#include "support/with_float32.h"
#undef NAME
#define NAME(x) x##_numbers_float32
#include "sum_template.h"

#include "support/with_float64.h"
#undef NAME
#define NAME(x) x##_numbers_float64
#include "sum_template.h"
#undef TERM

/* A square is rounded before it is added, also where one instruction could do both. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define TERM SQUARES
#include "support/with_float32.h"
#undef NAME
#define NAME(x) x##_squares_float32
#include "sum_template.h"

#include "support/with_float64.h"
#undef NAME
#define NAME(x) x##_squares_float64
#include "sum_template.h"
