/* Note [Logarithms]
 *
 * A number is 2^n m with m between sqrt(1/2) and sqrt(2), and log x = n log 2 + log(1 + f) with f = m - 1.  In single
 * precision log(1 + f) = f - f^2 / 2 + f^3 p(f).  In double precision a series in s = f / (2 + f) has half as many terms:
 * log(1 + f) = 2 s + s R(s^2) = f - (f^2 / 2 - s (f^2 / 2 + R)).  n log 2 is added in two parts, the small one first.
 *
 * log(1 + x) is log u + c with u = 1 + x rounded and c what the rounding lost, divided by u; where n is 0, f is x itself.
 */
#ifndef GRADSMITH_LOGARITHM_FUNCTIONS_H
#define GRADSMITH_LOGARITHM_FUNCTIONS_H

#include "elementary/exponential.h"

#include <float.h>

/* log(1 + f) + n log 2 + c, with a small c. */
GS_INLINE float
gs_log_of_parts_f(float f, float n, float c)
{
    float half_square = 0.5f * f * f;
    float f2 = f * f, f4 = f2 * f2;
    float p = GS_CUBIC(f, 0.3333333f, -0.2500082f, 0.20001228f, -0.1662336f)
        + f4 * GS_CUBIC(f, 0.14201735f, -0.13160144f, 0.12761705f, -0.07634739f);
    float small = f * f * f * p + (n * 3.1946184945309415e-05f + c);
    return n * 0.693115234375f + (f - (half_square - small));
}

/* log(1 + f) - f + f^2 / 2 */
GS_INLINE double
gs_log_beyond_square(double f, double half_square)
{
    double s = f / (2.0 + f), z = s * s, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 0.6666666666666735, 0.3999999999941203, 0.28571428743064436, 0.22222198494571563)
        + z4 * GS_PARABOLA(z, 0.18183568879590606, 0.15313922520235101, 0.14797340861572775);
    return s * (half_square + p * z);
}

GS_INLINE double
gs_log_of_parts(double f, double n, double c)
{
    double half_square = 0.5 * f * f;
    double small = gs_log_beyond_square(f, half_square) + (n * 7.371002565167799e-13 + c);
    return n * 0.6931471805592082 + (f - (half_square - small));
}

GS_INLINE float
gs_logf(float x)
{
    int is_tiny = x < FLT_MIN;
    gs_float_bits scaled = {is_tiny ? x * 8388608.0f : x};
    uint32_t shifted = scaled.bits - 0x3f3504f3u;
    float n = (float)((int32_t)shifted >> 23) - (is_tiny ? 23.0f : 0.0f);
    scaled.bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
    float result = gs_log_of_parts_f(scaled.value - 1.0f, n, 0.0f);
    float outside = x == 0.0f ? -INFINITY : NAN;
    result = x > 0.0f ? result : outside;
    return x == INFINITY ? x : result;
}

/* n `of_two` + log m / log b of x = 2^n m.  The parts are added in double precision, so that powers of b have whole
 * logarithms. */
GS_INLINE float
gs_log_to_base_f(float x, double of_two, double of_e)
{
    int is_tiny = x < FLT_MIN;
    gs_float_bits scaled = {is_tiny ? x * 8388608.0f : x};
    uint32_t shifted = scaled.bits - 0x3f3504f3u;
    float n = (float)((int32_t)shifted >> 23) - (is_tiny ? 23.0f : 0.0f);
    scaled.bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
    double of_mantissa = gs_log_of_parts_f(scaled.value - 1.0f, 0.0f, 0.0f);
    float result = (float)(n * of_two + of_mantissa * of_e);
    float outside = x == 0.0f ? -INFINITY : NAN;
    result = x > 0.0f ? result : outside;
    return x == INFINITY ? x : result;
}

GS_INLINE float
gs_log10f(float x)
{
    return gs_log_to_base_f(x, 0.30102999566398119521, 0.43429448190325182765);
}

GS_INLINE float
gs_log2f(float x)
{
    return gs_log_to_base_f(x, 1.0, 1.4426950408889634);
}

/* The highest bit is set where x is no normal number above zero: its bits are then below those of the least one, or above
 * those of the greatest. */
GS_INLINE uint32_t
gs_is_unusual_logf(float x)
{
    gs_float_bits parts = {x};
    return (parts.bits - 0x00800000u) | (0x7f7fffffu - parts.bits);
}

GS_INLINE uint64_t
gs_is_unusual_log(double x)
{
    gs_double_bits parts = {x};
    return (parts.bits - 0x0010000000000000u) | (0x7fefffffffffffffu - parts.bits);
}

/* The same bits for a normal number above zero. */
GS_INLINE float
gs_log_of_normal_f(float x)
{
    gs_float_bits parts = {x};
    uint32_t shifted = parts.bits - 0x3f3504f3u;
    parts.bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
    return gs_log_of_parts_f(parts.value - 1.0f, (float)((int32_t)shifted >> 23), 0.0f);
}

