/* Note [Gamma functions]
 *
 * lgamma, the logarithm of |Gamma|, is Stirling's formula beyond 5 (DLMF 5.11.1), and (x - 1) (x - 2) S(x) from 1/2 on: so
 * it is right relative to its own size also next to its roots 1 and 2.  Below 1/2 it is lgamma(x + 1) - log x, and for
 * negative numbers, with a = -x, log(pi / (a |sin(pi a)|)) - lgamma(a); next to the roots there errors are relative to the
 * larger term.  The logarithm is taken from zero, so that lgamma(1) is +0.
 *
 * Its derivatives: digamma, the first, is called psi below, trigamma is psi', and tetragamma psi''.
 *
 * Beyond a small number they are sums in 1 / x (DLMF 5.11.2 and its derivatives), below it rational functions, of which the
 * poles and roots nearby are factors: so psi is right relative to its own size also next to its roots 1.46 and -0.504, of
 * which the second half of the digits is subtracted as well.  Smaller numbers are reflected (DLMF 5.5.4):
 *
 *     psi(x) = psi(1 - x) - pi cot(pi x),    and the derivatives of both sides.
 *
 * With r, the distance from the next integer, pi cot(pi r) = (1 - 4 r^2) m(r^2) / (r (1 - r^2)) and sin(pi r)^2 = (pi r)^2 s(r^2).
 *
 * Errors are below 6 units in the last place of double precision, of the larger term where numbers are reflected.  Single
 * precision is computed in double, and rounded once.
 *
 * At poles lgamma is infinite, and psi is NaN, except at zero, where its sign says from where it is seen; psi' is infinite,
 * psi'' minus infinity.
 */
#ifndef GRADSMITH_GAMMA_FUNCTIONS_H
#define GRADSMITH_GAMMA_FUNCTIONS_H

#include "elementary/logarithm.h"

/* ---- at integers and between them */

GS_INLINE int
gs_is_whole_below_zero(double x)
{
    return x < 0.0 && x == rint(x);
}

/* pi cot(pi r) for r between -1/2 and 1/2. */
GS_INLINE double
gs_cotangent_of_turn(double r)
{
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double m = GS_CUBIC(z, -0.0016411143130358064, -0.00039884111578639874, -9.881257279723342e-05, -2.3493582647822273e-05)
        + z4 * -8.162725461473591e-06;
    m = GS_CUBIC(z, 0.9999999999999999, -0.28986813369641223, -0.03425086851591005, -0.007043130419940102) + z4 * m;
    return (1.0 - 2.0 * r) * (1.0 + 2.0 * r) * m / (r * ((1.0 - r) * (1.0 + r)));
}

/* (pi / sin(pi r))^2 for r between -1/2 and 1/2. */
GS_INLINE double
gs_squared_cosecant_of_turn(double r)
{
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double s = GS_LINE(z, 0.001832560790344024, -0.00017164333945755863);
    s = GS_CUBIC(z, 1.338769803677848, -0.4003977641482786, 0.08685146780729555, -0.014283408070985187) + z4 * s;
    s = GS_CUBIC(z, 1.0, -3.289868133696422, 4.329292934840742, -3.0520291857686876) + z4 * s;
    return 1.0 / (z * s);
}

/* ---- logarithm of the gamma function */

/* log Gamma x / ((x - 1) (x - 2)) for x from 0.5 to 5. */
GS_INLINE double
gs_lgamma_between_roots(double x)
{
    double x2 = x * x, x4 = x2 * x2;
    double p = GS_PARABOLA(x, 25.611835800498557, 0.42913255217198354, 0.000412246066592751);
    p = GS_CUBIC(x, 10597.60397204401, 8060.397942279554, 2813.119690999542, 431.2210972068128) + x4 * p;
    p = GS_CUBIC(x, 2.828207680510492, 142.43675729624078, 1592.2300869661349, 6315.225368194593) + x4 * p;
    double q = GS_PARABOLA(x, 216.40379632588622, 8.861773969217067, 0.09530406149250223);
    q = GS_CUBIC(x, 15996.691513616108, 16836.785367451175, 8484.63062832529, 2029.0753724768283) + x4 * q;
    q = GS_CUBIC(x, 1.0, 80.72459908422377, 1285.7177097670774, 7000.919780540399) + x4 * q;
    return p / q;
}

