/* Note [The error function of floats]
 *
 * In a loop with other work a call of libmvec costs twice what plain arithmetic does, which a compiler makes vectors of.
 * Up to END, erf(x) / x is a polynomial in x^2: it is taken in s, which is x^2 moved to the interval from -1 to 1, where
 * its coefficients do not cancel one another.  They minimise the greatest relative error, 1.3e-8.  Beyond END the value
 * rounds to 1 or is one unit in the last place below.
 *
 * Errors are below 4 ulp, values at most 1, NaN stays NaN, and zeros keep their signs.
 */
#ifndef GRADSMITH_ERF_H
#define GRADSMITH_ERF_H

#include "support/simd.h"

GS_INLINE float
gs_erf_float32(float x)
{
    const float end = 3.8f;
    float size = fabsf(x), s = x * x * 0.138504155f - 1.0f;
    float p = -4.67528705e-4f;
    p = p * s + 1.22264726e-3f;
    p = p * s - 1.04632275e-3f;
    p = p * s + 1.71822251e-3f;
    p = p * s - 5.61871007e-3f;
    p = p * s + 1.07694305e-2f;
    p = p * s - 1.66792609e-2f;
    p = p * s + 2.6183283e-2f;
    p = p * s - 3.95685174e-2f;
    p = p * s + 5.52177988e-2f;
    p = p * s - 7.23933801e-2f;
    p = p * s + 9.08086821e-2f;
    p = p * s - 1.11195974e-1f;
    p = p * s + 1.37740836e-1f;
    p = p * s - 1.85640946e-1f;
    p = p * s + 3.72107595e-1f;
    float value = p * size;
    value = size >= end || value > 1.0f ? 1.0f : value;
    return copysignf(value, x);
}

#endif
