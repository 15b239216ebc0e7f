/* Note [Exponentials of what is not positive]
 *
 * A softmax needs exponentials of differences from a maximum, and wants them in the middle of a loop that does more.
 * They are plain arithmetic here, which a compiler makes vectors of.  With n the integer next to x / log 2 and r the
 * rest, e^x = 2^n e^r: the power is written into the exponent's bits, and e^r is 1 + r + r^2 p(r), where p interpolates
 * (e^r - 1 - r) / r^2 at the Chebyshev nodes of the interval that r lies in.  Adding 1.5 * 2^23 (2^52 in double) rounds
 * to an integer and leaves it in the lowest bits.
 *
 * Errors are below 1 ulp.  Small arguments are first brought to a bound where the exponent's bits are all zero: so what
 * would be smaller than the smallest normal number is zero.  NaN stays NaN.  Arguments are not to be above 88 (709), where
 * the bits would run over; a second bound would cost a tenth of the time.
 *
 * e^x - 1 is 2^n (e^r - 1) + (2^n - 1), whose parts are not rounded against each other: it keeps its digits at zero, and
 * is -1 far below it.  Tangents and logistic functions of any x are made of the exponential of a negative number:
 *
 *     tanh |x| = -m / (2 + m)             with m = e^(-2|x|) - 1
 *     1 - tanh^2 x = 4 e^(-2|x|) / (2 + m)^2
 *     1 / (1 + e^-x) = 1 / (1 + e),  or e / (1 + e) of a negative x,  with e = e^-|x|
 *
 * Errors of these are below 4 ulp.
 */
#ifndef GRADSMITH_EXPONENTIAL_H
#define GRADSMITH_EXPONENTIAL_H

#include "support/simd.h"

#include <stdint.h>

/* e^x is `power` * (`part` + 1). */
typedef struct {
    float power, part;
} gs_power_float32;

typedef struct {
    double power, part;
} gs_power_float64;

GS_INLINE gs_power_float32
gs_parts_float32(float x)
{
    const float rounder = 12582912.0f, least = -88.0f;
    union {
        float value;
        int32_t bits;
    } shifted, power;
    float inside = x < least ? least : x;
    shifted.value = inside * 1.44269504f + rounder;
    float n = shifted.value - rounder;
    float r = (inside - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 1.3926213e-3f;
    p = p * r + 8.3632030e-3f;
    p = p * r + 4.1666554e-2f;
    p = p * r + 1.6666577e-1f;
    p = p * r + 0.5f;
    power.bits = (int32_t)((uint32_t)shifted.bits << 23) + 0x3f800000;
    return (gs_power_float32){power.value, p * (r * r) + r};
}

GS_INLINE gs_power_float64
gs_parts_float64(double x)
{
    const double rounder = 6755399441055744.0, least = -709.0;
    union {
        double value;
        int64_t bits;
    } shifted, power;
    double inside = x < least ? least : x;
    shifted.value = inside * 1.4426950408889634 + rounder;
    double n = shifted.value - rounder;
    double r = (inside - n * 0.6931471803691238) - n * 1.9082149292705878e-10;
    double p = 2.51004241570050668e-8;
    p = p * r + 2.76201387197339956e-7;
    p = p * r + 2.75572683786841929e-6;
    p = p * r + 2.48015211902177277e-5;
    p = p * r + 1.98412698631059687e-4;
    p = p * r + 1.38888889172817933e-3;
    p = p * r + 8.33333333333005135e-3;
    p = p * r + 4.16666666666239915e-2;
    p = p * r + 0.166666666666666675;
    p = p * r + 0.5;
    power.bits = (int64_t)((uint64_t)shifted.bits << 52) + 0x3ff0000000000000;
    return (gs_power_float64){power.value, p * (r * r) + r};
}

/* The functions of one type, of which `f` is the suffix in math.h.  The tangent comes with 1 less its square. */
#define GS_FUNCTIONS(real, type, f)                                                \
    GS_INLINE real gs_exp_##type(real x)                                           \
    {                                                                              \
        gs_power_##type e = gs_parts_##type(x);                                    \
        return (e.part + 1) * e.power;                                             \
    }                                                                              \
    GS_INLINE real gs_expm1_##type(real x)                                         \
    {                                                                              \
        gs_power_##type e = gs_parts_##type(x);                                    \
        return e.part * e.power + (e.power - 1);                                   \
    }                                                                              \
    GS_INLINE real gs_logistic_##type(real x)                                      \
    {                                                                              \
        real e = gs_exp_##type(-fabs##f(x)), upper = 1 / (1 + e);                  \
        return x < 0 ? e * upper : upper;                                          \
    }                                                                              \
    GS_INLINE real gs_tanh_##type(real x)                                          \
    {                                                                              \
        real m = gs_expm1_##type(-2 * fabs##f(x));                                 \
        return copysign##f(m / (2 + m), x);                                        \
    }                                                                              \
    GS_INLINE real gs_tanh_and_slope_##type(real x, real *slope)                   \
    {                                                                              \
        gs_power_##type e = gs_parts_##type(-2 * fabs##f(x));                      \
        real m = e.part * e.power + (e.power - 1), inverse = 1 / (2 + m);          \
        *slope = 4 * ((e.part + 1) * e.power) * (inverse * inverse);               \
        return copysign##f(m * inverse, x);                                        \
    }

GS_FUNCTIONS(float, float32, f)
GS_FUNCTIONS(double, float64, )
#undef GS_FUNCTIONS

#endif
