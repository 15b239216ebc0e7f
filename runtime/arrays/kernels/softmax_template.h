/* The text of softmax.c for one type: REAL is the type, NAME(x) adds its suffix, LIBM(log) is its logarithm. */

/* ---- one row */

/* NaN is not looked for here: it comes back through the exponentials. */
GS_INLINE REAL
NAME(largest)(const REAL *x, npy_intp n)
{
    REAL lanes[32];
    REAL largest = x[0];
    npy_intp i = 0;
    if (n >= 32) {
        memcpy(lanes, x, sizeof(lanes));
        for (i = 32; i + 32 <= n; i += 32) {
            for (int k = 0; k < 32; k++) {
                lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];
            }
        }
        for (int width = 16; width >= 1; width /= 2) {
            for (int k = 0; k < width; k++) {
                lanes[k] = lanes[k + width] > lanes[k] ? lanes[k + width] : lanes[k];
            }
        }
        largest = lanes[0];
    }
    for (; i < n; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    return largest;
}

GS_INLINE void
NAME(scale)(REAL *x, REAL factor, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

GS_INLINE double
NAME(sum_of_lanes)(REAL *lanes)
{
    for (int width = 16; width >= 1; width /= 2) {
        for (int k = 0; k < width; k++) {
            lanes[k] += lanes[k + width];
        }
    }
    return (double)lanes[0];
}

/* Sums at most a tile; longer rows are summed tile by tile, in double. */
GS_INLINE double
NAME(sum)(const REAL *x, npy_intp n)
{
    REAL lanes[32] = {0};
    double sum = 0;
    npy_intp i = 0;
    if (n >= 32) {
        for (; i + 32 <= n; i += 32) {
            for (int k = 0; k < 32; k++) {
                lanes[k] += x[i + k];
            }
        }
        sum = NAME(sum_of_lanes)(lanes);
    }
    for (; i < n; i++) {
        sum += (double)x[i];
    }
    return sum;
}

GS_INLINE double
NAME(dot)(const REAL *x, const REAL *y, npy_intp n)
{
    REAL lanes[32] = {0};
    double sum = 0;
    npy_intp i = 0;
    if (n >= 32) {
        for (; i + 32 <= n; i += 32) {
            for (int k = 0; k < 32; k++) {
                lanes[k] += x[i + k] * y[i + k];
            }
        }
        sum = NAME(sum_of_lanes)(lanes);
    }
    for (; i < n; i++) {
        sum += (double)x[i] * (double)y[i];
    }
    return sum;
}

/* ---- rows of any length, whose sums are taken tile by tile */

GS_INLINE double
NAME(sum_of_row)(const REAL *x, npy_intp n)
{
    double sum = 0;
    for (npy_intp i = 0; i < n; i += TILE) {
        sum += NAME(sum)(x + i, n - i < TILE ? n - i : TILE);
    }
    return sum;
}

/* The sum of exp(x - shift) over at most a tile; the exponentials go to out when it is not NULL. */
GS_INLINE double
NAME(exponentials_of_tile)(const REAL *x, REAL shift, REAL *out, npy_intp n)
{
    REAL lanes[32] = {0};
    double sum = 0;
    npy_intp i = 0;
    if (n >= 32) {
        for (; i + 32 <= n; i += 32) {
            GS_IVDEP
            for (int k = 0; k < 32; k++) {
                REAL e = NAME(gs_exp)(x[i + k] - shift);
                lanes[k] += e;
                if (out != NULL) {
                    out[i + k] = e;
                }
            }
        }
        sum = NAME(sum_of_lanes)(lanes);
    }
    for (; i < n; i++) {
        REAL e = NAME(gs_exp)(x[i] - shift);
        sum += (double)e;
        if (out != NULL) {
            out[i] = e;
        }
    }
    return sum;
}

GS_INLINE double
NAME(exponentials_of_row)(const REAL *x, REAL shift, REAL *out, npy_intp n)
{
    double sum = 0;
    for (npy_intp i = 0; i < n; i += TILE) {
        npy_intp part = n - i < TILE ? n - i : TILE;
        sum += NAME(exponentials_of_tile)(x + i, shift, out == NULL ? NULL : out + i, part);
    }
    return sum;
}

GS_CLONES static void
NAME(softmax_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp n = j->n;
    for (npy_intp row = first; row < last; row++) {
        const REAL *x = (const REAL *)j->a + row * n;
        REAL *out = (REAL *)j->out + row * n;
        double sum = NAME(exponentials_of_row)(x, NAME(largest)(x, n), out, n);
        NAME(scale)(out, (REAL)(1 / sum), n);
    }
}

GS_CLONES static void
NAME(log_softmax_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp n = j->n;
    for (npy_intp row = first; row < last; row++) {
        const REAL *x = (const REAL *)j->a + row * n;
        REAL *out = (REAL *)j->out + row * n;
        REAL largest = NAME(largest)(x, n);
        REAL log_sum = LIBM(log)((REAL)NAME(exponentials_of_row)(x, largest, NULL, n));
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            out[i] = (x[i] - largest) - log_sum;
        }
    }
}

