/* Products of tiles; instruction_sets/each_kernel.h says what REAL, NAME and the rest are. ROWS rows are summed at once. */

#define WIDTH (2 * LANES)

/* Some rows of c, one vector or two of each: elements of a are `row` apart for the next row of c, `step` for the next
 * term. */
INLINE void
NAME(multiply_rows)(const int height, const int two, const int row, const int step, const REAL *a, const REAL *b,
                    npy_intp terms, REAL *c, int adds)
{
    NAME(vector) left[ROWS], right[ROWS];
    UNROLL
    for (int i = 0; i < height; i++) {
        const NAME(unaligned) *from = (const NAME(unaligned) *)(c + i * SIDE);
        left[i] = adds ? from[0] : (NAME(vector)){0};
        right[i] = adds && two ? from[1] : (NAME(vector)){0};
    }
    for (npy_intp k = 0; k < terms; k++) {
        const NAME(unaligned) *from = (const NAME(unaligned) *)(b + k * SIDE);
        NAME(vector) b0 = from[0], b1 = from[two];
        UNROLL
        for (int i = 0; i < height; i++) {
            left[i] += a[i * row + k * step] * b0;
            if (two) {
                right[i] += a[i * row + k * step] * b1;
            }
        }
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        NAME(unaligned) *to = (NAME(unaligned) *)(c + i * SIDE);
        to[0] = left[i];
        if (two) {
            to[1] = right[i];
        }
    }
}

INLINE void
NAME(multiply_columns)(const int two, const int row, const int step, const extent *e, const REAL *a, const REAL *b, REAL *c)
{
    npy_intp i = 0;
    for (; i + ROWS <= e->rows; i += ROWS) {
        NAME(multiply_rows)(ROWS, two, row, step, a + i * row, b, e->steps, c + i * SIDE, e->adds);
    }
    for (; i + 4 <= e->rows; i += 4) {
        NAME(multiply_rows)(4, two, row, step, a + i * row, b, e->steps, c + i * SIDE, e->adds);
    }
    for (; i < e->rows; i++) {
        NAME(multiply_rows)(1, two, row, step, a + i * row, b, e->steps, c + i * SIDE, e->adds);
    }
}

INLINE void
NAME(multiply_tile)(const int row, const int step, const extent *e, const REAL *a, const REAL *b, REAL *c)
{
    npy_intp column = 0;
    for (; column + LANES < e->width; column += WIDTH) {
        NAME(multiply_columns)(1, row, step, e, a, b + column, c + column);
    }
    if (column < e->width) {
        NAME(multiply_columns)(0, row, step, e, a, b + column, c + column);
    }
}

TARGET static void
NAME(multiply)(const extent *e, const void *a, const void *b, void *c)
{
    NAME(multiply_tile)(SIDE, 1, e, a, b, c);
}

TARGET static void
NAME(multiply_transposed)(const extent *e, const void *a, const void *b, void *c)
{
    NAME(multiply_tile)(1, SIDE, e, a, b, c);
}

static const kernels NAME(kernels) = {NAME(multiply), NAME(multiply_transposed), WIDTH / 2};

#undef WIDTH