/* The exponent as a double, without a conversion from 64 bits, which only the newest machines have for vectors. */
GS_INLINE double
gs_exponent_of(uint64_t shifted)
{
    gs_double_bits n;
    n.bits = ((shifted >> 52) ^ 0x800) + 0x4330000000000000u;
    return n.value - (4503599627370496.0 + 2048.0);
}

GS_INLINE double
gs_log(double x)
{
    int is_tiny = x < DBL_MIN;
    gs_double_bits scaled = {is_tiny ? x * 4503599627370496.0 : x};
    uint64_t shifted = scaled.bits - 0x3fe6a09e667f3bcdu;
    double n = gs_exponent_of(shifted) - (is_tiny ? 52.0 : 0.0);
    scaled.bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    double result = gs_log_of_parts(scaled.value - 1.0, n, 0.0);
    double outside = x == 0.0 ? -INFINITY : NAN;
    result = x > 0.0 ? result : outside;
    return x == INFINITY ? x : result;
}

/* A factor in two parts, the first with so few bits that products with it are exact. */
typedef struct {
    double upper, lower;
} gs_factor;

/* n `of_two` + log m `of_e` of x = 2^n m, with log m in two parts as well. */
GS_INLINE double
gs_log_to_base(double x, gs_factor of_two, gs_factor of_e)
{
    int is_tiny = x < DBL_MIN;
    gs_double_bits scaled = {is_tiny ? x * 4503599627370496.0 : x}, upper;
    uint64_t shifted = scaled.bits - 0x3fe6a09e667f3bcdu;
    double n = gs_exponent_of(shifted) - (is_tiny ? 52.0 : 0.0);
    scaled.bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    double f = scaled.value - 1.0, half_square = 0.5 * f * f;
    upper.value = f - half_square;
    upper.bits &= 0xffffffff00000000u;
    double lower = ((f - upper.value) - half_square) + gs_log_beyond_square(f, half_square);
    double whole = n * of_two.upper, part = upper.value * of_e.upper, sum = whole + part;
    double small = n * of_two.lower + ((lower + upper.value) * of_e.lower + lower * of_e.upper);
    double result = sum + (((whole - sum) + part) + small);
    double outside = x == 0.0 ? -INFINITY : NAN;
    result = x > 0.0 ? result : outside;
    return x == INFINITY ? x : result;
}

GS_INLINE double
gs_log10(double x)
{
    return gs_log_to_base(x, (gs_factor){0.30102999566361177, 3.694239077158931e-13},
                          (gs_factor){0.4342944818781689, 2.5082946711645275e-11});
}

GS_INLINE double
gs_log2(double x)
{
    return gs_log_to_base(x, (gs_factor){1.0, 0.0}, (gs_factor){1.4426950407214463, 1.6751713164886512e-10});
}

GS_INLINE double
gs_log_of_normal(double x)
{
    gs_double_bits parts = {x};
    uint64_t shifted = parts.bits - 0x3fe6a09e667f3bcdu;
    parts.bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    return gs_log_of_parts(parts.value - 1.0, gs_exponent_of(shifted), 0.0);
}

/* With an error of 1e-9, for normal numbers above zero. */
GS_INLINE double
gs_log_for_single(double x)
{
    gs_double_bits parts = {x};
    uint64_t shifted = parts.bits - 0x3fe6a09e667f3bcdu;
    parts.bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    double f = parts.value - 1.0, s = f / (2.0 + f), z = s * s, z2 = z * z;
    double p = GS_CUBIC(z, 1.999999998621348, 0.6666681595035742, 0.3997479494201127, 0.29925650692439437);
    return gs_exponent_of(shifted) * 0.6931471805599453 + s * p;
}

GS_INLINE float
gs_log1pf(float x)
{
    float u = 1.0f + x;
    gs_float_bits parts = {u};
    uint32_t shifted = parts.bits - 0x3f3504f3u;
    float n = (float)((int32_t)shifted >> 23);
    parts.bits = (shifted & 0x007fffffu) + 0x3f3504f3u;
    float lost = (x >= 1.0f ? 1.0f - (u - x) : x - (u - 1.0f)) / u;
    float f = n == 0.0f ? x : parts.value - 1.0f;
    float result = gs_log_of_parts_f(f, n, n == 0.0f ? 0.0f : lost);
    float outside = x == -1.0f ? -INFINITY : NAN;
    result = x > -1.0f ? result : outside;
    return x == INFINITY || fabsf(x) < 1e-8f ? x : result;
}

GS_INLINE double
gs_log1p(double x)
{
    double u = 1.0 + x;
    gs_double_bits parts = {u};
    uint64_t shifted = parts.bits - 0x3fe6a09e667f3bcdu;
    double n = gs_exponent_of(shifted);
    parts.bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    double lost = (x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0)) / u;
    double f = n == 0.0 ? x : parts.value - 1.0;
    double result = gs_log_of_parts(f, n, n == 0.0 ? 0.0 : lost);
    double outside = x == -1.0 ? -INFINITY : NAN;
    result = x > -1.0 ? result : outside;
    return x == INFINITY || fabs(x) < 1e-17 ? x : result;
}

#endif
