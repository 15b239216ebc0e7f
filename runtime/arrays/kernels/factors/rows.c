#include "factors/rows.h"
#include "kernels.h"
#include "transposed.h"

#define TILE 32 /* rows and columns */

void
gs_transpose_rows(const double *from, npy_intp from_step, double *to, npy_intp to_step, npy_intp rows, npy_intp columns)
{
    const npy_intp size = sizeof(double);
    for (npy_intp i = 0; i < rows; i += TILE) {
        for (npy_intp j = 0; j < columns; j += TILE) {
            gs_lay_across(size, from + i * from_step + j, from_step * size, to + j * to_step + i, to_step * size,
                          Py_MIN(TILE, rows - i), Py_MIN(TILE, columns - j));
        }
    }
}

PyObject *
gs_work_memory(npy_intp numbers, double **memory)
{
    PyObject *array = gs_array_new(NPY_FLOAT64, 1, &numbers);
    if (array != NULL) {
        *memory = (double *)gs_fields(array)->data;
    }
    return array;
}
