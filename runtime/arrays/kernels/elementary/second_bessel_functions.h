/* Note [Modified Bessel functions of the second kind]
 *
 * Up to 1, with t = (x / 2)^2 and polynomials A and B (DLMF 10.31.1, 10.31.2),
 *
 *     K0 x = A(t) - log(x / 2) I0 x,    K1 x = 1 / x + log(x / 2) I1 x + x / 2 B(t),
 *
 * which cancel little there.  Beyond, exp(x) sqrt(x) times the function is a rational function of 1 / x (DLMF 10.40.2).
 *
 * Errors are below 6 units in the last place.  Single precision is computed in double with fewer terms, and rounded once.
 * At zero the functions are infinite, and of negative numbers NaN.
 */
#ifndef GRADSMITH_SECOND_BESSEL_FUNCTIONS_H
#define GRADSMITH_SECOND_BESSEL_FUNCTIONS_H

#include "elementary/bessel_functions.h"
#include "elementary/logarithm.h"

#define GS_LOG_OF_2 0.6931471805599453

/* The argument as each formula takes it; NaN goes to the one near zero. */
#define GS_NEAR_ZERO(x) ((x) > 1.0 ? 1.0 : (x))
#define GS_FAR_FROM_ZERO(x) ((x) > 1.0 ? (x) : 1.0)

/* ---- in double precision */

GS_INLINE double
gs_near_k0(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double a = GS_CUBIC(t, 0.0026147876053753457, 0.00011848050814466504, 3.6120835486656325e-06, 8.067805132438826e-08);
    a = GS_CUBIC(t, -0.5772156649015329, 0.42278433509846747, 0.23069608377459005, 0.03489215745729406) + t4 * a;
    double first = GS_CUBIC(t, 0.0017361111048412735, 6.944449790358445e-05, 1.9287599560590023e-06, 3.9987307503920654e-08);
    first = GS_CUBIC(t, 1.0, 1.0000000000000002, 0.2499999999999875, 0.027777777778177) + t4 * first;
    return a - (gs_log(x) - GS_LOG_OF_2) * first;
}

/* exp(x) K0 x. */
GS_INLINE double
gs_far_k0(double x)
{
    double z = 1.0 / x, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 329.1417740606134, 201.2158608723934, 53.23165872614431, 4.726546801539238)
        + z4 * 0.06536406197406171;
    p = GS_CUBIC(z, 1.2533141373155001, 18.569113758464873, 101.34771342535952, 259.4726172936766) + z4 * p;
    double q = GS_CUBIC(z, 284.83525885956004, 185.5426189851769, 55.03667361968021, 6.145415417755838)
        + z4 * 0.15958112574076597;
    q = GS_CUBIC(z, 1.0, 14.941009175671159, 82.66108946173392, 216.38453395159837) + z4 * q;
    return sqrt(z) * p / q;
}

GS_INLINE double
gs_near_k1(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double b = GS_CUBIC(t, -0.0005576797444543318, -2.0711251483242924e-05, -5.357114031994782e-07, -1.0377588667000384e-08);
    b = GS_CUBIC(t, 0.07721566490153287, -0.3363921675492336, -0.09078758348042477, -0.00959109491976263) + t4 * b;
    double first = GS_CUBIC(t, 0.0003472222215264121, 1.157408000731009e-05, 2.755451768210656e-07, 4.989755178539255e-09);
    first = GS_CUBIC(t, 1.0, 0.5, 0.08333333333333195, 0.006944444444488746) + t4 * first;
    double small = 0.5 * x * (b + (gs_log(x) - GS_LOG_OF_2) * first);
    return x == 0.0 ? INFINITY : 1.0 / x + small;
}

/* exp(x) K1 x. */
GS_INLINE double
gs_far_k1(double x)
{
    double z = 1.0 / x, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 345.6119035117107, 235.95153531783743, 77.3652535447573, 10.327073050405192)
        + z4 * 0.3617557720917435;
    p = GS_CUBIC(z, 1.2533141373155003, 18.321028741842635, 99.64851495881513, 259.13639998563303) + z4 * p;
    double q = GS_CUBIC(z, 215.47066959283404, 122.76872470244501, 29.86986180179933, 2.3788036457839254)
        + z4 * 0.026352221921583617;
    q = GS_CUBIC(z, 1.0, 14.243065971141833, 74.28404935338226, 180.47098441510337) + z4 * q;
    return sqrt(z) * p / q;
}

GS_INLINE double
gs_k0(double x)
{
    double far = GS_FAR_FROM_ZERO(x), near = gs_near_k0(GS_NEAR_ZERO(x));
    return x > 1.0 ? gs_exp(-far) * gs_far_k0(far) : near;
}

