/* Rotations of planes, for eigenvalues and singular values. */
#ifndef GRADSMITH_ROTATION_H
#define GRADSMITH_ROTATION_H

#include <math.h>

/* The rotation that turns (f, g) to (r, 0), of the sign of f; gives r. Nothing is squared that could underflow. */
static double
careful_rotation(double f, double g, double *cosine, double *sine)
{
    if (fabs(f) > fabs(g)) {
        double tangent = g / f, secant = sqrt(1 + tangent * tangent);
        *cosine = 1 / secant;
        *sine = tangent / secant;
        return f * secant;
    }
    if (g == 0) {
        *cosine = 1;
        *sine = 0;
        return f;
    }
    double cotangent = f / g, length = sqrt(1 + cotangent * cotangent);
    *cosine = fabs(cotangent) / length;
    *sine = (f == 0 ? copysign(1.0, g) : copysign(1.0, f * g)) / length;
    return f == 0 ? fabs(g) : copysign(g * length, f);
}

#endif
