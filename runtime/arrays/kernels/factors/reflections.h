/* Householder's reflections of double precision, alone and many at once. */
#ifndef GRADSMITH_REFLECTIONS_H
#define GRADSMITH_REFLECTIONS_H

#include "factors/blocks.h"

GS_HIDDEN_BEGIN

/* Replaces x, of n numbers, by the vector v with v[0] = 1 for which I - factor * v v^T makes x a multiple of the first
 * unit vector; returns this multiple. */
double gs_reflect(double *x, npy_intp n, double *factor);

/* Rows that begin at a cache line, so many numbers apart, are read at full speed. */
#define GS_LINE 8

static inline npy_intp
gs_row_step(npy_intp n)
{
    return (n + GS_LINE - 1) / GS_LINE * GS_LINE;
}

/* found[r] = row r . x, of so many rows `step` numbers apart. */
void gs_dots(double *found, const double *rows, npy_intp count, npy_intp step, const double *x, npy_intp n);

/* y -= the sum of factors[r] * row r. */
void gs_subtract_rows(double *y, const double *factors, const double *rows, npy_intp count, npy_intp step, npy_intp n);

/* Multiplies x (rows of n numbers, `step` numbers apart) from the right by I - factor * v v^T. */
void gs_turn_by(const double *v, double factor, double *x, npy_intp rows, npy_intp step, npy_intp n);

/* Reflections H1 H2 ... of n numbers; vectors are rows `step` numbers apart, zero before what they reflect. */
typedef struct {
    const double *vectors, *factors;
    npy_intp count, n, step;
} gs_reflections;

/* The numbers of memory that gs_turn_rows needs, at most, for so many rows. */
npy_intp gs_memory_to_turn(npy_intp rows);

/* Multiplies x (rows of n numbers, `step` numbers apart) from the right by the transpose of H1 H2 ..., or by that itself: each row
 * is a vector that the product, or its transpose, is applied to. */
void gs_turn_rows(const gs_algebra *algebra, gs_reflections h, double *x, npy_intp rows, npy_intp step, int transposed,
                  double *memory);

GS_HIDDEN_END

#endif
