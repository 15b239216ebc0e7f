/* Products of a few rows with a matrix that is used again and again. */
#ifndef GRADSMITH_ROW_PRODUCTS_H
#define GRADSMITH_ROW_PRODUCTS_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* A matrix (n_k, n_columns) of NPY_FLOAT32 or NPY_FLOAT64, packed in panels of columns: [panel][k][column]. */
typedef struct {
    int type;
    npy_intp n_k, n_columns;
    char *panels; /* aligned, within what follows */
    void *memory; /* owned, see gs_free_matrix */
} gs_packed_matrix;

/* Element (k, column) lies at matrix[k * k_step + column * column_step].  0 without memory; needs no GIL. */
int gs_pack_matrix(gs_packed_matrix *packed, int type, const void *matrix, npy_intp k_step, npy_intp column_step,
                   npy_intp n_k, npy_intp n_columns);
void gs_free_matrix(gs_packed_matrix *packed);

/* to = from + a @ matrix, for rows that are a_row, from_row and to_row elements apart; without `from`, zeros take its
 * place.  `to` may be `from`, and it may not be `a`.  The order of sums depends on no number of rows. */
typedef struct {
    const gs_packed_matrix *matrix;
    npy_intp n_rows;
    const void *a;
    npy_intp a_row;
    const void *from;
    npy_intp from_row;
    void *to;
    npy_intp to_row;
} gs_row_product;

void gs_multiply_rows(const gs_row_product *p);

GS_HIDDEN_END

#endif
