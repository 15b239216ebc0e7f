/* The inner loops of row_products.c; instruction_sets/each_kernel.h says what REAL, NAME and the rest are. A tile has
 * HEIGHT rows of VECTORS vectors. */

#define HEIGHT (BYTES == 16 ? 4 : 6)
#define VECTORS (BYTES == 64 ? 4 : 2)
#define WIDTH (VECTORS * LANES)

/* A row of `from`, of which there may be fewer columns than a panel has. */
INLINE void
NAME(load_row)(NAME(vector) *sums, const REAL *from, npy_intp n_columns)
{
    REAL edge[WIDTH];
    if (n_columns < WIDTH) {
        memset(edge, 0, sizeof(edge));
        memcpy(edge, from, (size_t)n_columns * sizeof(REAL));
        from = edge;
    }
    UNROLL
    for (int v = 0; v < VECTORS; v++) {
        sums[v] = ((const NAME(unaligned) *)from)[v];
    }
}

INLINE void
NAME(store_row)(const NAME(vector) *sums, REAL *to, npy_intp n_columns)
{
    if (n_columns < WIDTH) {
        memcpy(to, sums, (size_t)n_columns * sizeof(REAL));
        return;
    }
    UNROLL
    for (int v = 0; v < VECTORS; v++) {
        ((NAME(unaligned) *)to)[v] = sums[v];
    }
}

/* A tile: `height` rows from `row` on, times a panel. */
INLINE void
NAME(multiply_tile)(const int height, const gs_row_product *p, npy_intp row, npy_intp column)
{
    npy_intp n_k = p->matrix->n_k, n_columns = p->matrix->n_columns - column;
    const REAL *panel = (const REAL *)p->matrix->panels + column * n_k;
    const REAL *a = (const REAL *)p->a + row * p->a_row;
    REAL *to = (REAL *)p->to + row * p->to_row + column;
    NAME(vector) sums[HEIGHT][VECTORS];
    UNROLL
    for (int i = 0; i < height; i++) {
        UNROLL
        for (int v = 0; v < VECTORS; v++) {
            sums[i][v] = (NAME(vector)){0};
        }
        if (p->from != NULL) {
            NAME(load_row)(sums[i], (const REAL *)p->from + (row + i) * p->from_row + column, n_columns);
        }
    }
    for (npy_intp k = 0; k < n_k; k++) {
        NAME(vector) b[VECTORS];
        UNROLL
        for (int v = 0; v < VECTORS; v++) {
            b[v] = ((const NAME(unaligned) *)panel)[v];
        }
        UNROLL
        for (int i = 0; i < height; i++) {
            REAL x = a[i * p->a_row + k];
            UNROLL
            for (int v = 0; v < VECTORS; v++) {
                sums[i][v] += x * b[v];
            }
        }
        panel += WIDTH;
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        NAME(store_row)(sums[i], to + i * p->to_row, n_columns);
    }
}

/* Tiles of equal height waste the least: 32 rows are 6 + 6 + 5 + 5 + 5 + 5. */
TARGET static void
NAME(multiply_rows)(const gs_row_product *p)
{
    npy_intp n_tiles = (p->n_rows + HEIGHT - 1) / HEIGHT;
    for (npy_intp column = 0; column < p->matrix->n_columns; column += WIDTH) {
        npy_intp row = 0;
        for (npy_intp tile = 0; tile < n_tiles; tile++) {
            npy_intp left = n_tiles - tile, height = (p->n_rows - row + left - 1) / left;
            switch (height) {
            case 1:
                NAME(multiply_tile)(1, p, row, column);
                break;
            case 2:
                NAME(multiply_tile)(2, p, row, column);
                break;
            case 3:
                NAME(multiply_tile)(3, p, row, column);
                break;
            case 4:
                NAME(multiply_tile)(4, p, row, column);
                break;
#if BYTES > 16
            case 5:
                NAME(multiply_tile)(5, p, row, column);
                break;
            case 6:
                NAME(multiply_tile)(6, p, row, column);
                break;
#endif
            }
            row += height;
        }
    }
}

static const kernels NAME(kernels) = {WIDTH, NAME(multiply_rows)};

#undef HEIGHT
#undef VECTORS
#undef WIDTH