/* What Stirling's formula lacks, for x from 5. */
GS_INLINE double
gs_stirling_series(double x)
{
    double inverse = 1.0 / x, z = inverse * inverse, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 0.0008412976064387121, -0.0018916981131977123, 0.005559206760067587, -0.013306384766061033);
    p = GS_CUBIC(z, 0.08333333333333331, -0.0027777777777384886, 0.0007936507723851902, -0.0005952336879339762) + z4 * p;
    return inverse * p;
}

/* |sin(pi r)| / pi for r between -1/2 and 1/2. */
GS_INLINE double
gs_sine_of_turn(double r)
{
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double s = GS_CUBIC(z, 0.026147845158309996, -0.002346058793854414, 0.00014832528221795844, -6.723644734843619e-06);
    s = GS_CUBIC(z, 0.9999999999999999, -1.6449340668481571, 0.8117424252777612, -0.19075182394857912) + z4 * s;
    return fabs(r) * s;
}

/* What lgamma is made of: with a the size of x, it is `sign` (w (w - 1) S(y) or Stirling's formula) - log `factor`. */
typedef struct {
    double w, y, far, r, sign, factor;
    int is_large;
} gs_lgamma_parts;

/* `factor` lacks the sine, which the caller multiplies negative numbers by. */
GS_INLINE gs_lgamma_parts
gs_parts_of_lgamma(double x)
{
    double size = fabs(x), near = size > 5.0 ? 5.0 : size;
    int is_small = size < 0.5, is_negative = x < 0.0;
    gs_lgamma_parts parts;
    parts.w = is_small ? near : near - 1.0;
    parts.y = is_small ? near + 1.0 : near;
    parts.far = size < 5.0 ? 5.0 : size;
    parts.r = size - rint(size);
    parts.sign = is_negative ? -1.0 : 1.0;
    parts.factor = is_small != is_negative ? size : 1.0;
    parts.is_large = size > 5.0;
    return parts;
}

GS_INLINE int
gs_is_pole_or_infinite(double x)
{
    return fabs(x) == INFINITY || (x <= 0.0 && x == rint(x));
}

GS_INLINE double
gs_lgamma(double x)
{
    gs_lgamma_parts parts = gs_parts_of_lgamma(x);
    double far = parts.far;
    double large = (far - 0.5) * (gs_log_of_normal(far) - 1.0) + (0.4189385332046727 + gs_stirling_series(far));
    double value = parts.is_large ? large : parts.w * (parts.w - 1.0) * gs_lgamma_between_roots(parts.y);
    double sine = gs_sine_of_turn(parts.r);
    double result = (0.0 - gs_log(parts.factor * (x < 0.0 ? sine : 1.0))) + parts.sign * value;
    return gs_is_pole_or_infinite(x) ? INFINITY : result;
}

/* ---- the same in double with fewer terms, for single precision */

GS_INLINE double
gs_lgamma_between_roots_for_single(double x)
{
    double x2 = x * x, x4 = x2 * x2;
    double p = GS_CUBIC(x, 2.223585995053539, 24.875264334133952, 47.162258911796094, 20.18654710664328)
        + x4 * GS_LINE(x, 1.7250548571081492, 0.0075250705796061496);
    double q = GS_CUBIC(x, 1.0, 21.75211086571134, 72.57632264351128, 58.390719247327795)
        + x4 * GS_LINE(x, 12.378094483233648, 0.5306567945317816);
    return p / q;
}