/* An infinite maximum must not be subtracted: the difference would be NaN where the answer is infinite. */
static inline REAL
NAME(finite_shift)(REAL largest)
{
    return largest == -(REAL)INFINITY ? 0 : largest;
}

/* The answer where one of the elements is infinite. */
static REAL
NAME(infinity_unless_nan)(const REAL *x, npy_intp n, npy_intp step)
{
    REAL answer = (REAL)INFINITY;
    for (npy_intp i = 0; i < n; i++) {
        answer = isnan(x[i * step]) ? x[i * step] : answer;
    }
    return answer;
}

GS_CLONES static REAL
NAME(logsumexp_row)(const REAL *x, npy_intp n)
{
    if (n == 0) {
        return -(REAL)INFINITY;
    }
    REAL shift = NAME(finite_shift)(NAME(largest)(x, n));
    if (shift == (REAL)INFINITY) {
        return NAME(infinity_unless_nan)(x, n, 1);
    }
    return LIBM(log)((REAL)NAME(exponentials_of_row)(x, shift, NULL, n)) + shift;
}

static void
NAME(logsumexp_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    for (npy_intp row = first; row < last; row++) {
        ((REAL *)j->out)[row] = NAME(logsumexp_row)((const REAL *)j->a + row * j->n, j->n);
    }
}

/* grad_input = y * (grad - sum(grad * y)) */
GS_CLONES static void
NAME(softmax_backward_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp n = j->n;
    for (npy_intp row = first; row < last; row++) {
        const REAL *grad = (const REAL *)j->a + row * n;
        const REAL *y = (const REAL *)j->b + row * n;
        REAL *out = (REAL *)j->out + row * n;
        double sum = 0;
        for (npy_intp i = 0; i < n; i += TILE) {
            sum += NAME(dot)(grad + i, y + i, n - i < TILE ? n - i : TILE);
        }
        const REAL shift = (REAL)sum;
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            out[i] = y[i] * (grad[i] - shift);
        }
    }
}

/* grad_input = grad - exp(y) * sum(grad) */
GS_CLONES static void
NAME(log_softmax_backward_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp n = j->n;
    for (npy_intp row = first; row < last; row++) {
        const REAL *grad = (const REAL *)j->a + row * n;
        const REAL *y = (const REAL *)j->b + row * n;
        REAL *out = (REAL *)j->out + row * n;
        const REAL factor = (REAL)NAME(sum_of_row)(grad, n);
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            out[i] = grad[i] - NAME(gs_exp)(y[i]) * factor;
        }
    }
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
            log_sums[k] = LIBM(log)((REAL)sums[k]);
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
                                      : LIBM(log)((REAL)sums[k]) + shift[k];
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
