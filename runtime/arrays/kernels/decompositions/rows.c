#include "decompositions/rows.h"
#include "kernels.h"
#include "walks/transposed.h"

#define TILE 32 /* rows and columns */

void
gs_transpose_rows(npy_intp size, const void *from, npy_intp from_step, void *to, npy_intp to_step, npy_intp rows,
                  npy_intp columns)
{
    for (npy_intp i = 0; i < rows; i += TILE) {
        for (npy_intp j = 0; j < columns; j += TILE) {
            const char *tile = (const char *)from + i * from_step + j * size;
            gs_lay_across(size, tile, from_step, (char *)to + j * to_step + i * size, to_step, Py_MIN(TILE, rows - i),
                          Py_MIN(TILE, columns - j));
        }
    }
}

PyObject *
gs_work_memory(npy_intp bytes, void **memory)
{
    PyObject *array = gs_array_new(NPY_UINT8, 1, &bytes);
    if (array != NULL) {
        *memory = gs_fields(array)->data;
    }
    return array;
}