GS_INLINE double
gs_stirling_series_for_single(double x)
{
    double inverse = 1.0 / x, z = inverse * inverse, z2 = z * z;
    return inverse * GS_CUBIC(z, 0.08333333331965383, -0.0027777666063619933, 0.0007922195073617799, -0.0005354872604941616);
}

GS_INLINE double
gs_sine_of_turn_for_single(double r)
{
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double s = GS_CUBIC(z, 0.9999999999788494, -1.6449340611395988, 0.8117421707751842, -0.19074762267618708)
        + z4 * GS_LINE(z, 0.02611620531224888, -0.00223522403098641);
    return fabs(r) * s;
}

GS_INLINE float
gs_lgammaf(float x)
{
    double wide = (double)x;
    gs_lgamma_parts parts = gs_parts_of_lgamma(wide);
    double far = parts.far;
    double large = (far - 0.5) * (gs_log_for_single(far) - 1.0)
        + (0.4189385332046727 + gs_stirling_series_for_single(far));
    double value = parts.is_large ? large : parts.w * (parts.w - 1.0) * gs_lgamma_between_roots_for_single(parts.y);
    double sine = gs_sine_of_turn_for_single(parts.r);
    double result = (0.0 - gs_log_for_single(parts.factor * (wide < 0.0 ? sine : 1.0))) + parts.sign * value;
    return (float)(gs_is_pole_or_infinite(wide) ? INFINITY : result);
}

/* ---- digamma */

/* For x from -1 to 5. */
GS_INLINE double
gs_small_digamma(double x)
{
    double u = x + 1.0, u2 = u * u, u4 = u2 * u2;
    double p = GS_CUBIC(u, 0.356660369870181, 0.04437209362571037, 0.0025798514346733344, 5.810082205903923e-05)
        + u4 * 3.110041737169205e-07;
    p = GS_CUBIC(u, 0.8191583388608926, 2.69222227808214, 2.9214749338364796, 1.441849322733998) + u4 * p;
    double q = GS_CUBIC(u, 0.15019915608259612, 0.015192158893975086, 0.000708175665264853, 1.231128196035315e-05)
        + u4 * 4.5517850522534575e-08;
    q = GS_CUBIC(u, 1.0, 2.286654586710103, 1.898779677546911, 0.7478279855915764) + u4 * q;
    double from_root = (x - 1.4616321449683622) - 9.549995429965697e-17;
    double from_lower_root = (x + 0.5040830082644554) + 8.15428206243813e-18;
    return from_root * from_lower_root * p / (x * u * q);
}

GS_INLINE double
gs_large_digamma(double x)
{
    double inverse = 1.0 / x, z = inverse * inverse, z2 = z * z, z4 = z2 * z2;
    double p = GS_PARABOLA(z, 0.007503672063767913, -0.018779677698900675, 0.040715027859642934);
    p = GS_CUBIC(z, 0.08333333333322855, -0.00833333327155107, 0.003968241166851636, -0.0041653728986646935) + z4 * p;
    double result = gs_log_of_normal(x) - (0.5 * inverse + z * p);
    return x == INFINITY ? x : result;
}

GS_INLINE double
gs_digamma(double x)
{
    int is_reflected = x < -1.0;
    double y = is_reflected ? 1.0 - x : x;
    double small = gs_small_digamma(y), large = gs_large_digamma(y);
    double value = y > 5.0 ? large : small;
    double reflected = value - gs_cotangent_of_turn(x - rint(x));
    double result = is_reflected ? reflected : value;
    return gs_is_whole_below_zero(x) ? NAN : result;
}

GS_INLINE float
gs_digammaf(float x)
{
    return (float)gs_digamma((double)x);
}

/* ---- trigamma */

