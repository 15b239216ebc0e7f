/* Note [Sines and cosines]
 *
 * With k the integer next to x / (pi/2) and r the rest, sin x is one of sin r, cos r, -sin r, -cos r, by the lowest two
 * bits of k.  pi/2 is subtracted k times in parts with so few bits that their products with k are exact; in single
 * precision that happens in double.  This serves up to GS_NEAR: k then has 16 bits.
 *
 * What lies beyond is *far*, and rare.  Functions here are right for near arguments only; loops look first whether all
 * arguments of a block are near and otherwise call gs_sin_anywhere and the like, element by element: see
 * far_arguments.h.  What is near is computed in the same way there, so an element does not depend on its neighbours.
 */
#ifndef GRADSMITH_TRIGONOMETRIC_FUNCTIONS_H
#define GRADSMITH_TRIGONOMETRIC_FUNCTIONS_H

#include "elementary/far_arguments.h"

#define GS_NEAR 100000.0
#define GS_NEAR_BITS_F 0x47c35000u
#define GS_NEAR_BITS 0x40f86a0000000000u
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

GS_INLINE double
gs_sin_or_cos(gs_quarter_turns turns)
{
    double r = turns.rest, low = turns.low, z = r * r;
    double z2 = z * z, z4 = z2 * z2;
    double s = GS_CUBIC(z, -0.16666666666666627, 0.008333333333321301, -0.00019841269828880696, 2.755731335887326e-06)
        + z4 * GS_LINE(z, -2.505070438051735e-08, 1.5893598640205684e-10);
    double half = 0.5 * z, one = 1.0 - half;
    double sine = r + ((low - low * half) + s * (r * z));
    double c = GS_CUBIC(z, 0.04166666666666659, -0.0013888888888872603, 2.4801587288493853e-05, -2.7557314056899055e-07)
        + z4 * GS_LINE(z, 2.087568190528291e-09, -1.1357449315187582e-11);
    double cosine = one + ((((1.0 - one) - half) - r * low) + c * (z * z));
    gs_double_bits result = {turns.quadrant & 1 ? cosine : sine};
    result.bits ^= (turns.quadrant & 2) << 62;
    return result.value;
}

typedef struct {
    float rest, low;
    uint32_t quadrant;
} gs_quarter_turns_f;

GS_INLINE gs_quarter_turns_f
gs_turns_from(double rest, uint32_t quadrant)
{
    float high = (float)rest;
    return (gs_quarter_turns_f){high, (float)(rest - (double)high), quadrant};
}

GS_INLINE gs_quarter_turns_f
gs_near_turns_f(float x)
{
    gs_float_bits shifted = {x * 0.63661977f + GS_ROUNDER_F};
    double k = (double)(shifted.value - GS_ROUNDER_F);
    double rest = ((double)x - k * 1.5707963267341256) - k * 6.077100506506192e-11;
    return gs_turns_from(rest, shifted.bits);
}

GS_INLINE float
gs_sin_or_cos_f(gs_quarter_turns_f turns)
{
    float r = turns.rest, low = turns.low, z = r * r;
    float s = -0.00019510831f;
    s = s * z + 0.008332131f;
    s = s * z + -0.16666654f;
    float sine = r + (s * (r * z) + low);
    float c = 2.4431236e-05f;
    c = c * z + -0.0013887306f;
    c = c * z + 0.041666646f;
    float half = 0.5f * z, one = 1.0f - half;
    float cosine = one + ((((1.0f - one) - half) - r * low) + c * (z * z));
    gs_float_bits result = {turns.quadrant & 1 ? cosine : sine};
    result.bits ^= (turns.quadrant & 2) << 30;
    return result.value;
}

/* ---- of near arguments */

/* The sine of a zero is that zero. */
GS_INLINE float
gs_sinf(float x)
{
    float result = gs_sin_or_cos_f(gs_near_turns_f(x));
    return x == 0.0f ? x : result;
}

GS_INLINE double
gs_sin(double x)
{
    double result = gs_sin_or_cos(gs_near_turns(x));
    return x == 0.0 ? x : result;
}

GS_INLINE float
gs_cosf(float x)
{
    gs_quarter_turns_f turns = gs_near_turns_f(x);
    turns.quadrant += 1;
    return gs_sin_or_cos_f(turns);
}

GS_INLINE double
gs_cos(double x)
{
    gs_quarter_turns turns = gs_near_turns(x);
    turns.quadrant += 1;
    return gs_sin_or_cos(turns);
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

static GS_NOINLINE GS_UNUSED float
gs_sin_of_far_f(float x, unsigned int ahead)
{
    if (!isfinite(x)) {
        return x - x;
    }
    double low;
    uint64_t quadrant;
    double rest = gs_far_rest((double)x, &low, &quadrant);
    return gs_sin_or_cos_f(gs_turns_from(rest + low, (uint32_t)quadrant + ahead));
}

GS_INLINE float
gs_sin_anywheref(float x)
{
    return gs_is_near(x) ? gs_sinf(x) : gs_sin_of_far_f(x, 0);
}

GS_INLINE double
gs_sin_anywhere(double x)
{
    return gs_is_near(x) ? gs_sin(x) : gs_sin_of_far(x, 0);
}

GS_INLINE float
gs_cos_anywheref(float x)
{
    return gs_is_near(x) ? gs_cosf(x) : gs_sin_of_far_f(x, 1);
}

GS_INLINE double
gs_cos_anywhere(double x)
{
    return gs_is_near(x) ? gs_cos(x) : gs_sin_of_far(x, 1);
}

#endif
