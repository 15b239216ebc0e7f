/* Note [Four running sums at once]
 *
 * A running sum waits for each addition before it can begin the next. So a long row is cut into rounds of four blocks,
 * whose own running sums are added side by side; then what lies before a block is added to all of its sums. The sums
 * of a block and the number that they are added to keep their order when they are rounded: the running sum of numbers
 * that are not negative never falls. A round in which something is not finite is added one by one, since a block alone may
 * overflow where the whole does not.
 *
 * Note [Products below the range of doubles]
 *
 * A running product of floats is kept as a double, and may become too small even for that. Then it would lose its bits,
 * and processors take a hundred cycles to multiply such numbers. So a product below LOW is kept 1 / LOW times as large,
 * more than once if need be; as a float it is zero until it comes back. A running product of doubles has no wider type,
 * and stays among the smallest of them.
 */
#include "scans_kernels.h"
#include "support/simd.h"

#include <math.h>

enum { BLOCK = 128, CHAINS = 4, ROUND = BLOCK * CHAINS, COLUMNS = 256, FEW = 4, ROWS = 4, UNWATCHED = 4 };

#define JOINED_(name, suffix) name##_##suffix
#define JOINED(name, suffix) JOINED_(name, suffix)
#define NAME(x) JOINED(x, SUFFIX)

#define LOW 0x1p-300

#define T float
#define WIDE double
#define SUFFIX float
#define IS_FINITE(x) isfinite(x)
#define IS_LOW(x) (fabs(x) < LOW && (x) != 0)
#include "sums_template.h"
#include "factors_template.h"
#undef T
#undef WIDE
#undef SUFFIX
#undef IS_LOW

#define T double
#define WIDE double
#define SUFFIX double
#define IS_LOW(x) 0
#include "sums_template.h"
#include "factors_template.h"
#undef T
#undef WIDE
#undef SUFFIX
#undef IS_FINITE
#undef IS_LOW

/* Without a sign, in which sums that leave the range wrap around. */
#define T npy_uint64
#define WIDE npy_uint64
#define SUFFIX integer
#define IS_FINITE(x) 1
#include "sums_template.h"

#define MULTIPLY(product, factor) ((factor)[0] *= (product)[0])
#define PARTS 1
#include "plain_factors_template.h"
#undef T
#undef WIDE
#undef SUFFIX
#undef MULTIPLY
#undef PARTS

/* By the formula that NumPy has. */
#define MULTIPLY(product, factor)                                                          \
    do {                                                                                   \
        T real = (product)[0] * (factor)[0] - (product)[1] * (factor)[1];                  \
        (factor)[1] = (product)[0] * (factor)[1] + (product)[1] * (factor)[0];             \
        (factor)[0] = real;                                                                \
    } while (0)
#define PARTS 2

#define T float
#define SUFFIX complex_float
#include "plain_factors_template.h"
#undef T
#undef SUFFIX

#define T double
#define SUFFIX complex_double
#include "plain_factors_template.h"

void
gs_running_sums(int type, void *a, npy_intp outer, npy_intp length, npy_intp inner, int reverse)
{
    if (type == NPY_FLOAT32)
        sums_float(a, outer, length, inner, reverse);
    else if (type == NPY_FLOAT64)
        sums_double(a, outer, length, inner, reverse);
    else
        sums_integer(a, outer, length, inner, reverse);
}

void
gs_running_products(int type, void *a, npy_intp outer, npy_intp length, npy_intp inner)
{
    if (type == NPY_FLOAT32)
        products_float(a, outer, length, inner);
    else if (type == NPY_FLOAT64)
        products_double(a, outer, length, inner);
    else if (type == NPY_COMPLEX64)
        plain_products_complex_float(a, outer, length, inner);
    else if (type == NPY_COMPLEX128)
        plain_products_complex_double(a, outer, length, inner);
    else
        plain_products_integer(a, outer, length, inner);
}

void
gs_recurrences(int type, void *a, const void *weights, npy_intp outer, npy_intp length, npy_intp inner, int reverse)
{
    if (type == NPY_FLOAT32)
        recurrences_float(a, weights, outer, length, inner, reverse);
    else
        recurrences_double(a, weights, outer, length, inner, reverse);
}
