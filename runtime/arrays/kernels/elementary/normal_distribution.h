/* Note [Normal distribution]
 *
 * With z = x / sqrt 2, the probability below x is erfc(-z) / 2.  In the lower tail erfc is exp(-z^2) times what changes
 * slowly, and the exponential multiplies the error of z^2 by z^2: so x is split as in Note [Error function], since x^2 / 2 is
 * known better than the square of the rounded z.
 *
 * The logarithm of that probability is -z^2 + log(erfcx(-z) / 2) below -1, and log1p of the probability of the upper tail
 * above.  erfcx z, the scaled erfc, is a series in 1 / z^2 beyond the reach of gs_scaled_erfc (DLMF 7.12.1), and
 * 2 exp(z^2) - erfcx |z| for negative z.
 *
 * Errors are below 6 units in the last place.  Single precision is computed in double, and rounded once.
 */
#ifndef GRADSMITH_NORMAL_DISTRIBUTION_H
#define GRADSMITH_NORMAL_DISTRIBUTION_H

#include "elementary/error_function.h"
#include "elementary/logarithm.h"

#define GS_SQRT_HALF 0.7071067811865476
#define GS_MOST_SCALED 28.0 /* for which gs_scaled_erfc is meant */

/* exp(factor x^2), where factor is a power of two by plus or minus one. */
GS_INLINE double
gs_exp_of_square(double factor, double x)
{
    gs_double_bits high = {x};
    high.bits &= 0xfffffffff8000000u;
    return gs_exp(factor * high.value * high.value) * gs_exp(factor * (x - high.value) * (x + high.value));
}

/* ---- erfcx */

GS_INLINE double
gs_far_erfcx(double x)
{
    double z = 0.5 / (x * x), z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 1.0, -1.0, 3.0, -15.0) + z4 * GS_PARABOLA(z, 105.0, -945.0, 10395.0);
    return 0.5641895835477563 / x * p;
}

GS_INLINE double
gs_erfcx(double x)
{
    double size = fabs(x);
    double far = gs_far_erfcx(size), near = gs_scaled_erfc(size > GS_MOST_SCALED ? GS_MOST_SCALED : size);
    double right = size > GS_MOST_SCALED ? far : near;
    double inside = size > 27.0 ? 27.0 : size; /* of infinity nothing can be taken off */
    double left = 2.0 * gs_exp_of_square(1.0, inside) - right;
    return x != x ? x : x < 0.0 ? left : right;
}

GS_INLINE float
gs_erfcxf(float x)
{
    return (float)gs_erfcx((double)x);
}

/* ---- the normal distribution */

GS_INLINE double
gs_ndtr(double x)
{
    double t = gs_within(fabs(x), 0.0, 39.0), z = t * GS_SQRT_HALF;
    double tail = 0.5 * (gs_exp_of_square(-0.5, t) * gs_scaled_erfc(z));
    double near = 0.5 + 0.5 * copysign(z + z * gs_erf_series(z * z), x);
    double far = x > 0.0 ? 1.0 - tail : tail;
    return x != x ? x : t < 0.5 ? near : far;
}

GS_INLINE float
gs_ndtrf(float x)
{
    return (float)(0.5 * gs_erfc_of_single((double)x * -GS_SQRT_HALF));
}

GS_INLINE double
gs_log_ndtr(double x)
{
    double size = fabs(x), z = size * GS_SQRT_HALF;
    double scaled = z > GS_MOST_SCALED ? gs_far_erfcx(z) : gs_scaled_erfc(z > GS_MOST_SCALED ? GS_MOST_SCALED : z);
    double below = gs_log(0.5 * scaled) - 0.5 * x * x;
    double above = gs_log1p(-gs_ndtr(-x));
    return x != x ? x : x < -1.0 ? below : above;
}

GS_INLINE float
gs_log_ndtrf(float x)
{
    return (float)gs_log_ndtr((double)x);
}

#endif
