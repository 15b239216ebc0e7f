/* These products read every element of the matrix once, so they run at the speed of memory and gain nothing from BLAS but
 * its threads, which stall when the machine is busy (Note [Claiming pieces]).  Each output element is computed by one
 * thread in one order: results do not depend on the number of threads. */
#include "products/gemv.h"
#include "threads/thread_pool.h"

#define COLUMNS 512 /* of a vector-matrix product, held in L1 while all rows pass */

typedef struct {
    const void *matrix, *x, *y;
    void *out;
    npy_intp step, x_step;
    npy_intp rows, columns;
} job;

#include "support/with_float32.h"
#include "products/gemv_template.h"

#include "support/with_float64.h"
#include "products/gemv_template.h"

void
gs_matrix_vector(int type, const void *matrix, npy_intp step, const void *x, void *out, npy_intp rows, npy_intp columns)
{
    job j = {.matrix = matrix, .x = x, .out = out, .step = step, .rows = rows, .columns = columns};
    gs_parallel(type == NPY_FLOAT32 ? matrix_vector_float32 : matrix_vector_float64, &j, rows, columns / 4 + 8, 4);
}

void
gs_vector_matrix(int type, const void *x, const void *matrix, npy_intp step, void *out, npy_intp rows, npy_intp columns)
{
    job j = {.matrix = matrix, .x = x, .out = out, .step = step, .rows = rows, .columns = columns};
    gs_parallel(type == NPY_FLOAT32 ? vector_matrix_float32 : vector_matrix_float64, &j, columns, rows / 4 + 8, 64);
}

void
gs_outer(int type, const void *x, npy_intp x_step, const void *y, void *out, npy_intp rows, npy_intp columns)
{
    job j = {.x = x, .x_step = x_step, .y = y, .out = out, .rows = rows, .columns = columns};
    gs_parallel(type == NPY_FLOAT32 ? outer_float32 : outer_float64, &j, rows, columns + 8, 1);
}

void
gs_outer_unlocked(int type, const void *x, npy_intp x_step, const void *y, void *out, npy_intp rows, npy_intp columns)
{
    job j = {.x = x, .x_step = x_step, .y = y, .out = out, .rows = rows, .columns = columns};
    (type == NPY_FLOAT32 ? outer_float32 : outer_float64)(&j, 0, rows);
}
