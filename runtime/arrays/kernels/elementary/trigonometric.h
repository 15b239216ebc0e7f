/* Note [Sines and cosines]
 *
 * With k the integer next to x / (pi/2) and r the rest, sin x is one of sin r, cos r, -sin r, -cos r, by the lowest two
 * bits of k.  pi/2 is subtracted k times in parts with so few bits that their products with k are exact.  This serves up to
 * GS_NEAR: k then has 16 bits.
 *
 * Single precision is computed in double, where one polynomial does up to pi/2: with k the integer next to x / pi, sin x is
 * sin r or, for odd k, -sin r.  cos x = sin(x + pi/2) takes a k between two integers.
 *
 * tan x is sin r / cos r or, for odd k, -cos r / sin r; in double precision with what both and their ratio have lost.
 *
 * What lies beyond is *far*, and rare.  Functions here are right for near arguments only; loops look first whether all
 * arguments of a block are near and otherwise call gs_sin_anywhere and the like, element by element: see
 * far_arguments.h.  What is near is computed in the same way there, so an element does not depend on its neighbours.
 */
#ifndef GRADSMITH_TRIGONOMETRIC_FUNCTIONS_H
#define GRADSMITH_TRIGONOMETRIC_FUNCTIONS_H

#include "elementary/far_arguments.h"

#define GS_NEAR 100000.0
#define gs_is_unusual_anglef(x) gs_beyond_f(x, 0x47c35000u)
#define gs_is_unusual_angle(x) gs_beyond(x, 0x40f86a0000000000u)
#define GS_NEAR_BLOCK 256 /* elements that are looked at together */

/* Not for infinities and NaN: they are far. */
#define gs_is_near(x) (fabs((double)(x)) <= GS_NEAR)

typedef struct {
    double rest, low; /* the rest, and what it lacks */
    uint64_t quadrant;
} gs_quarter_turns;

GS_INLINE gs_quarter_turns
gs_near_turns(double x)
{
    gs_double_bits shifted = {x * 0.6366197723675814 + GS_ROUNDER};
    double k = shifted.value - GS_ROUNDER;
    double first = x - k * 1.5707963267923333;
    double second = first - k * 2.5633441515839558e-12;
    double lost = (first - second) - k * 2.5633441515839558e-12;
    double third = k * 1.0562999066987428e-23 - lost;
    double rest = second - third;
    return (gs_quarter_turns){rest, (second - rest) - third, shifted.bits};
}

/* (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 of z = r^2. */
GS_INLINE double
gs_sine_series(double z)
{
    double z2 = z * z, z4 = z2 * z2;
    return GS_CUBIC(z, -0.16666666666666627, 0.008333333333321301, -0.00019841269828880696, 2.755731335887326e-06)
        + z4 * GS_LINE(z, -2.505070438051735e-08, 1.5893598640205684e-10);
}

GS_INLINE double
gs_cosine_series(double z)
{
    double z2 = z * z, z4 = z2 * z2;
    return GS_CUBIC(z, 0.04166666666666659, -0.0013888888888872603, 2.4801587288493853e-05, -2.7557314056899055e-07)
        + z4 * GS_LINE(z, 2.087568190528291e-09, -1.1357449315187582e-11);
}

GS_INLINE double
gs_sin_or_cos(gs_quarter_turns turns)
{
    double r = turns.rest, low = turns.low, z = r * r;
    double s = gs_sine_series(z);
    double half = 0.5 * z, one = 1.0 - half;
    double sine = r + ((low - low * half) + s * (r * z));
    double c = gs_cosine_series(z);
    double cosine = one + ((((1.0 - one) - half) - r * low) + c * (z * z));
    gs_double_bits result = {turns.quadrant & 1 ? cosine : sine};
    result.bits ^= (turns.quadrant & 2) << 62;
    return result.value;
}

/* The sum of the parts, and what it lacks. */
typedef struct {
    double value, low;
} gs_double_sum;

GS_INLINE gs_double_sum
gs_add_small(double large, double small)
{
    double sum = large + small;
    return (gs_double_sum){sum, (large - sum) + small};
}

/* The sine over the cosine, or minus the cosine over the sine. */
GS_INLINE double
gs_tan_of_turns(gs_quarter_turns turns)
{
    double r = turns.rest, low = turns.low, z = r * r;
    double s = gs_sine_series(z);
    double c = gs_cosine_series(z);
    double half = 0.5 * z, one = 1.0 - half;
    gs_double_sum sine = gs_add_small(r, (low - low * half) + s * (r * z));
    gs_double_sum cosine = gs_add_small(one, (((1.0 - one) - half) - r * low) + c * (z * z));
    int is_odd = (turns.quadrant & 1) != 0;
    double over = is_odd ? cosine.value : sine.value, under = is_odd ? sine.value : cosine.value;
    double over_low = is_odd ? cosine.low : sine.low, under_low = is_odd ? sine.low : cosine.low;
    double ratio = over / under;
    double left = (gs_left_by_ratio(over, under, ratio) + over_low) - ratio * under_low;
    gs_double_bits result = {ratio + left / under};
    result.bits ^= turns.quadrant << 63;
    return result.value;
}

