/* Note [Error function]
 *
 * erf |x| = 1 - e^-s with s = |x| + |x| p(|x|), and 1 is taken off before anything is rounded: with n and r as in
 * Note [Exponentials] that is (1 - 2^n) - 2^n (e^r - 1), where n is 0 while s is small.  The small part of s is added last.
 *
 * In double precision erfc x = 1 - (x + x q(x^2)) up to 1/2.  Beyond it is exp(-x^2) F(t) / (1 + 2 x), and F, with
 * t = (x - 4) / (x + 4), is nearly constant.  There the error of x^2 counts, since the exponential multiplies it by x^2: x
 * is split into a part with half of the bits, whose square is exact, and a rest, and exp(-x^2) is the product of two
 * exponentials.  In single precision erfc x is exp(-x^2) times a rational function, computed in double.
 */
#ifndef GRADSMITH_ERROR_FUNCTIONS_H
#define GRADSMITH_ERROR_FUNCTIONS_H

#include "elementary/exponential.h"

GS_INLINE float
gs_erff(float x)
{
    float size = fabsf(x), t = size > 3.95f ? 3.95f : size;
    float t2 = t * t;
    float p = GS_LINE(t, -0.0005889039f, 0.000103817256f) + t2 * -7.5429225e-06f;
    p = GS_LINE(t, -0.0001001787f, 0.0015966865f) + t2 * p;
    p = GS_LINE(t, 0.10278351f, -0.019180005f) + t2 * p;
    p = GS_LINE(t, 0.12837917f, 0.636619f) + t2 * p;
    p = p * t;
    gs_float_bits shifted = {(t + p) * -1.44269504f + GS_ROUNDER_F}, power;
    float n = shifted.value - GS_ROUNDER_F;
    float first = -t - n * 0.69314718f, r = first - p;
    float rest = first + (gs_exp_series_f(r) * (r * r) - p);
    power.bits = (shifted.bits << 23) + 0x3f800000u;
    return copysignf((1.0f - power.value) - power.value * rest, x);
}

/* exp(x^2) erfc x for x from 0 to 28. */
GS_INLINE double
gs_scaled_erfc(double x)
{
    double t = (x - 4.0) / (x + 4.0);
    double t2 = t * t, t4 = t2 * t2;
    double p = GS_CUBIC(t, -1.7469641737891735e-08, -1.4070597258729858e-08, 1.6772561979123906e-09, 1.1981312427729406e-09);
    p = GS_CUBIC(t, 2.941617469816929e-07, -8.259666083695971e-07, 7.410536173195005e-08, 1.1033302968726157e-07) + t4 * p;
    p = GS_CUBIC(t, 0.00015062172344795604, -2.4399442256567395e-05, -1.1222182959487455e-05, 5.710196856502948e-06)
        + t4 * p;
    p = GS_CUBIC(t, -0.016197734056209133, 0.00503196996488574, -0.0007577732992351105, -0.00019925662552547607)
        + t4 * p;
    p = GS_CUBIC(t, -0.10103906603629773, 0.09373283499825628, -0.06633036581236, 0.03716751553897724) + t4 * p;
    p = GS_CUBIC(t, 1.2329951186255526, -0.13962111684056253, 0.015379652102619622, 0.06809705425469532) + t4 * p;
    return p / (1.0 + 2.0 * x);
}

/* erf x / x - 1 for x between -1 and 1, z being the square of x. */
GS_INLINE double
gs_erf_series(double z)
{
    double z2 = z * z, z4 = z2 * z2;
    double q = GS_CUBIC(z, 1.64610084778027e-06, -1.6350396222864617e-07, 1.466032872274226e-08, -1.137495573607015e-09)
        + z4 * 5.960685338520971e-11;
    q = GS_CUBIC(z, 0.005223977624828431, -0.0008548326981425542, 0.0001205533113295582, -1.4925595772180906e-05)
        + z4 * q;
    return GS_CUBIC(z, 0.1283791670955126, -0.3761263890318375, 0.11283791670954885, -0.026866170645077875) + z4 * q;
}

