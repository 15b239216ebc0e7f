/* The text of softmax.c for one type: REAL is the type, NAME(x) adds its suffix, LIBM(x) adds that of the C library. */

/* ---- one row of few elements, or of many; see Note [Rows in lanes]. `y` is the result of the forward, for backward.
 *
 * What is written behind a row of few is written again when the next row has its turn. */

GS_INLINE void
NAME(softmax_of_few)(const REAL *x, const REAL *y, REAL *out, npy_intp n, int width)
{
    (void)y;
    REAL e[LANES], factor = 1 / NAME(exponentials_of_few)(x, NAME(largest_of_few)(x, n, width), e, n, width);
    GS_VECTOR
    for (int k = 0; k < width; k++) {
        out[k] = e[k] * factor;
    }
}

GS_INLINE void
NAME(softmax_of_many)(const REAL *x, const REAL *y, REAL *out, npy_intp n)
{
    (void)y;
    REAL factor = (REAL)(1 / NAME(exponentials_of_many)(x, NAME(largest_of_many)(x, n), out, n));
    for (npy_intp i = 0; i < n; i++) {
        out[i] *= factor;
    }
}

/* One block of a sum of a * b, or of a where b is NULL, but for its first `had` elements. */
GS_INLINE void
NAME(add_block)(const REAL *a, const REAL *b, int had, REAL *lanes)
{
    for (int k = 0; k < LANES; k++) {
        REAL term = b == NULL ? a[k] : a[k] * b[k];
        lanes[k] += k < had ? 0 : term;
    }
}

/* The sum of a * b, or of a where b is NULL, tile by tile in double. */
GS_INLINE double
NAME(sum_of_many)(const REAL *a, const REAL *b, npy_intp n)
{
    double sum = 0;
    for (npy_intp i = 0; i < n;) {
        REAL lanes[LANES] = {0};
        npy_intp last = i + TILE < n ? i + TILE : n;
        for (; i + LANES <= last; i += LANES) {
            NAME(add_block)(a + i, b == NULL ? NULL : b + i, 0, lanes);
        }
        if (i < last) {
            npy_intp at = last - LANES;
            NAME(add_block)(a + at, b == NULL ? NULL : b + at, (int)(i - at), lanes);
            i = last;
        }
        sum += (double)NAME(sum_of_lanes)(lanes, LANES);
    }
    return sum;
}

/* grad_input = y * (grad - sum(grad * y)) */
GS_INLINE void
NAME(softmax_backward_of_few)(const REAL *grad, const REAL *y, REAL *out, npy_intp n, int width)
{
    REAL lanes[LANES];
    GS_VECTOR
    for (int k = 0; k < width; k++) {
        lanes[k] = k < n ? grad[k] * y[k] : 0;
    }
    REAL shift = NAME(sum_of_lanes)(lanes, width);
    GS_VECTOR
    for (int k = 0; k < width; k++) {
        out[k] = y[k] * (grad[k] - shift);
    }
}

GS_INLINE void
NAME(softmax_backward_of_many)(const REAL *grad, const REAL *y, REAL *out, npy_intp n)
{
    const REAL shift = (REAL)NAME(sum_of_many)(grad, y, n);
    for (npy_intp i = 0; i < n; i += LANES) {
        npy_intp at = NAME(block_at)(i, n);
        GS_IVDEP
        for (int k = 0; k < LANES; k++) {
            out[at + k] = y[at + k] * (grad[at + k] - shift);
        }
    }
}

/* grad_input = grad - exp(y) * sum(grad) */
GS_INLINE void
NAME(log_softmax_backward_of_few)(const REAL *grad, const REAL *y, REAL *out, npy_intp n, int width)
{
    REAL lanes[LANES];
    GS_VECTOR
    for (int k = 0; k < width; k++) {
        lanes[k] = k < n ? grad[k] : 0;
    }
    REAL factor = NAME(sum_of_lanes)(lanes, width);
    GS_VECTOR
    for (int k = 0; k < width; k++) {
        out[k] = grad[k] - NAME(gs_exp)(y[k]) * factor;
    }
}

GS_INLINE void
NAME(log_softmax_backward_of_many)(const REAL *grad, const REAL *y, REAL *out, npy_intp n)
{
    const REAL factor = (REAL)NAME(sum_of_many)(grad, NULL, n);
    for (npy_intp i = 0; i < n; i += LANES) {
        npy_intp at = NAME(block_at)(i, n);
        GS_IVDEP
        for (int k = 0; k < LANES; k++) {
            out[at + k] = grad[at + k] - NAME(gs_exp)(y[at + k]) * factor;
        }
    }
}

/* ---- all rows */

typedef void (*NAME(row_of_few))(const REAL *a, const REAL *b, REAL *out, npy_intp n, int width);
typedef void (*NAME(row_of_many))(const REAL *a, const REAL *b, REAL *out, npy_intp n);

