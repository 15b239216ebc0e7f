/* Systems of equations with triangular matrices. */
#ifndef GRADSMITH_TRIANGULAR_H
#define GRADSMITH_TRIANGULAR_H

#include "factors/blocks.h"

GS_HIDDEN_BEGIN

typedef struct {
    int upper;
    int unitriangular; /* the diagonal counts as ones, and is not read */
} gs_triangle;

/* Replaces x, which is n by k with a unit stride in one of its directions, by the solution of a x = x. Of a the other
 * triangle is not read; zeros on the diagonal divide. */
void gs_solve_triangular(const gs_algebra *algebra, gs_block a, gs_triangle triangle, gs_block x, npy_intp n, npy_intp k);

GS_HIDDEN_END

#endif
