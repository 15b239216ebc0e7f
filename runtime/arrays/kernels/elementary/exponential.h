/* Note [Elementary functions]
 *
 * The functions of this folder are plain arithmetic without a branch, so a loop that calls them becomes a vector loop on
 * every machine, and an element has the same bits wherever it stands in its array: the rest of a loop takes the same steps
 * one by one.  A machine with fused multiply-add (x86-64-v3 and newer) uses it, for vectors of all widths and for single
 * numbers alike, so AVX2 and AVX-512 give the same bits.  Older machines round products apart; compiled with
 * -ffp-contract=off, all do.
 *
 * Errors are below 1.5 units in the last place either way, except for those of erfc in double precision, below 4, and of
 * gamma and Bessel functions, the normal distribution and inverses, as their Notes say; the tests measure them.  Zeros keep
 * their sign, infinities and NaN go the way of the C library, results below the smallest normal number are rounded once.
 * All polynomials are minimax approximations from Remez's exchange, for the form they are used in.
 *
 * Note [Exponentials]
 *
 * With n the integer next to x / log 2 and r the rest, e^x = 2^n e^r, and e^r = 1 + r + r^2 q(r).  Adding 1.5 * 2^23 (2^52
 * in double) rounds to an integer, which stands in the lowest bits of the sum.  log 2 is taken in two parts, the first
 * with so few bits that its product with n is exact.  2^n is a product of two numbers, since it may be too small or large
 * for one.
 */
#ifndef GRADSMITH_EXPONENTIAL_FUNCTIONS_H
#define GRADSMITH_EXPONENTIAL_FUNCTIONS_H

#include "support/simd.h"

#include <stdint.h>

typedef union {
    float value;
    uint32_t bits;
} gs_float_bits;

typedef union {
    double value;
    uint64_t bits;
} gs_double_bits;

/* The highest bit is set where the size of x is beyond that of the number of these bits, or x is NaN. */
GS_INLINE uint32_t
gs_beyond_f(float x, uint32_t most)
{
    gs_float_bits parts = {x};
    return most - (parts.bits & 0x7fffffffu);
}

GS_INLINE uint64_t
gs_beyond(double x, uint64_t most)
{
    gs_double_bits parts = {x};
    return most - (parts.bits & 0x7fffffffffffffffu);
}

/* Polynomials are sums of short ones times x^2 or x^4, which are computed side by side: a sum in one chain would keep a
 * processor waiting for most of the time. */
#define GS_LINE(x, a, b) ((a) + (x) * (b))
#define GS_PARABOLA(x, a, b, c) (GS_LINE(x, a, b) + x##2 * (c))
#define GS_CUBIC(x, a, b, c, d) (GS_LINE(x, a, b) + x##2 * GS_LINE(x, c, d))

#define GS_ROUNDER_F 12582912.0f
#define GS_ROUNDER_F_BITS 0x4b400000u
#define GS_ROUNDER 6755399441055744.0
#define GS_ROUNDER_BITS 0x4338000000000000u

GS_INLINE float
gs_within_f(float x, float least, float most)
{
    float above = x < least ? least : x;
    return above > most ? most : above;
}

GS_INLINE double
gs_within(double x, double least, double most)
{
    double above = x < least ? least : x;
    return above > most ? most : above;
}

/* What a ratio of two numbers lacks, times the second; products of halves are exact. */
GS_INLINE double
gs_left_by_ratio(double over, double under, double ratio)
{
    gs_double_bits upper = {ratio}, upper_under = {under};
    upper.bits &= 0xfffffffff8000000u;
    upper_under.bits &= 0xfffffffff8000000u;
    double lower = ratio - upper.value, lower_under = under - upper_under.value;
    double left = (over - upper.value * upper_under.value) - upper.value * lower_under - lower * upper_under.value;
    return left - lower * lower_under;
}

/* (e^r - 1 - r) / r^2 for r between -log 2 / 2 and log 2 / 2. */
GS_INLINE float
gs_exp_series_f(float r)
{
    float r2 = r * r;
    float q = GS_LINE(r, 0.5f, 0.16666518f) + r2 * GS_PARABOLA(r, 0.041666206f, 0.008368918f, 0.0013950542f);
    return q;
}

GS_INLINE double
gs_exp_series(double r)
{
    double r2 = r * r, r4 = r2 * r2;
    double q = GS_CUBIC(r, 0.0013888888888858371, 0.0001984126989718974, 2.4801587373874594e-05, 2.7557234102508536e-06)
        + r4 * GS_PARABOLA(r, 2.7557233253616615e-07, 2.5112287726208716e-08, 2.092697348704229e-09);
    q = GS_CUBIC(r, 0.5, 0.16666666666666685, 0.04166666666666673, 0.008333333333316687) + r4 * q;
    return q;
}

/* value 2^n, with n in the lowest bits of `shifted`. */
GS_INLINE float
gs_times_power_f(float value, uint32_t shifted)
{
    gs_float_bits first, second;
    uint32_t power = shifted - GS_ROUNDER_F_BITS + 256;
    uint32_t half = power >> 1;
    first.bits = (half - 128 + 127) << 23;
    second.bits = (power - half - 128 + 127) << 23;
    return value * first.value * second.value;
}

GS_INLINE double
gs_times_power(double value, uint64_t shifted)
{
    gs_double_bits first, second;
    uint64_t power = shifted - GS_ROUNDER_BITS + 2048;
    uint64_t half = power >> 1;
    first.bits = (half - 1024 + 1023) << 52;
    second.bits = (power - half - 1024 + 1023) << 52;
    return value * first.value * second.value;
}