/* The last rows, behind which nothing may be read or written, go through copies. */
GS_INLINE void
NAME(each_short_row)(const job *j, npy_intp first, npy_intp last, int width, NAME(row_of_few) work_on)
{
    REAL a_copy[LANES] = {0}, b_copy[LANES] = {0}, result[LANES];
    const npy_intp n = j->n;
    const size_t bytes = sizeof(REAL) * (size_t)n;
    for (npy_intp row = first; row < last; row++) {
        const REAL *a = (const REAL *)j->a + row * n;
        const REAL *b = j->b == NULL ? a : (const REAL *)j->b + row * n;
        REAL *out = (REAL *)j->out + row * n;
        if ((last - row) * n >= width) {
            work_on(a, b, out, n, width);
            continue;
        }
        memcpy(a_copy, a, bytes);
        memcpy(b_copy, b, bytes);
        work_on(a_copy, b_copy, result, n, width);
        memcpy(out, result, bytes);
    }
}

GS_INLINE void
NAME(each_row)(const job *j, npy_intp first, npy_intp last, NAME(row_of_few) of_few, NAME(row_of_many) of_many)
{
    const npy_intp n = j->n;
    switch (NAME(width_of)(n)) {
    case 8:
        NAME(each_short_row)(j, first, last, 8, of_few);
        return;
    case 16:
        NAME(each_short_row)(j, first, last, 16, of_few);
        return;
    case LANES:
        NAME(each_short_row)(j, first, last, LANES, of_few);
        return;
    }
    for (npy_intp row = first; row < last; row++) {
        const REAL *a = (const REAL *)j->a + row * n;
        of_many(a, j->b == NULL ? a : (const REAL *)j->b + row * n, (REAL *)j->out + row * n, n);
    }
}

