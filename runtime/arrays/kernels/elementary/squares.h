/* The root of a sum of two squares, of which neither overflows nor is lost. */
#ifndef GRADSMITH_ELEMENTARY_SQUARES_H
#define GRADSMITH_ELEMENTARY_SQUARES_H

#include "support/simd.h"

#include <math.h>

#define GS_LEAST_SQUARED 0x1p-480 /* the square of a number that counts beside this one is a normal number */
#define GS_MOST_SQUARED 0x1p500
#define GS_SQUARED_SCALE 0x1p600

GS_INLINE float
gs_root_of_squares_f(float x, float y)
{
    float root = (float)sqrt((double)x * (double)x + (double)y * (double)y);
    return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : root;
}

GS_INLINE double
gs_root_of_squares(double x, double y)
{
    double most = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    int is_small = most < GS_LEAST_SQUARED, is_large = most > GS_MOST_SQUARED;
    double scale = is_small ? GS_SQUARED_SCALE : is_large ? 1 / GS_SQUARED_SCALE : 1;
    double back = is_small ? 1 / GS_SQUARED_SCALE : is_large ? GS_SQUARED_SCALE : 1;
    double a = x * scale, b = y * scale;
    double root = sqrt(a * a + b * b) * back;
    return fabs(x) == INFINITY || fabs(y) == INFINITY ? INFINITY : root;
}

#endif