GS_INLINE double
gs_k1(double x)
{
    double far = GS_FAR_FROM_ZERO(x), near = gs_near_k1(GS_NEAR_ZERO(x));
    return x > 1.0 ? gs_exp(-far) * gs_far_k1(far) : near;
}

GS_INLINE double
gs_k0e(double x)
{
    double inside = GS_NEAR_ZERO(x), near = gs_exp(inside) * gs_near_k0(inside), far = gs_far_k0(GS_FAR_FROM_ZERO(x));
    return x > 1.0 ? far : near;
}

GS_INLINE double
gs_k1e(double x)
{
    double inside = GS_NEAR_ZERO(x), near = gs_exp(inside) * gs_near_k1(inside), far = gs_far_k1(GS_FAR_FROM_ZERO(x));
    return x > 1.0 ? far : near;
}

/* ---- in single precision */

GS_INLINE double
gs_near_k0_for_single(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double a = GS_CUBIC(t, -0.5772156646703274, 0.42278428892742415, 0.23069755872774544, 0.03487567779453743)
        + t4 * 0.002689790718343586;
    double first = GS_CUBIC(t, 1.0000000001352412, 0.9999999729891418, 0.2500008630032512, 0.027768133378673066)
        + t4 * 0.0017800223989106847;
    double result = a - (gs_log_for_single(x) - GS_LOG_OF_2) * first;
    result = x == 0.0 ? INFINITY : result;
    return x < 0.0 ? NAN : result;
}

GS_INLINE double
gs_far_k0_for_single(double x)
{
    double z = 1.0 / x, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 1.2533141371125605, 5.415916012125788, 6.138729195658534, 1.8280153467705698)
        + z4 * 0.07250253352550058;
    double q = GS_CUBIC(z, 1.0, 4.446275714023974, 5.383472171692341, 1.892029152724728) + z4 * 0.13008116678415957;
    return sqrt(z) * p / q;
}

GS_INLINE double
gs_near_k1_for_single(double x)
{
    double t = 0.25 * x * x, t2 = t * t, t4 = t2 * t2;
    double b = GS_CUBIC(t, 0.0772156648612559, -0.33639215950420903, -0.09078784054822091, -0.009588221653868637)
        + t4 * -0.0005707654400475563;
    double first = GS_CUBIC(t, 1.0000000000224734, 0.49999999551065516, 0.08333347680069148, 0.0069428406389076235)
        + t4 * 0.00035452859735056333;
    double result = 1.0 / x + 0.5 * x * (b + (gs_log_for_single(x) - GS_LOG_OF_2) * first);
    result = x == 0.0 ? INFINITY : result;
    return x < 0.0 ? NAN : result;
}

GS_INLINE double
gs_far_k1_for_single(double x)
{
    double z = 1.0 / x, z2 = z * z, z4 = z2 * z2;
    double p = GS_CUBIC(z, 1.2533141376701333, 5.460488123925932, 6.828200153605945, 2.786710202625953)
        + z4 * 0.27415985997945275;
    double q = GS_CUBIC(z, 1.0, 3.9818392621113587, 4.072108312071002, 1.0606183561541893) + z4 * 0.032937113804487154;
    return sqrt(z) * p / q;
}

/* exp(-x) for x from 1; the functions vanish in single precision before 120. */
GS_INLINE double
gs_decay_for_single(double x)
{
    return gs_exp_for_single(x > 120.0 ? -120.0 : -x);
}

GS_INLINE float
gs_k0f(float x)
{
    double wide = (double)x, outside = GS_FAR_FROM_ZERO(wide), near = gs_near_k0_for_single(GS_NEAR_ZERO(wide));
    double far = gs_decay_for_single(outside) * gs_far_k0_for_single(outside);
    return (float)(wide > 1.0 ? far : near);
}

GS_INLINE float
gs_k1f(float x)
{
    double wide = (double)x, outside = GS_FAR_FROM_ZERO(wide), near = gs_near_k1_for_single(GS_NEAR_ZERO(wide));
    double far = gs_decay_for_single(outside) * gs_far_k1_for_single(outside);
    return (float)(wide > 1.0 ? far : near);
}

GS_INLINE float
gs_k0ef(float x)
{
    double wide = (double)x, inside = GS_NEAR_ZERO(wide), far = gs_far_k0_for_single(GS_FAR_FROM_ZERO(wide));
    double near = gs_exp_for_single(inside < -1.0 ? -1.0 : inside) * gs_near_k0_for_single(inside);
    return (float)(wide > 1.0 ? far : near);
}

GS_INLINE float
gs_k1ef(float x)
{
    double wide = (double)x, inside = GS_NEAR_ZERO(wide), far = gs_far_k1_for_single(GS_FAR_FROM_ZERO(wide));
    double near = gs_exp_for_single(inside < -1.0 ? -1.0 : inside) * gs_near_k1_for_single(inside);
    return (float)(wide > 1.0 ? far : near);
}

#endif
