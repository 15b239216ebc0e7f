/* Note [Modified Bessel functions]
 *
 * I0 and I1 are those of the first kind.  Up to 8, I0 x and 2 I1 x / x are polynomials in (x / 2)^2 of which all terms are
 * positive, as in DLMF 10.25.2, so that nothing cancels.  Beyond, exp(-x) sqrt(x) times the function changes little
 * (DLMF 10.40.1), and is a polynomial in 16 / x - 1.
 *
 * The functions are finite up to 714, but the exponential only up to 709: it is taken by 2^-64, and the product by 2^64.
 *
 * Errors are below 4 units in the last place.  Single precision is computed in double with fewer terms, and rounded once.
 */
#ifndef GRADSMITH_BESSEL_FUNCTIONS_H
#define GRADSMITH_BESSEL_FUNCTIONS_H

#include "elementary/exponential.h"

#define GS_BESSEL_CUT 8.0 /* where the other formula begins */

/* 2^-64 e^x for x up to 750. */
GS_INLINE double
gs_tiny_exp(double x)
{
    gs_double_bits shifted = {x * 1.4426950408889634 + GS_ROUNDER}, result;
    double n = shifted.value - GS_ROUNDER;
    double r = (x - n * 0.6931471805592082) - n * 7.371002565167799e-13;
    result.value = gs_exp_series(r) * (r * r) + r + 1.0;
    result.bits += (shifted.bits - 64) << 52;
    return result.value;
}

/* e^x with an error of 1e-10, for sizes up to 700. */
GS_INLINE double
gs_exp_for_single(double x)
{
    gs_double_bits shifted = {x * 1.4426950408889634 + GS_ROUNDER}, result;
    double n = shifted.value - GS_ROUNDER;
    double r = x - n * 0.6931471805599453, r2 = r * r, r4 = r2 * r2;
    result.value = GS_CUBIC(r, 0.5000000067623893, 0.16666665871838554, 0.04166629514257523, 0.008333496493639873)
        + r4 * GS_LINE(r, 0.0013944645297139535, 0.00019790610119780374);
    result.value = 1.0 + (r + r2 * result.value);
    result.bits += shifted.bits << 52;
    return result.value;
}

/* What the size of x is taken as by the formula near zero; NaN stays. */
GS_INLINE double
gs_near_size(double size)
{
    return size > GS_BESSEL_CUT ? GS_BESSEL_CUT : size;
}

/* ---- order 0, in double precision */

/* I0 x for x from 0 to 8. */
GS_INLINE double
gs_near_i0(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double p = GS_PARABOLA(t, 4.4834946542997244e-18, 2.1560216853729548e-20, 2.1259571305934103e-22);
    p = GS_CUBIC(t, 6.151205515810672e-10, 7.593775731868564e-12, 7.597160735155467e-14, 6.252232708492202e-16) + t4 * p;
    p = GS_CUBIC(t, 0.001736111111180258, 6.94444443915031e-05, 1.92901237123641e-06, 3.9367590676382074e-08) + t4 * p;
    return GS_CUBIC(t, 1.0, 0.9999999999999972, 0.2500000000000196, 0.02777777777772559) + t4 * p;
}

/* exp(-x) I0 x for x from 8. */
GS_INLINE double
gs_far_i0(double x)
{
    double z = 1.0 / x, w = 16.0 * z - 1.0, w2 = w * w, w4 = w2 * w2;
    double p = GS_LINE(w, -1.5240031834422858e-10, 3.2293453284739835e-11);
    p = GS_CUBIC(w, -2.9778462145858466e-09, 1.0585046025762518e-09, 9.943347725763293e-10, -2.5948574903599186e-10)
        + w4 * p;
    p = GS_CUBIC(w, -4.342623113905817e-09, 7.291542482556911e-09, 5.243853128250345e-09, -3.076518075802646e-09)
        + w4 * p;
    p = GS_CUBIC(w, 2.1615849924602886e-08, 7.52789255150404e-09, -7.08485836849718e-09, -1.3304674769491282e-08)
        + w4 * p;
    p = GS_CUBIC(w, 1.4838480451073798e-06, 2.973594884339198e-07, 8.871426956805993e-08, 3.933006400228427e-08) + w4 * p;
    p = GS_CUBIC(w, 0.4021765094450081, 0.00336055198366768, 0.00013621607438062553, 1.114303380598849e-05) + w4 * p;
    return sqrt(z) * p;
}

GS_INLINE double
gs_i0(double x)
{
    double size = fabs(x), far_size = gs_within(size, GS_BESSEL_CUT, 750.0);
    double near = gs_near_i0(gs_near_size(size));
    double far = gs_tiny_exp(far_size) * gs_far_i0(far_size) * 18446744073709551616.0;
    return size > GS_BESSEL_CUT ? far : near;
}

GS_INLINE double
gs_i0e(double x)
{
    double size = fabs(x), near_size = gs_near_size(size);
    double near = gs_normal_exp(-near_size) * gs_near_i0(near_size), far = gs_far_i0(size);
    return size > GS_BESSEL_CUT ? far : near;
}

/* ---- order 1, in double precision */

/* I1 x for x from 0 to 8. */
GS_INLINE double
gs_near_i1(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double p = GS_PARABOLA(t, 3.435747292711671e-19, 1.5683364423125006e-21, 1.3901104960433785e-23);
    p = GS_CUBIC(t, 6.834666565013132e-11, 7.593850387292575e-13, 6.9058868495818095e-15, 5.213737466068732e-17) + t4 * p;
    p = GS_CUBIC(t, 0.00034722222222904685, 1.1574074069237897e-05, 2.755731944251503e-07, 4.9209491979360365e-09)
        + t4 * p;
    p = GS_CUBIC(t, 1.0, 0.4999999999999996, 0.0833333333333357, 0.0069444444444388) + t4 * p;
    return 0.5 * x * p;
}

