/* Note [Rows times a packed matrix]
 *
 * A recurrent layer multiplies the same matrix with a few rows at each step.  gemm.c would pack it at each; here it is
 * packed once, and rows are read where they lie: a tile keeps ROWS x VECTORS vectors of sums in registers, and does, for
 * each k, VECTORS loads of a panel, ROWS broadcasts and a multiply-add for each sum.  What is added to the product is
 * what sums begin with, so it costs no pass of its own.
 */
#include "row_products.h"
#include "support/simd.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    npy_intp width; /* columns of a panel */
    void (*multiply_rows)(const gs_row_product *);
} kernels;

#define KERNELS "sequences/row_products_template.h"
#include "instruction_sets/each_kernel.h"
#undef KERNELS

/* Columns that a last panel has too many are zeros. */
#define PACK(name, real)                                                                                        \
    static void name(const gs_packed_matrix *packed, npy_intp width, const real *matrix, npy_intp k_step,       \
                     npy_intp column_step)                                                                      \
    {                                                                                                           \
        real *to = (real *)packed->panels;                                                                      \
        for (npy_intp first = 0; first < packed->n_columns; first += width) {                                   \
            npy_intp here = packed->n_columns - first < width ? packed->n_columns - first : width;              \
            for (npy_intp k = 0; k < packed->n_k; k++) {                                                        \
                const real *from = matrix + k * k_step + first * column_step;                                   \
                for (npy_intp i = 0; i < width; i++) {                                                          \
                    *to++ = i < here ? from[i * column_step] : 0;                                               \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
    }

PACK(pack_floats, float)
PACK(pack_doubles, double)

int
gs_pack_matrix(gs_packed_matrix *packed, int type, const void *matrix, npy_intp k_step, npy_intp column_step,
               npy_intp n_k, npy_intp n_columns)
{
    npy_intp width = BEST_KERNELS(kernels, type)->width;
    size_t size = (size_t)((n_columns + width - 1) / width * width) * (size_t)n_k * (type == NPY_FLOAT32 ? 4 : 8);
    char *memory = malloc(size + 64);
    *packed = (gs_packed_matrix){type, n_k, n_columns, NULL, memory};
    if (memory == NULL) {
        return 0;
    }
    packed->panels = memory + (64 - (uintptr_t)memory % 64);
    if (type == NPY_FLOAT32) {
        pack_floats(packed, width, matrix, k_step, column_step);
    } else {
        pack_doubles(packed, width, matrix, k_step, column_step);
    }
    return 1;
}

void
gs_free_matrix(gs_packed_matrix *packed)
{
    free(packed->memory);
    packed->memory = NULL;
}

void
gs_multiply_rows(const gs_row_product *p)
{
    BEST_KERNELS(kernels, p->matrix->type)->multiply_rows(p);
}