/* For x from 0 to 6. */
GS_INLINE double
gs_small_trigamma(double x)
{
    double x2 = x * x, x4 = x2 * x2;
    double p = GS_LINE(x, 0.11452787124245842, 0.007531480097179395);
    p = GS_CUBIC(x, 13.24153331584717, 7.89964446061811, 3.1084166787641543, 0.7811195756484437) + x4 * p;
    p = GS_CUBIC(x, 1.0, 4.546211705574526, 10.465277222050211, 14.65706502022609) + x4 * p;
    double q = GS_CUBIC(x, 6.41529100525549, 2.7277146875251135, 0.7244832636341115, 0.11076213118348516)
        + x4 * 0.007531480097374113;
    q = GS_CUBIC(x, 1.0, 4.546211705574526, 8.820343155201995, 9.582960316941323) + x4 * q;
    return p / (q * x2);
}

GS_INLINE double
gs_large_trigamma(double x)
{
    double inverse = 1.0 / x, z = inverse * inverse, z2 = z * z, z4 = z2 * z2;
    double p = GS_PARABOLA(z, 0.07534297153126852, -0.23364146933409122, 0.6555342531519056);
    p = GS_CUBIC(z, 0.16666666666655938, -0.033333333231629694, 0.023809491165339657, -0.03332833630684236) + z4 * p;
    return inverse + (0.5 * z + z * inverse * p);
}

GS_INLINE double
gs_trigamma(double x)
{
    int is_reflected = x < 0.0;
    double y = is_reflected ? 1.0 - x : x;
    double small = gs_small_trigamma(y), large = gs_large_trigamma(y);
    double value = y > 6.0 ? large : small;
    double result = is_reflected ? gs_squared_cosecant_of_turn(x - rint(x)) - value : value;
    return gs_is_whole_below_zero(x) ? INFINITY : result;
}

GS_INLINE float
gs_trigammaf(float x)
{
    return (float)gs_trigamma((double)x);
}

/* ---- tetragamma */

/* For x from 0 to 6, by minus one. */
GS_INLINE double
gs_small_tetragamma(double x)
{
    double x2 = x * x, x4 = x2 * x2;
    double p = GS_LINE(x, 0.2799656565132011, 0.020164954691967586);
    p = GS_CUBIC(x, 26.480202403806583, 16.066498204843043, 6.599081718853346, 1.765621140185404) + x4 * p;
    p = GS_CUBIC(x, 2.0, 10.213376617891198, 22.327563407369528, 29.78067700493516) + x4 * p;
    double q = GS_CUBIC(x, 10.348540968357993, 4.973443927562488, 1.495737926749485, 0.2598007032557218)
        + x4 * 0.020164954663410607;
    q = GS_CUBIC(x, 1.0, 5.106688308945617, 11.16378170368342, 13.688281599348088) + x4 * q;
    return p / (q * (x2 * x));
}

/* By minus one. */
GS_INLINE double
gs_large_tetragamma(double x)
{
    double inverse = 1.0 / x, z = inverse * inverse, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 0.8322727042782226, -3.2193236498948457, 14.603523893353609, -49.62638002382553);
    p = GS_CUBIC(z, 0.49999999999990785, -0.16666666655448087, 0.166666620040003, -0.29999059241725295) + z4 * p;
    return z + (z * inverse + z2 * p);
}

GS_INLINE double
gs_tetragamma(double x)
{
    int is_reflected = x < 0.0;
    double y = is_reflected ? 1.0 - x : fabs(x);
    double small = gs_small_tetragamma(y), large = gs_large_tetragamma(y);
    double value = y > 6.0 ? large : small;
    double r = x - rint(x);
    double reflected = -value - 2.0 * gs_cotangent_of_turn(r) * gs_squared_cosecant_of_turn(r);
    double result = is_reflected ? reflected : -value;
    return gs_is_whole_below_zero(x) ? -INFINITY : result;
}

GS_INLINE float
gs_tetragammaf(float x)
{
    return (float)gs_tetragamma((double)x);
}

#endif
