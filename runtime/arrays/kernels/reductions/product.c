/* Note [Products]
 *
 * Multiplied one after the other, every element waits for the one before it.  Rows are multiplied in 64 lanes instead, a
 * block of 2048 elements at a time, and the products of blocks with an exponent of their own, which nothing overflows.
 * Where a lane or a block leaves the range of its type, or an element is zero, infinite or NaN, the row is multiplied
 * again in order, as NumPy does.  That chain ends soon: once it is zero or infinite, the elements behind it only change
 * its sign or make it NaN, which lanes find out.
 *
 * Columns are multiplied in order, many of them side by side.
 */
#include "product.h"
#include "threads/thread_pool.h"

#include <float.h>
#include <math.h>

#define MIDDLE 512 /* elements of a row up to which 16 lanes do */
#define BLOCK 2048 /* elements of a row whose product is one chain per lane */
#define FEW 16     /* elements that are multiplied in order at once */
#define TILE 512   /* columns that are multiplied together */
#define FAR 4000   /* an exponent of two beyond every type */

/* fraction * 2 ** exponent *= product */
GS_INLINE void
multiply_fraction(double product, double *fraction, npy_intp *exponent)
{
    int of_product, of_fraction;
    *fraction = frexp(*fraction * frexp(product, &of_product), &of_fraction);
    *exponent += of_product + of_fraction;
}

#include "support/with_float32.h"
#define SMALLEST FLT_MIN /* normal number */
#include "product_template.h"

#include "support/with_float64.h"
#undef SMALLEST
#define SMALLEST DBL_MIN
#include "product_template.h"
