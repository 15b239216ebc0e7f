/* Note [Inverse error function]
 *
 * With c = 1 - |x|, which is given since it may be tiny, w = -log(c (2 - c)) = -log(1 - x^2) and v = sqrt(-log c), erfinv x
 * is x R(w) near the middle (Giles, Approximating the erfinv function), and a rational function of v beyond, as in Wichura's
 * AS 241.  Both are quotients, of which numerator and denominator are chosen before the division.  The second has two
 * pieces, the last of which begins where c is e^-36: erfinv in double precision never comes there, since 1 - |x| is a
 * multiple of 2^-53.
 *
 * The quantile of the normal distribution at p is sqrt(2) erfinv(2 p - 1), with c = 2 min(p, 1 - p), which is exact.
 *
 * Errors are below 4 units in the last place, of the quantile below 5.  In single precision all is computed in double; for
 * erfinv R is then good for all x.
 */
#ifndef GRADSMITH_INVERSE_ERROR_FUNCTION_H
#define GRADSMITH_INVERSE_ERROR_FUNCTION_H

#include "elementary/logarithm.h"

typedef struct {
    double above, below;
} gs_quotient;

GS_INLINE gs_quotient
gs_chosen_quotient(int is_first, gs_quotient first, gs_quotient second)
{
    return (gs_quotient){is_first ? first.above : second.above, is_first ? first.below : second.below};
}

/* erfinv x / x, for w from 0 to 5. */
GS_INLINE gs_quotient
gs_inverse_near(double w)
{
    double w2 = w * w, w4 = w2 * w2;
    double p = GS_CUBIC(w, 0.0025655568367655953, 0.0002764021210777686, 2.193155103091127e-05, 1.1682060611211642e-06)
        + w4 * 3.228948877048704e-08;
    p = GS_CUBIC(w, 0.886226925452758, 0.34978201301354434, 0.09350997283581823, 0.01801183664250796) + w4 * p;
    double q = GS_CUBIC(w, 0.0010346084036706089, 7.984533424612067e-05, 5.561763395505755e-06, 2.3762070804626315e-07)
        + w4 * 1.960394834666049e-09;
    q = GS_CUBIC(w, 1.0, 0.13288734871006613, 0.05769284177539623, 0.0061233177783948005) + w4 * q;
    return (gs_quotient){p, q};
}

/* erfinv |x|, for v from 2.385 to 6.08. */
GS_INLINE gs_quotient
gs_inverse_beyond(double v)
{
    double u = v - 2.375, u2 = u * u, u4 = u2 * u2;
    double p = GS_CUBIC(u, 0.5147573942621747, 0.07763798742442374, 0.005843110057197344, 0.00016082042103438427);
    p = GS_CUBIC(u, 2.06160353118477, 4.443952636435432, 3.9780035714403255, 1.898764182241528) + u4 * p;
    double q = GS_CUBIC(u, 0.06505143725302147, 0.00546281145603258, 0.00016080183920600774, 1.7611025187723189e-10);
    q = GS_CUBIC(u, 1.0, 1.6472064821392085, 1.0940907596905487, 0.3690694701050885) + u4 * q;
    return (gs_quotient){p, q};
}

/* erfinv |x|, for v from 6 to 27.4. */
GS_INLINE gs_quotient
gs_inverse_far(double v)
{
    double u = v - 6.0, u2 = u * u, u4 = u2 * u2;
    double p = GS_CUBIC(u, 0.015503072585377762, 0.0006907887751758053, 1.4671075968551735e-05, 1.083079453894545e-07);
    p = GS_CUBIC(u, 5.8013110350155435, 4.190132184800032, 1.226618938463234, 0.1860799909508703) + u4 * p;
    double q = GS_CUBIC(u, 0.0006069954304496087, 1.4021502265170457e-05, 1.0830719341950321e-07, 1.7055053999078408e-15);
    q = GS_CUBIC(u, 1.0, 0.5465333462897157, 0.11575969950620432, 0.011893107446235115) + u4 * q;
    return (gs_quotient){p, q};
}

