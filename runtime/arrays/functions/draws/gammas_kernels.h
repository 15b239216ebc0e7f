/* How what is drawn from a gamma distribution moves with its parameter. */
#ifndef GRADSMITH_GAMMAS_KERNELS_H
#define GRADSMITH_GAMMAS_KERNELS_H

/* A rule of quadrature on the interval from 0 to 1. */
#define GS_GAMMA_NODES 32

typedef struct {
    double nodes[GS_GAMMA_NODES], weights[GS_GAMMA_NODES];
} gs_gamma_rule;

/* The first or second derivative of P(a, x) in a, divided by x p(x), where l = log x; NaN where a is not positive and
 * finite.  Minus the first is d log x / da where P is kept. */
double gs_gamma_rise(const gs_gamma_rule *rule, int order, double a, double l);

#endif
