/* Note [Inverse trigonometric functions]
 *
 * atan x is that of a number up to tan(1/2) plus a multiple of pi/4: of x, of (x - 1) / (x + 1) plus pi/4, or of -1 / x
 * plus pi/2.  What is added has two parts, and the sum with the ratio loses nothing.  atan2 does the same with the ratio of
 * its shorter side to its longer one, and counts the angle from the axis next to the point.
 *
 * asin x = x + x^3 p(x^2) up to 1/2.  Beyond, x = 1 - 2 z and asin x = pi/2 - 2 asin(sqrt z), with the root in two parts.
 * acos x = pi/2 - asin x, and 2 asin(sqrt z) where that would lose digits.
 */
#ifndef GRADSMITH_INVERSE_TRIGONOMETRIC_FUNCTIONS_H
#define GRADSMITH_INVERSE_TRIGONOMETRIC_FUNCTIONS_H

#include "elementary/exponential.h"

/* ---- double precision */

/* atan r - r up to tan(1/2). */
GS_INLINE double
gs_atan_series(double r)
{
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, -0.3333333333333333, 0.19999999999999762, -0.14285714285662374, 0.11111111106628732)
        + z4 * GS_CUBIC(z, -0.09090908888282673, 0.07692302183832775, -0.06666569167125434, 0.05881173710116238)
        + z4 * z4 * (GS_CUBIC(z, -0.05253123631568424, 0.04700886759465037, -0.04081347735649769, 0.03167615541653418)
        + z4 * GS_LINE(z, -0.018632194843553572, 0.005873031620395398));
    return r * z * p;
}

/* atan(over / under) + base + low, where the ratio is at most tan(1/2), and the base zero or greater than it. */
GS_INLINE double
gs_angle(double over, double under, double base, double low)
{
    double r = over / under;
    double sum = base + r, lost = (base - sum) + r;
    return sum + (lost + (gs_atan_series(r) + low));
}

GS_INLINE double
gs_atan(double x)
{
    double t = fabs(x);
    int is_middle = t > 0.5463024898437905, is_large = t > 2.414213562373095;
    double over = is_large ? -1.0 : is_middle ? t - 1.0 : t;
    double under = is_large ? t : is_middle ? t + 1.0 : 1.0;
    double base = is_large ? 1.5707963267948966 : is_middle ? 0.7853981633974483 : 0.0;
    double low = is_large ? 6.123233995736766e-17 : is_middle ? 3.061616997868383e-17 : 0.0;
    return copysign(gs_angle(over, under, base, low), x);
}

/* Conditions are not joined: a loop with a jump in it is no vector loop. */
GS_INLINE double
gs_atan2(double y, double x)
{
    double wide = fabs(x), high = fabs(y), side = copysign(1.0, x);
    int is_steep = high > wide, is_left = side < 0.0;
    double shorter = is_steep ? wide : high, longer = is_steep ? high : wide;
    int are_infinite = shorter == INFINITY;
    double scale = longer > 1e300 ? 0.0625 : 1.0;
    scale = longer < 1e-290 ? 1.152921504606847e18 : scale;
    shorter = are_infinite ? 1.0 : shorter * scale;
    longer = are_infinite ? 1.0 : longer * scale;
    longer = longer == 0.0 ? 1.0 : longer;
    int is_middle = shorter > 0.5463024898437905 * longer;
    double over = is_middle ? shorter - longer : shorter;
    double under = is_middle ? shorter + longer : longer;
    double turn = is_steep ? -side : side;
    double along = is_left ? 3.141592653589793 : 0.0, along_low = is_left ? 1.2246467991473532e-16 : 0.0;
    double across = is_left ? 2.356194490192345 : 0.7853981633974483;
    double across_low = is_left ? 9.184850993605148e-17 : 3.061616997868383e-17;
    double base = is_steep ? 1.5707963267948966 : along, low = is_steep ? 6.123233995736766e-17 : along_low;
    base = is_middle ? across : base;
    low = is_middle ? across_low : low;
    double angle = copysign(gs_angle(over * turn, under, base, low), y);
    return x != x ? x : angle;
}

/* asin(sqrt z) / sqrt z - 1 up to asin(1/2). */
GS_INLINE double
gs_asin_series(double z)
{
    double z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247)
        + z4 * GS_CUBIC(z, 0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906)
        + z4 * z4 * (GS_CUBIC(z, 0.01032281435018578, 0.005457506718640358, 0.01740087944269402, -0.014851887071247204)
        + z4 * 0.028757851367421566);
    return z * p;
}

/* A root, the part of it whose square is exact, and what that part lacks. */
typedef struct {
    double whole, upper, rest;
} gs_split_root;

GS_INLINE gs_split_root
gs_root_in_parts(double z)
{
    double root = sqrt(z);
    gs_double_bits upper = {root};
    upper.bits &= 0xffffffff00000000u;
    return (gs_split_root){root, upper.value, (z - upper.value * upper.value) / (root + upper.value + 1e-300)};
}

GS_INLINE double
gs_asin(double x)
{
    double t = fabs(x);
    int is_large = t > 0.5;
    double z = is_large ? (1.0 - t) * 0.5 : t * t, series = gs_asin_series(z);
    gs_split_root root = gs_root_in_parts(z);
    double small = 2.0 * root.whole * series - (6.123233995736766e-17 - 2.0 * root.rest);
    double large = 0.7853981633974483 - (small - (0.7853981633974483 - 2.0 * root.upper));
    return copysign(is_large ? large : t + t * series, x);
}

