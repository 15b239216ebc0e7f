/* The text of blocks.c for one type. */

#define WIDTH (2 * LANES) /* columns of a strip */

/* A few rows of c less the products of theirs in a with a strip of b. */
GS_INLINE void
NAME(subtract_tile)(const int rows, gs_block a, const NUMBER *strip, npy_intp k, NUMBER *c, npy_intp c_row)
{
    NAME(vector) sums[ROWS][2];
    for (int i = 0; i < rows; i++) {
        sums[i][0] = ((const NAME(unaligned) *)(c + i * c_row))[0];
        sums[i][1] = ((const NAME(unaligned) *)(c + i * c_row))[1];
    }
    for (npy_intp term = 0; term < k; term++) {
        NAME(vector) b0 = ((const NAME(unaligned) *)strip)[2 * term], b1 = ((const NAME(unaligned) *)strip)[2 * term + 1];
        for (int i = 0; i < rows; i++) {
            NUMBER factor = *(const NUMBER *)(a.data + i * a.row + term * a.column);
            SUBTRACT(sums[i][0], factor, b0);
            SUBTRACT(sums[i][1], factor, b1);
        }
    }
    for (int i = 0; i < rows; i++) {
        ((NAME(unaligned) *)(c + i * c_row))[0] = sums[i][0];
        ((NAME(unaligned) *)(c + i * c_row))[1] = sums[i][1];
    }
}

/* The same for the last columns, which fill no strip. */
GS_INLINE void
NAME(subtract_edge)(const int rows, gs_block a, const NUMBER *strip, npy_intp k, NUMBER *c, npy_intp c_row,
                    npy_intp columns)
{
    NUMBER tile[ROWS * WIDTH] = {0};
    for (int i = 0; i < rows; i++) {
        memcpy(tile + i * WIDTH, c + i * c_row, sizeof(NUMBER) * (size_t)columns);
    }
    NAME(subtract_tile)(rows, a, strip, k, tile, WIDTH);
    for (int i = 0; i < rows; i++) {
        memcpy(c + i * c_row, tile + i * WIDTH, sizeof(NUMBER) * (size_t)columns);
    }
}

GS_INLINE void
NAME(subtract_rows)(const int rows, gs_block a, const NUMBER *strip, npy_intp k, gs_block c, npy_intp columns)
{
    npy_intp c_row = c.row / (npy_intp)sizeof(NUMBER);
    if (columns == WIDTH) {
        NAME(subtract_tile)(rows, a, strip, k, (NUMBER *)c.data, c_row);
    } else {
        NAME(subtract_edge)(rows, a, strip, k, (NUMBER *)c.data, c_row, columns);
    }
}

GS_INLINE void
NAME(copy_strip)(gs_block b, npy_intp k, npy_intp columns, NUMBER *strip)
{
    if (columns < WIDTH) {
        memset(strip, 0, sizeof(NUMBER) * WIDTH * (size_t)k);
    }
    if (b.column != (npy_intp)sizeof(NUMBER)) {
        for (npy_intp j = 0; j < columns; j++) {
            for (npy_intp term = 0; term < k; term++) {
                strip[term * WIDTH + j] = *(const NUMBER *)(b.data + term * b.row + j * b.column);
            }
        }
    } else if (columns == WIDTH) {
        for (npy_intp term = 0; term < k; term++) {
            memcpy(strip + term * WIDTH, b.data + term * b.row, sizeof(NUMBER) * WIDTH);
        }
    } else {
        for (npy_intp term = 0; term < k; term++) {
            memcpy(strip + term * WIDTH, b.data + term * b.row, sizeof(NUMBER) * (size_t)columns);
        }
    }
}

/* At most MOST_TERMS terms. */
GS_CLONES static void
NAME(subtract_terms)(gs_block c, gs_block a, gs_block b, npy_intp m, npy_intp k, npy_intp n)
{
    NUMBER strip[MOST_TERMS * WIDTH];
    for (npy_intp column = 0; column < n; column += WIDTH) {
        npy_intp columns = n - column < WIDTH ? n - column : WIDTH, row = 0;
        NAME(copy_strip)(gs_part(b, 0, column), k, columns, strip);
        for (; row + ROWS <= m; row += ROWS) {
            NAME(subtract_rows)(ROWS, gs_part(a, row, 0), strip, k, gs_part(c, row, column), columns);
        }
        for (; row < m; row++) {
            NAME(subtract_rows)(1, gs_part(a, row, 0), strip, k, gs_part(c, row, column), columns);
        }
    }
}

static void
NAME(subtract_product)(gs_block c, gs_block a, gs_block b, npy_intp m, npy_intp k, npy_intp n)
{
    for (npy_intp first = 0; first < k; first += MOST_TERMS) {
        npy_intp terms = k - first < MOST_TERMS ? k - first : MOST_TERMS;
        NAME(subtract_terms)(c, gs_part(a, 0, first), gs_part(b, first, 0), m, terms, n);
    }
}

#if LANES > 1
GS_CLONES static void
NAME(subtract_row)(NUMBER *row, const NUMBER *other, npy_intp n)
{
    GS_IVDEP
    for (npy_intp j = 0; j < n; j++) {
        row[j] -= other[j];
    }
}
#endif

#undef WIDTH
