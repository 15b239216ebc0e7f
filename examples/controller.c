/* Newton's method for the forces on a pendulum; gradient and Hessian come from newton.c, see controller.py. */
#include "newton.h"

#include <stdio.h>

#define N 8
#define WORK_BYTES (1 << 20)

static _Alignas(64) char work[WORK_BYTES];

/* Solves h x = g by elimination and leaves x in g; h is symmetric, and positive near the optimum. */
static void
solve(double h[N][N], double g[N])
{
    for (int k = 0; k < N; k++) {
        for (int i = k + 1; i < N; i++) {
            double factor = h[i][k] / h[k][k];
            for (int j = k; j < N; j++) {
                h[i][j] -= factor * h[k][j];
            }
            g[i] -= factor * g[k];
        }
    }
    for (int k = N - 1; k >= 0; k--) {
        for (int j = k + 1; j < N; j++) {
            g[k] -= h[k][j] * g[j];
        }
        g[k] /= h[k][k];
    }
}

int
main(void)
{
    double forces[N] = {0}, state[2] = {0.3, 0}, next[2], gradient[N], hessian[N][N];
    if (newton_work_size() > WORK_BYTES) {
        return 1;
    }
    for (int step = 0; step <= 60; step++) {
        newton(forces, state, gradient, hessian[0], next, work);
        solve(hessian, gradient);
        for (int i = 0; i < N; i++) {
            forces[i] -= gradient[i];
        }
        newton(forces, state, gradient, hessian[0], next, work);
        if (step % 20 == 0) {
            printf("step %2d: angle %7.4f, force %7.3f\n", step, state[0], forces[0]);
        }
        state[0] = next[0];
        state[1] = next[1];
    }
    return 0;
}