/* exp(-x) I1 x for x from 8. */
GS_INLINE double
gs_far_i1(double x)
{
    double z = 1.0 / x, w = 16.0 * z - 1.0, w2 = w * w, w4 = w2 * w2;
    double p = GS_LINE(w, 1.595265141663349e-10, -3.137890547409021e-11);
    p = GS_CUBIC(w, 3.145516247135543e-09, -1.032887366178571e-09, -1.0440981622479099e-09, 2.515280599052044e-10) + w4 * p;
    p = GS_CUBIC(w, 4.8680546727649975e-09, -7.418971669262206e-09, -5.611600649467032e-09, 3.053654456458168e-09)
        + w4 * p;
    p = GS_CUBIC(w, -2.3444276998579043e-08, -8.405451813069325e-09, 7.085865637825177e-09, 1.394623423305863e-08)
        + w4 * p;
    p = GS_CUBIC(w, -1.834910633039475e-06, -3.4838527601660177e-07, -1.0000461234025451e-07, -4.3132643421400706e-08)
        + w4 * p;
    p = GS_CUBIC(w, 0.3893984590258723, -0.009749577193235593, -0.00021923576382207796, -1.5038547212605373e-05) + w4 * p;
    return sqrt(z) * p;
}

GS_INLINE double
gs_i1(double x)
{
    double size = fabs(x), far_size = gs_within(size, GS_BESSEL_CUT, 750.0);
    double near = gs_near_i1(gs_near_size(size));
    double far = gs_tiny_exp(far_size) * gs_far_i1(far_size) * 18446744073709551616.0;
    return copysign(size > GS_BESSEL_CUT ? far : near, x);
}

GS_INLINE double
gs_i1e(double x)
{
    double size = fabs(x), near_size = gs_near_size(size);
    double near = gs_normal_exp(-near_size) * gs_near_i1(near_size), far = gs_far_i1(size);
    return copysign(size > GS_BESSEL_CUT ? far : near, x);
}

/* ---- in single precision */

GS_INLINE double
gs_near_i0_for_single(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double p = GS_PARABOLA(t, 6.599190194352399e-10, 5.220170957395682e-12, 1.4225386392682161e-13);
    p = GS_CUBIC(t, 0.001736148650801687, 6.942960890627332e-05, 1.9324922267998745e-06, 3.886511955641949e-08) + t4 * p;
    return GS_CUBIC(t, 1.0000000002805864, 0.9999999918630159, 0.25000003458832537, 0.027777725564232584) + t4 * p;
}

GS_INLINE double
gs_far_i0_for_single(double x)
{
    double z = 1.0 / x, w = 16.0 * z - 1.0, w2 = w * w, w4 = w2 * w2;
    double p = GS_PARABOLA(w, 1.4756271552827437e-06, 3.621553883720362e-07, 1.0894100026139252e-07);
    p = GS_CUBIC(w, 0.4021765093996794, 0.003360555549933191, 0.0001362174060150397, 1.1112774540971905e-05) + w4 * p;
    return sqrt(z) * p;
}

GS_INLINE float
gs_i0f(float x)
{
    double size = fabs((double)x), near_size = gs_near_size(size), far_size = gs_within(size, GS_BESSEL_CUT, 100.0);
    double near = gs_near_i0_for_single(near_size);
    double far = gs_exp_for_single(far_size) * gs_far_i0_for_single(far_size);
    return (float)(size > GS_BESSEL_CUT ? far : near);
}

GS_INLINE float
gs_i0ef(float x)
{
    double size = fabs((double)x), near_size = gs_near_size(size);
    double near = gs_exp_for_single(-near_size) * gs_near_i0_for_single(near_size);
    double far = gs_far_i0_for_single(size);
    return (float)(size > GS_BESSEL_CUT ? far : near);
}

GS_INLINE double
gs_near_i1_for_single(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double p = GS_PARABOLA(t, 7.24215491536974e-11, 5.519912126438061e-13, 1.25143471289863e-14);
    p = GS_CUBIC(t, 0.00034722664394534465, 1.157246687233599e-05, 2.7592503021583583e-07, 4.872986818554813e-09) + t4 * p;
    p = GS_CUBIC(t, 1.0000000000600107, 0.49999999858325544, 0.08333333846127008, 0.006944437629970137) + t4 * p;
    return 0.5 * x * p;
}

GS_INLINE double
gs_far_i1_for_single(double x)
{
    double z = 1.0 / x, w = 16.0 * z - 1.0, w2 = w * w, w4 = w2 * w2;
    double p = GS_PARABOLA(w, -1.8240764953219024e-06, -4.204851487511168e-07, -1.2374778210570186e-07);
    p = GS_CUBIC(w, 0.38939845910225723, -0.009749581206917898, -0.0002192377862952465, -1.5004641330099684e-05) + w4 * p;
    return sqrt(z) * p;
}

GS_INLINE float
gs_i1f(float x)
{
    double size = fabs((double)x), near_size = gs_near_size(size), far_size = gs_within(size, GS_BESSEL_CUT, 100.0);
    double near = gs_near_i1_for_single(near_size);
    double far = gs_exp_for_single(far_size) * gs_far_i1_for_single(far_size);
    return copysignf((float)(size > GS_BESSEL_CUT ? far : near), x);
}

GS_INLINE float
gs_i1ef(float x)
{
    double size = fabs((double)x), near_size = gs_near_size(size);
    double near = gs_exp_for_single(-near_size) * gs_near_i1_for_single(near_size);
    double far = gs_far_i1_for_single(size);
    return copysignf((float)(size > GS_BESSEL_CUT ? far : near), x);
}

#endif
