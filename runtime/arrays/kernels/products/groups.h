/* Products of rows that hold several groups, each with a matrix of its own. */
#ifndef GRADSMITH_GROUPS_H
#define GRADSMITH_GROUPS_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Strides are in bytes; columns of the rows lie side by side, and `b` is laid out as BLAS can take it. */
typedef struct {
    int type; /* of floats, real or complex */
    npy_intp rows, groups, inner, columns;
    char *a, *b, *result;
    npy_intp a_row, a_group, b_group, b_row, b_column, result_row, result_group;
} gs_groups;

/* Called with the GIL, which large ones release.  The job is a gs_groups.  1 when it is done; 0 where NumPy's loop of this
 * type cannot be called; -1 with MemoryError. */

/* result[r, g] = a[r, g] @ b[g] with a (rows, groups, inner) and b (groups, inner, columns). */
int gs_rows_of_groups(const void *job);
/* result[g] = sum over r of outer(a[r, g], b[r, g]) with a (rows, groups, inner) and b (rows, groups, columns). */
int gs_outers_of_groups(const void *job);

GS_HIDDEN_END

#endif