/* sin x, or, with `ahead` of 1/2 and the other sign, cos x. */
GS_INLINE float
gs_near_sine_f(float x, double ahead, double sign)
{
    double wide = x;
    gs_double_bits shifted = {(wide * 0.3183098861837907 - ahead) + GS_ROUNDER}, sine;
    double k = (shifted.value - GS_ROUNDER) + ahead;
    double r = (wide - k * 3.1415926534682512) - k * 1.2154201013012384e-10, z = r * r;
    double s = z * (sign * 2.605765757834888e-06) + sign * -0.0001980959641514346;
    s = z * s + sign * 0.00833306647837162;
    s = z * s + sign * -0.16666659712791443;
    sine.value = r * (z * s + sign);
    sine.bits ^= shifted.bits << 63;
    return (float)sine.value;
}

/* ---- of near arguments */

GS_INLINE float
gs_sinf(float x)
{
    return gs_near_sine_f(x, 0.0, 1.0);
}

/* The sine of a zero is that zero. */
GS_INLINE double
gs_sin(double x)
{
    double result = gs_sin_or_cos(gs_near_turns(x));
    return x == 0.0 ? x : result;
}

GS_INLINE float
gs_cosf(float x)
{
    return gs_near_sine_f(x, 0.5, -1.0);
}

GS_INLINE double
gs_cos(double x)
{
    gs_quarter_turns turns = gs_near_turns(x);
    turns.quadrant += 1;
    return gs_sin_or_cos(turns);
}

GS_INLINE float
gs_tanf(float x)
{
    double wide = x;
    gs_double_bits shifted = {wide * 0.6366197723675814 + GS_ROUNDER}, result;
    double k = shifted.value - GS_ROUNDER;
    double r = (wide - k * 1.5707963267923333) - k * 2.5633441515839558e-12, z = r * r, z2 = z * z;
    double s = GS_CUBIC(z, -0.16666666663741367, 0.00833333183062943, -0.00019840063040804117, 2.7246868722877944e-06);
    double c = GS_CUBIC(z, -0.49999999967868436, 0.041666650160548456, -0.0013887563142430629, 2.4460432189909786e-05);
    double sine = r + r * z * s, cosine = 1.0 + z * c;
    int is_odd = (shifted.bits & 1) != 0;
    result.value = (is_odd ? cosine : sine) / (is_odd ? sine : cosine);
    result.bits ^= shifted.bits << 63;
    return x == 0.0f ? x : (float)result.value;
}

GS_INLINE double
gs_tan(double x)
{
    double result = gs_tan_of_turns(gs_near_turns(x));
    return x == 0.0 ? x : result;
}

/* ---- of all arguments; `ahead` is 0 for the sine and 1 for the cosine */

static GS_NOINLINE GS_UNUSED double
gs_sin_of_far(double x, unsigned int ahead)
{
    if (!isfinite(x)) {
        return x - x;
    }
    gs_quarter_turns turns;
    turns.rest = gs_far_rest(x, &turns.low, &turns.quadrant);
    turns.quadrant += ahead;
    return gs_sin_or_cos(turns);
}

static GS_NOINLINE GS_UNUSED double
gs_tan_of_far(double x)
{
    if (!isfinite(x)) {
        return x - x;
    }
    gs_quarter_turns turns;
    turns.rest = gs_far_rest(x, &turns.low, &turns.quadrant);
    return gs_tan_of_turns(turns);
}

GS_INLINE float
gs_tan_anywheref(float x)
{
    return gs_is_near(x) ? gs_tanf(x) : (float)gs_tan_of_far((double)x);
}

GS_INLINE double
gs_tan_anywhere(double x)
{
    return gs_is_near(x) ? gs_tan(x) : gs_tan_of_far(x);
}

GS_INLINE float
gs_sin_anywheref(float x)
{
    return gs_is_near(x) ? gs_sinf(x) : (float)gs_sin_of_far((double)x, 0);
}

GS_INLINE double
gs_sin_anywhere(double x)
{
    return gs_is_near(x) ? gs_sin(x) : gs_sin_of_far(x, 0);
}

GS_INLINE float
gs_cos_anywheref(float x)
{
    return gs_is_near(x) ? gs_cosf(x) : (float)gs_sin_of_far((double)x, 1);
}

GS_INLINE double
gs_cos_anywhere(double x)
{
    return gs_is_near(x) ? gs_cos(x) : gs_sin_of_far(x, 1);
}

#endif
