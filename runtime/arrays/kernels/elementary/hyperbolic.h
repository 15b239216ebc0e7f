/* Note [Hyperbolic functions]
 *
 * With h = e^|x| / 2, which is finite as long as the results are, cosh x = h + 1 / (4 h) and, beyond 3/2, sinh x is
 * h - 1 / (4 h) with the sign of x.  Up to 3/2, sinh x = x + x^3 p(x^2).
 *
 * Up to 0.55, tanh x = x + x^3 q(x^2).  Beyond, it is 1 - 2 / (exp(2 |x|) + 1) with the sign of x, whose error is small
 * since the quotient is at most 1/2; from 20 (10 in single precision) on it is 1.
 *
 * Up to 1/2, atanh x = x + x^3 p(x^2), and beyond it is log(1 + q) / 2 with q = 2 |x| / (1 - |x|), to which what the
 * division has lost is added; in single precision, up to 1/4 and by a logarithm in double precision.
 */
#ifndef GRADSMITH_HYPERBOLIC_FUNCTIONS_H
#define GRADSMITH_HYPERBOLIC_FUNCTIONS_H

#include "elementary/logarithm.h"

GS_INLINE float
gs_half_expf(float x)
{
    return gs_exp_inside_f(gs_within_f(fabsf(x), 0.0f, 90.0f), -1);
}

GS_INLINE double
gs_half_exp(double x)
{
    return gs_exp_inside(gs_within(fabs(x), 0.0, 712.0), -1);
}

GS_INLINE float
gs_coshf(float x)
{
    float h = gs_half_expf(x);
    return h + 0.25f / h;
}

GS_INLINE double
gs_cosh(double x)
{
    double h = gs_half_exp(x);
    return h + 0.25 / h;
}

GS_INLINE float
gs_sinhf(float x)
{
    float h = gs_half_expf(x), t = fabsf(x), z = x * x, z2 = z * z;
    float p = GS_CUBIC(z, 0.16666666f, 0.008333408f, 0.00019824704f, 2.8717734e-06f);
    return copysignf(t <= 1.5f ? t + t * (z * p) : h - 0.25f / h, x);
}

GS_INLINE double
gs_sinh(double x)
{
    double h = gs_half_exp(x), t = fabs(x), z = x * x, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 0.16666666666666666, 0.008333333333333344, 0.00019841269841260417, 2.755731922730636e-06)
        + z4 * GS_CUBIC(z, 2.5052107811186456e-08, 1.6059097742787882e-10, 7.644362953059685e-13, 2.8870667334536098e-15);
    return copysign(t <= 1.5 ? t + t * (z * p) : h - 0.25 / h, x);
}

GS_INLINE float
gs_atanhf(float x)
{
    float t = fabsf(x), z = x * x, z2 = z * z;
    float p = GS_CUBIC(z, 0.3333333f, 0.2000062f, 0.14236616f, 0.12337846f);
    double ratio = (1.0 + (double)t) / (1.0 - (double)t);
    float large = (float)(0.5 * gs_log_for_single(ratio));
    float outside = t == 1.0f ? INFINITY : NAN;
    large = t < 1.0f ? large : outside;
    return copysignf(t < 0.25f ? t + t * (z * p) : large, x);
}

GS_INLINE double
gs_atanh(double x)
{
    double t = fabs(x), z = x * x, z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    double p = GS_CUBIC(z, 0.3333333333333333, 0.20000000000000864, 0.14285714285490106, 0.11111111133938968)
        + z4 * GS_CUBIC(z, 0.09090907881509189, 0.07692345940270638, 0.06665886352701884, 0.05893099692590042)
        + z8 * (GS_CUBIC(z, 0.05160769881147162, 0.05441915418234587, 0.012292448728540531, 0.13557903913692299)
        + z4 * GS_LINE(z, -0.14450491183414468, 0.21098097885975797));
    double over = 2.0 * t, under = 1.0 - t, ratio = over / under;
    double left = gs_left_by_ratio(over, under, ratio) / (1.0 + t);
    double large = 0.5 * (gs_log1p(ratio) + (t < 1.0 ? left : 0.0));
    return copysign(t < 0.5 ? t + t * (z * p) : large, x);
}

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