#define ROWS_OF(operation)                                                                              \
    GS_CLONES static void NAME(operation##_rows)(void *context, npy_intp first, npy_intp last)          \
    {                                                                                                   \
        NAME(each_row)(context, first, last, NAME(operation##_of_few), NAME(operation##_of_many));      \
    }

ROWS_OF(softmax)
ROWS_OF(softmax_backward)
ROWS_OF(log_softmax_backward)
#undef ROWS_OF

/* out = x - largest - log_sum; what is written behind a short row is written again, but for the last of them. */
GS_CLONES static void
NAME(subtract_from_rows)(const REAL *x, npy_intp n, npy_intp rows, const REAL *largest, const REAL *log_sums, REAL *out)
{
    for (npy_intp row = 0; row < rows; row++, x += n, out += n) {
        const REAL first = largest[row], second = log_sums[row];
        npy_intp size = (rows - row) * n < LANES ? n : LANES;
        for (npy_intp i = 0; i < n; i += LANES) {
            npy_intp at = n < LANES ? 0 : NAME(block_at)(i, n);
            GS_IVDEP
            for (npy_intp k = at; k < at + size; k++) {
                out[k] = (x[k] - first) - second;
            }
        }
    }
}

static void
NAME(log_softmax_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const npy_intp n = j->n;
    REAL largest[ROWS], log_sums[ROWS];
    for (npy_intp row = first, count; row < last; row += count) {
        const REAL *x = (const REAL *)j->a + row * n;
        count = NAME(rows_at_once)(n, last - row);
        NAME(log_sums_of_rows)(x, n, count, largest, log_sums);
        NAME(subtract_from_rows)(x, n, count, largest, log_sums, (REAL *)j->out + row * n);
    }
}

static void
NAME(logsumexp_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    NAME(logsumexp_of_rows)((const REAL *)j->a + first * j->n, j->n, last - first, (REAL *)j->out + first);
}

/* ---- tiles of columns: the axis is walked with one vector of maxima and one of sums */

typedef struct {
    const REAL *a, *b; /* the tile's first element in the arrays of the job */
    REAL *out;
    npy_intp width;
} NAME(column_tile);

/* `out_n` is the length of the axis in the result: 1 where it is reduced. */
GS_INLINE NAME(column_tile)
NAME(column_tile_at)(const job *j, npy_intp index, npy_intp out_n)
{
    npy_intp n_tiles = (j->inner + COLUMNS - 1) / COLUMNS;
    npy_intp o = index / n_tiles, column = index % n_tiles * COLUMNS;
    npy_intp offset = o * j->n * j->inner + column, left = j->inner - column;
    NAME(column_tile) tile = {
        .a = (const REAL *)j->a + offset,
        .b = j->b == NULL ? NULL : (const REAL *)j->b + offset,
        .out = (REAL *)j->out + o * out_n * j->inner + column,
        .width = left < COLUMNS ? left : COLUMNS,
    };
    return tile;
}

GS_CLONES static void
NAME(largest_in_columns)(const REAL *x, npy_intp n, npy_intp step, npy_intp width, REAL *largest)
{
    memcpy(largest, x, sizeof(REAL) * (size_t)width);
    for (npy_intp i = 1; i < n; i++) {
        const REAL *row = x + i * step;
        for (npy_intp k = 0; k < width; k++) {
            largest[k] = row[k] > largest[k] ? row[k] : largest[k];
        }
    }
}

GS_CLONES static void
NAME(subtract_rows)(const REAL *x, const REAL *shift, REAL *out, npy_intp width)
{
    GS_IVDEP
    for (npy_intp k = 0; k < width; k++) {
        out[k] = x[k] - shift[k];
    }
}

/* sums[k] = sum of exp(x[:, k] - shift[k]); the exponentials go to out when it is not NULL. */
GS_CLONES static void
NAME(sum_exponentials)(const job *j, const REAL *x, const REAL *shift, REAL *out, npy_intp width, double *sums)
{
    memset(sums, 0, sizeof(double) * COLUMNS);
    for (npy_intp i = 0; i < j->n * j->inner; i += j->inner) {
        if (out == NULL) {
            for (npy_intp k = 0; k < width; k++) {
                sums[k] += (double)NAME(gs_exp)(x[i + k] - shift[k]);
            }
            continue;
        }
        GS_IVDEP
        for (npy_intp k = 0; k < width; k++) {
            REAL e = NAME(gs_exp)(x[i + k] - shift[k]);
            out[i + k] = e;
            sums[k] += (double)e;
        }
    }
}

static void
NAME(softmax_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    REAL factors[COLUMNS];
    double sums[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(column_tile) tile = NAME(column_tile_at)(j, index, j->n);
        NAME(largest_in_columns)(tile.a, j->n, j->inner, tile.width, factors);
        NAME(sum_exponentials)(j, tile.a, factors, tile.out, tile.width, sums);
        for (npy_intp k = 0; k < tile.width; k++) {
            factors[k] = (REAL)(1 / sums[k]);
        }
        for (npy_intp i = 0; i < j->n; i++) {
            for (npy_intp k = 0; k < tile.width; k++) {
                tile.out[i * j->inner + k] *= factors[k];
            }
        }
    }
}

static void
NAME(log_softmax_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    REAL largest[COLUMNS], log_sums[COLUMNS];
    double sums[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(column_tile) tile = NAME(column_tile_at)(j, index, j->n);
        NAME(largest_in_columns)(tile.a, j->n, j->inner, tile.width, largest);
        NAME(sum_exponentials)(j, tile.a, largest, NULL, tile.width, sums);
        for (npy_intp k = 0; k < tile.width; k++) {
            log_sums[k] = LIBM(gs_log)((REAL)sums[k]);
        }
        for (npy_intp i = 0; i < j->n; i++) {
            REAL *row = tile.out + i * j->inner;
            NAME(subtract_rows)(tile.a + i * j->inner, largest, row, tile.width);
            NAME(subtract_rows)(row, log_sums, row, tile.width);
        }
    }
}

static void
NAME(logsumexp_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    REAL shift[COLUMNS];
    double sums[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(column_tile) tile = NAME(column_tile_at)(j, index, 1);
        if (j->n > 0) {
            NAME(largest_in_columns)(tile.a, j->n, j->inner, tile.width, shift);
        } else {
            memset(shift, 0, sizeof(shift));
        }
        for (npy_intp k = 0; k < tile.width; k++) {
            shift[k] = NAME(finite_shift)(shift[k]);
        }
        NAME(sum_exponentials)(j, tile.a, shift, NULL, tile.width, sums);
        for (npy_intp k = 0; k < tile.width; k++) {
            int is_infinite = shift[k] == (REAL)INFINITY;
            tile.out[k] = is_infinite ? NAME(infinity_unless_nan)(tile.a + k, j->n, j->inner)
                                      : LIBM(gs_log)((REAL)sums[k]) + shift[k];
        }
    }
}

GS_CLONES static void
NAME(softmax_backward_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    double sums[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(column_tile) tile = NAME(column_tile_at)(j, index, j->n);
        const REAL *grad = tile.a, *y = tile.b;
        REAL *out = tile.out;
        memset(sums, 0, sizeof(sums));
        for (npy_intp i = 0; i < j->n * j->inner; i += j->inner) {
            for (npy_intp k = 0; k < tile.width; k++) {
                sums[k] += (double)grad[i + k] * (double)y[i + k];
            }
        }
        for (npy_intp i = 0; i < j->n * j->inner; i += j->inner) {
            GS_IVDEP
            for (npy_intp k = 0; k < tile.width; k++) {
                out[i + k] = y[i + k] * (grad[i + k] - (REAL)sums[k]);
            }
        }
    }
}

GS_CLONES static void
NAME(log_softmax_backward_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    double sums[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(column_tile) tile = NAME(column_tile_at)(j, index, j->n);
        const REAL *grad = tile.a, *y = tile.b;
        REAL *out = tile.out;
        memset(sums, 0, sizeof(sums));
        for (npy_intp i = 0; i < j->n * j->inner; i += j->inner) {
            for (npy_intp k = 0; k < tile.width; k++) {
                sums[k] += (double)grad[i + k];
            }
        }
        for (npy_intp i = 0; i < j->n * j->inner; i += j->inner) {
            GS_IVDEP
            for (npy_intp k = 0; k < tile.width; k++) {
                out[i + k] = grad[i + k] - NAME(gs_exp)(y[i + k]) * (REAL)sums[k];
            }
        }
    }
}