#define GS_REST_NEAR 0.003375 /* c, below which v serves */

GS_INLINE double
gs_erfinv(double x)
{
    double size = fabs(x), rest = 1.0 - size;
    int is_near = rest > GS_REST_NEAR;
    double minus_log = -gs_log_of_normal(is_near ? rest * (2.0 - rest) : rest);
    gs_quotient near = gs_inverse_near(minus_log), beyond = gs_inverse_beyond(sqrt(minus_log));
    near.above *= size;
    gs_quotient parts = gs_chosen_quotient(is_near, near, beyond);
    double outside = size == 1.0 ? INFINITY : NAN;
    return copysign(size < 1.0 ? parts.above / parts.below : outside, x);
}

/* The same for c from 0 to 1, however small, where `size` is 1 - c rounded. */
GS_INLINE double
gs_inverse_of_rest(double size, double rest)
{
    int is_near = rest > GS_REST_NEAR;
    double minus_log = -gs_log(is_near ? rest * (2.0 - rest) : rest), v = sqrt(minus_log);
    gs_quotient near = gs_inverse_near(minus_log), beyond = gs_inverse_beyond(v), far = gs_inverse_far(v);
    near.above *= size;
    gs_quotient parts = gs_chosen_quotient(is_near, near, gs_chosen_quotient(v > 6.0, far, beyond));
    double result = parts.above / parts.below;
    return rest > 0.0 ? result : rest == 0.0 ? INFINITY : NAN;
}

GS_INLINE double
gs_erfcinv(double x)
{
    double rest = x < 1.0 ? x : 2.0 - x;
    return copysign(gs_inverse_of_rest(1.0 - rest, rest), 1.0 - x);
}

GS_INLINE double
gs_ndtri(double x)
{
    double rest = 2.0 * (x < 0.5 ? x : 1.0 - x);
    return copysign(1.4142135623730951 * gs_inverse_of_rest(1.0 - rest, rest), x - 0.5);
}

/* ---- in single precision */

/* The logarithm of a number from 2^-24 to 1, with an error below 1e-9. */
GS_INLINE double
gs_rough_log(double x)
{
    gs_double_bits parts = {x};
    uint64_t shifted = parts.bits - 0x3fe6a09e667f3bcdu;
    parts.bits = (shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
    double f = parts.value - 1.0, f2 = f * f, f4 = f2 * f2;
    double p = GS_LINE(f, 0.13057657185018484, -0.07606561703199653);
    p = GS_CUBIC(f, 0.20002776162748065, -0.16593452350527846, 0.14160379242342763, -0.13332981453422083) + f4 * p;
    p = GS_CUBIC(f, 0.9999999999663103, -0.49999975031271277, 0.33333319558922525, -0.25002429494999256) + f4 * p;
    return f * p + 0.6931471805599453 * gs_exponent_of(shifted);
}

GS_INLINE float
gs_erfinvf(float x)
{
    double size = fabs((double)x), w = -gs_rough_log((1.0 - size) * (1.0 + size)), w2 = w * w, w4 = w2 * w2;
    double p = GS_PARABOLA(w, 0.0007569400293762998, 3.657085392741212e-05, 9.519342606063272e-08);
    p = GS_CUBIC(w, 0.8862269232181076, 0.3136799521164178, 0.06298389049720325, 0.008536577670982882) + w4 * p;
    double q = GS_LINE(w, 0.00022737013738031924, 3.0026637777645974e-06);
    q = GS_CUBIC(w, 1.0, 0.0921504596394326, 0.03391309876296172, 0.0021873938696521174) + w4 * q;
    double outside = size == 1.0 ? INFINITY : NAN;
    return (float)copysign(size < 1.0 ? size * p / q : outside, (double)x);
}

GS_INLINE float
gs_erfcinvf(float x)
{
    return (float)gs_erfcinv((double)x);
}

GS_INLINE float
gs_ndtrif(float x)
{
    return (float)gs_ndtri((double)x);
}

#endif