GS_INLINE double
gs_acos(double x)
{
    double t = fabs(x);
    int is_large = t > 0.5;
    double z = is_large ? (1.0 - t) * 0.5 : t * t, series = gs_asin_series(z);
    gs_split_root root = gs_root_in_parts(z);
    double right = 2.0 * (root.upper + (root.whole * series + root.rest));
    double left = 3.141592653589793 - 2.0 * (root.whole + (root.whole * series - 6.123233995736766e-17));
    double middle = 1.5707963267948966 - (x - (6.123233995736766e-17 - x * series));
    return is_large ? (x < 0.0 ? left : right) : middle;
}

/* ---- single precision */

/* atan r - r up to tan(1/2). */
GS_INLINE float
gs_atan_series_f(float r)
{
    float z = r * r, z2 = z * z, z4 = z2 * z2;
    float p = GS_CUBIC(z, -0.33333334f, 0.19999978f, -0.14284554f, 0.110871404f)
        + z4 * GS_PARABOLA(z, -0.08850018f, 0.063992f, -0.028877273f);
    return r * z * p;
}

/* atan(over / under) + base + low, where the ratio is at most tan(1/2), and the base zero or greater than it. */
GS_INLINE float
gs_angle_f(float over, float under, float base, float low)
{
    float r = over / under;
    float sum = base + r, lost = (base - sum) + r;
    return sum + (lost + (gs_atan_series_f(r) + low));
}

GS_INLINE float
gs_atanf(float x)
{
    float t = fabsf(x);
    int is_middle = t > 0.5463025f, is_large = t > 2.4142136f;
    float over = is_large ? -1.0f : is_middle ? t - 1.0f : t;
    float under = is_large ? t : is_middle ? t + 1.0f : 1.0f;
    float base = is_large ? 1.5707964f : is_middle ? 0.7853982f : 0.0f;
    float low = is_large ? -4.371139e-08f : is_middle ? -2.1855694e-08f : 0.0f;
    return copysignf(gs_angle_f(over, under, base, low), x);
}

/* Conditions are not joined: a loop with a jump in it is no vector loop. */
GS_INLINE float
gs_atan2f(float y, float x)
{
    float wide = fabsf(x), high = fabsf(y), side = copysignf(1.0f, x);
    int is_steep = high > wide, is_left = side < 0.0f;
    float shorter = is_steep ? wide : high, longer = is_steep ? high : wide;
    int are_infinite = shorter == INFINITY;
    float scale = longer > 1e37f ? 0.0625f : 1.0f;
    scale = longer < 1e-30f ? 1.1529215e18f : scale;
    shorter = are_infinite ? 1.0f : shorter * scale;
    longer = are_infinite ? 1.0f : longer * scale;
    longer = longer == 0.0f ? 1.0f : longer;
    int is_middle = shorter > 0.5463025f * longer;
    float over = is_middle ? shorter - longer : shorter;
    float under = is_middle ? shorter + longer : longer;
    float turn = is_steep ? -side : side;
    float along = is_left ? 3.1415927f : 0.0f, along_low = is_left ? -8.742278e-08f : 0.0f;
    float across = is_left ? 2.3561945f : 0.7853982f;
    float across_low = is_left ? -5.9624403e-09f : -2.1855694e-08f;
    float base = is_steep ? 1.5707964f : along, low = is_steep ? -4.371139e-08f : along_low;
    base = is_middle ? across : base;
    low = is_middle ? across_low : low;
    float angle = copysignf(gs_angle_f(over * turn, under, base, low), y);
    return x != x ? x : angle;
}

/* asin(sqrt z) / sqrt z - 1 up to asin(1/2). */
GS_INLINE float
gs_asin_series_f(float z)
{
    float z2 = z * z, z4 = z2 * z2;
    float p = GS_CUBIC(z, 0.16666666f, 0.07500094f, 0.044599403f, 0.031100662f)
        + z4 * GS_LINE(z, 0.017149238f, 0.033690847f);
    return z * p;
}

/* A root, the part of it whose square is exact, and what that part lacks. */
typedef struct {
    float whole, upper, rest;
} gs_split_root_f;

GS_INLINE gs_split_root_f
gs_root_in_parts_f(float z)
{
    float root = sqrtf(z);
    gs_float_bits upper = {root};
    upper.bits &= 0xfffff000u;
    return (gs_split_root_f){root, upper.value, (z - upper.value * upper.value) / (root + upper.value + 1e-37f)};
}

GS_INLINE float
gs_asinf(float x)
{
    float t = fabsf(x);
    int is_large = t > 0.5f;
    float z = is_large ? (1.0f - t) * 0.5f : t * t, series = gs_asin_series_f(z);
    gs_split_root_f root = gs_root_in_parts_f(z);
    float small = 2.0f * root.whole * series - (-4.371139e-08f - 2.0f * root.rest);
    float large = 0.7853982f - (small - (0.7853982f - 2.0f * root.upper));
    return copysignf(is_large ? large : t + t * series, x);
}

GS_INLINE float
gs_acosf(float x)
{
    float t = fabsf(x);
    int is_large = t > 0.5f;
    float z = is_large ? (1.0f - t) * 0.5f : t * t, series = gs_asin_series_f(z);
    gs_split_root_f root = gs_root_in_parts_f(z);
    float right = 2.0f * (root.upper + (root.whole * series + root.rest));
    float left = 3.1415927f - 2.0f * (root.whole + (root.whole * series - -4.371139e-08f));
    float middle = 1.5707964f - (x - (-4.371139e-08f - x * series));
    return is_large ? (x < 0.0f ? left : right) : middle;
}

#endif
