/* Note [Hyperbolic tangent]
 *
 * Up to 0.55, tanh x = x + x^3 q(x^2).  Beyond, it is 1 - 2 / (exp(2 |x|) + 1) with the sign of x, whose error is small
 * since the quotient is at most 1/2; from 20 (10 in single precision) on it is 1.
 */
#ifndef GRADSMITH_HYPERBOLIC_FUNCTIONS_H
#define GRADSMITH_HYPERBOLIC_FUNCTIONS_H

#include "elementary/exponential.h"

GS_INLINE float
gs_tanhf(float x)
{
    float t = fabsf(x), z = x * x;
    float z2 = z * z;
    float q = GS_LINE(z, -0.3333332f, 0.13332602f) + z2 * GS_PARABOLA(z, -0.053853907f, 0.021077901f, -0.0062826024f);
    /* exp(2 t), which needs no second factor for its power of two */
    float twice = 2.0f * (t > 10.0f ? 10.0f : t);
    gs_float_bits shifted = {twice * 1.44269504f + GS_ROUNDER_F}, power;
    float n = shifted.value - GS_ROUNDER_F;
    float r = (twice - n * 0.693359375f) - n * -2.12194440e-4f;
    power.bits = (shifted.bits << 23) + 0x3f800000u;
    float e = (gs_exp_series_f(r) * (r * r) + r + 1.0f) * power.value;
    float large = 1.0f - 2.0f / (e + 1.0f);
    return copysignf(t < 0.55f ? t + t * (z * q) : large, x);
}

GS_INLINE double
gs_tanh(double x)
{
    double t = fabs(x), z = x * x;
    double z2 = z * z, z4 = z2 * z2;
    double q = GS_CUBIC(z, -0.008863232652841339, 0.003592092533024962, -0.0014555459869451096, 0.0005884570599625878)
        + z4 * GS_PARABOLA(z, -0.00023341275415667337, 8.336010345993416e-05, -1.9521047278674043e-05);
    q = GS_CUBIC(z, -0.333333333333333, 0.13333333333326833, -0.05396825396387877, 0.02186948838910695) + z4 * q;
    double large = 1.0 - 2.0 / (gs_exp(2.0 * (t > 20.0 ? 20.0 : t)) + 1.0);
    return copysign(t < 0.55 ? t + t * (z * q) : large, x);
}

#endif