GS_INLINE double
gs_erf(double x)
{
    double size = fabs(x), t = size > 5.95 ? 5.95 : size;
    double t2 = t * t, t4 = t2 * t2;
    double p = GS_PARABOLA(t, 1.7889219568733257e-14, -5.963570939607789e-16, 9.306894588631142e-18);
    p = GS_CUBIC(t, 3.213079337613223e-10, -4.269156777740874e-11, 4.3800608383459225e-12, -3.3456625165796587e-13)
        + t4 * p;
    p = GS_CUBIC(t, 1.0002714705265217e-07, -3.4046082523466996e-08, 9.034896652563893e-09, -1.9081936823850914e-09)
        + t4 * p;
    p = GS_CUBIC(t, -1.5388872806998853e-06, 1.58450570618977e-07, 2.6362560326484007e-07, -2.1477488134406135e-07)
        + t4 * p;
    p = GS_CUBIC(t, 6.452664407037097e-05, -2.9802118189070744e-05, 3.5429676751440316e-06, 2.649413336128355e-06)
        + t4 * p;
    p = GS_CUBIC(t, -0.0002091946353339271, 0.001696205875616839, -0.0005901226403776994, 2.586686625517899e-05)
        + t4 * p;
    p = GS_CUBIC(t, 0.1283791670955126, 0.6366197723675813, 0.1027726033019475, -0.019128447009304553) + t4 * p;
    p = p * t;
    gs_double_bits shifted = {(t + p) * -1.4426950408889634 + GS_ROUNDER}, power;
    double n = shifted.value - GS_ROUNDER;
    double first = -t - n * 0.6931471805592082, small = n * 7.371002565167799e-13 + p, r = first - small;
    double rest = first + (gs_exp_series(r) * (r * r) - small);
    power.bits = (shifted.bits << 52) + 0x3ff0000000000000u;
    return copysign((1.0 - power.value) - power.value * rest, x);
}

GS_INLINE double
gs_erfc(double x)
{
    double t = gs_within(fabs(x), 0.0, 27.5);
    gs_double_bits high = {t};
    high.bits &= 0xfffffffff8000000u;
    double power = gs_exp(-high.value * high.value) * gs_exp((high.value - t) * (high.value + t));
    double tail = power * gs_scaled_erfc(t);
    double far = x < 0.0 ? 2.0 - tail : tail;
    double near = 1.0 - (x + x * gs_erf_series(x * x));
    return t < 0.5 ? near : far;
}

/* In double with fewer terms: the square is exact then, and nothing is lost near zero. */
GS_INLINE double
gs_erfc_of_single(double x)
{
    double t = gs_within(fabs(x), 0.0, 10.5);
    double t2 = t * t, t4 = t2 * t2;
    double p = GS_LINE(t, 0.09351429917603397, 0.010118439651872436);
    p = GS_CUBIC(t, 0.9999999999112859, 1.4370466892254838, 1.0042016919343804, 0.40453276527552967) + t4 * p;
    double q = GS_PARABOLA(t, 0.7260046354881018, 0.16574876047681814, 0.01793448857204183);
    q = GS_CUBIC(t, 1.0, 2.5654258444822036, 2.898975026385637, 1.8625005457058417) + t4 * q;
    gs_double_bits shifted = {t2 * -1.4426950408889634 + GS_ROUNDER}, power;
    double n = shifted.value - GS_ROUNDER;
    double r = -t2 - n * 0.6931471805599453, r2 = r * r, r4 = r2 * r2;
    power.value = GS_CUBIC(r, 0.5000000067623893, 0.16666665871838554, 0.04166629514257523, 0.008333496493639873)
        + r4 * GS_LINE(r, 0.0013944645297139535, 0.00019790610119780374);
    power.value = 1.0 + (r + r2 * power.value);
    power.bits += shifted.bits << 52;
    double tail = power.value * p / q;
    return x < 0.0 ? 2.0 - tail : tail;
}

GS_INLINE float
gs_erfcf(float x)
{
    return (float)gs_erfc_of_single((double)x);
}

#endif