/* 2^added e^x, between the sizes where it is zero or infinite. */
GS_INLINE float
gs_exp_inside_f(float x, int added)
{
    gs_float_bits shifted = {x * 1.44269504f + GS_ROUNDER_F};
    float n = shifted.value - GS_ROUNDER_F;
    float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    return gs_times_power_f(gs_exp_series_f(r) * (r * r) + r + 1.0f, shifted.bits + (uint32_t)added);
}

GS_INLINE double
gs_exp_inside(double x, int added)
{
    gs_double_bits shifted = {x * 1.4426950408889634 + GS_ROUNDER};
    double n = shifted.value - GS_ROUNDER;
    double r = (x - n * 0.6931471805592082) - n * 7.371002565167799e-13;
    return gs_times_power(gs_exp_series(r) * (r * r) + r + 1.0, shifted.bits + (uint64_t)added);
}

GS_INLINE float
gs_expf(float x)
{
    return gs_exp_inside_f(gs_within_f(x, -104.0f, 89.0f), 0);
}

GS_INLINE double
gs_exp(double x)
{
    return gs_exp_inside(gs_within(x, -746.0, 710.0), 0);
}

/* 2^x = 2^n 2^r with n the integer next to x, and 2^r = 1 + r (log 2 + r q(r)). */
GS_INLINE float
gs_exp2f(float x)
{
    float inside = gs_within_f(x, -151.0f, 129.0f);
    gs_float_bits shifted = {inside + GS_ROUNDER_F};
    float r = inside - (shifted.value - GS_ROUNDER_F), r2 = r * r;
    float q = GS_CUBIC(r, 0.2402265f, 0.055503808f, 0.0096181035f, 0.0013381494f) + r2 * r2 * 0.00015445049f;
    return gs_times_power_f(1.0f + (r * 0.6931472f + r2 * q), shifted.bits);
}

GS_INLINE double
gs_exp2(double x)
{
    double inside = gs_within(x, -1076.0, 1025.0);
    gs_double_bits shifted = {inside + GS_ROUNDER};
    double r = inside - (shifted.value - GS_ROUNDER), r2 = r * r, r4 = r2 * r2;
    double q = GS_CUBIC(r, 0.00015403530393375822, 1.5252733830147138e-05, 1.3215486803057882e-06, 1.0178062256646543e-07)
        + r4 * GS_PARABOLA(r, 7.054899862722409e-09, 4.4549983631048684e-10, 2.5725267506017277e-11);
    q = GS_CUBIC(r, 0.24022650695910072, 0.0555041086648216, 0.009618129107628479, 0.001333355814641675) + r4 * q;
    return gs_times_power(1.0 + (r * 0.6931471805599453 + r2 * q), shifted.bits);
}

/* The same bits where the result is a normal number, so that n can be added to its exponent: for sizes up to 87 and 708. */
#define gs_is_unusual_expf(x) gs_beyond_f(x, 0x42ae0000u)
#define gs_is_unusual_exp(x) gs_beyond(x, 0x4086200000000000u)

GS_INLINE float
gs_normal_expf(float x)
{
    gs_float_bits shifted = {x * 1.44269504f + GS_ROUNDER_F}, result;
    float n = shifted.value - GS_ROUNDER_F;
    float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    result.value = gs_exp_series_f(r) * (r * r) + r + 1.0f;
    result.bits += shifted.bits << 23;
    return result.value;
}

GS_INLINE double
gs_normal_exp(double x)
{
    gs_double_bits shifted = {x * 1.4426950408889634 + GS_ROUNDER}, result;
    double n = shifted.value - GS_ROUNDER;
    double r = (x - n * 0.6931471805592082) - n * 7.371002565167799e-13;
    result.value = gs_exp_series(r) * (r * r) + r + 1.0;
    result.bits += shifted.bits << 52;
    return result.value;
}

/* e^x - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)): 2^n itself may be too large.  Where n is 0, halving could lose a bit
 * of what is tiny; and of what is tinier, the sum would lose the sign of zero.  What r lost by rounding is added again. */
GS_INLINE float
gs_expm1f(float x)
{
    float inside = gs_within_f(x, -19.0f, 89.0f);
    gs_float_bits shifted = {inside * 1.44269504f + GS_ROUNDER_F}, half;
    float n = shifted.value - GS_ROUNDER_F;
    float high = inside - n * 0.693359375f, low = n * -2.12194440e-4f, r = high - low;
    float small = gs_exp_series_f(r) * (r * r) + ((high - r) - low);
    half.bits = (shifted.bits - GS_ROUNDER_F_BITS + 126) << 23;
    float large = 2.0f * (half.value * small + (half.value * r + (half.value - 0.5f)));
    float result = n == 0.0f ? r + small : large;
    return fabsf(x) < 1e-7f ? x : result;
}

GS_INLINE double
gs_expm1(double x)
{
    double inside = gs_within(x, -40.0, 710.0);
    gs_double_bits shifted = {inside * 1.4426950408889634 + GS_ROUNDER}, half;
    double n = shifted.value - GS_ROUNDER;
    double high = inside - n * 0.6931471805592082, low = n * 7.371002565167799e-13, r = high - low;
    double small = gs_exp_series(r) * (r * r) + ((high - r) - low);
    half.bits = (shifted.bits - GS_ROUNDER_BITS + 1022) << 52;
    double large = 2.0 * (half.value * small + (half.value * r + (half.value - 0.5)));
    double result = n == 0.0 ? r + small : large;
    return fabs(x) < 1e-17 ? x : result;
}

#endif
