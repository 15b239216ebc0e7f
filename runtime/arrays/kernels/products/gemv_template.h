/* The text of gemv.c for one type: REAL is the type, NAME(x) adds its suffix. */

#define LANES 32

GS_INLINE REAL
NAME(sum_lanes)(REAL *lanes)
{
    for (int width = LANES / 2; width >= 1; width /= 2) {
        for (int k = 0; k < width; k++) {
            lanes[k] += lanes[k + width];
        }
    }
    return lanes[0];
}

GS_INLINE REAL
NAME(dot_row)(const REAL *a, const REAL *x, npy_intp n)
{
    REAL lanes[LANES] = {0};
    REAL rest = 0;
    npy_intp i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            lanes[k] += a[i + k] * x[i + k];
        }
    }
    for (; i < n; i++) {
        rest += a[i] * x[i];
    }
    return NAME(sum_lanes)(lanes) + rest;
}

/* Rows too short for lanes, four at a time: the sums of one would wait for each other. */
GS_INLINE void
NAME(dot_four_rows)(const REAL *a, npy_intp step, const REAL *x, npy_intp n, REAL *out)
{
    const REAL *b = a + step, *c = b + step, *d = c + step;
    REAL sums[4] = {0};
    for (npy_intp i = 0; i < n; i++) {
        sums[0] += a[i] * x[i];
        sums[1] += b[i] * x[i];
        sums[2] += c[i] * x[i];
        sums[3] += d[i] * x[i];
    }
    memcpy(out, sums, sizeof(sums));
}

#define FEW_LANES 4

#if defined(__GNUC__)
typedef REAL NAME(few) __attribute__((vector_size(FEW_LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));
#else
typedef struct {
    REAL lane[FEW_LANES];
} NAME(few);
#endif

GS_INLINE void
NAME(add_products)(const REAL *a, const REAL *x, NAME(few) *sums)
{
#if defined(__GNUC__)
    *sums += *(const NAME(few) *)a * *(const NAME(few) *)x;
#else
    for (int k = 0; k < FEW_LANES; k++) {
        sums->lane[k] += a[k] * x[k];
    }
#endif
}

GS_INLINE REAL
NAME(sum_with_rest)(const NAME(few) *sums, const REAL *a, const REAL *x, npy_intp n)
{
    const REAL *lanes = (const REAL *)sums;
    REAL rest = 0;
    for (npy_intp i = 0; i < n; i++) {
        rest += a[i] * x[i];
    }
    return ((lanes[0] + lanes[2]) + (lanes[1] + lanes[3])) + rest;
}

/* The same in four lanes each, which are added at the end, and then what is left of a row. */
GS_INLINE void
NAME(dot_four_in_lanes)(const REAL *a, npy_intp step, const REAL *x, npy_intp n, REAL *out)
{
    const REAL *b = a + step, *c = b + step, *d = c + step;
    NAME(few) as = {0}, bs = {0}, cs = {0}, ds = {0};
    npy_intp i = 0;
    for (; i + FEW_LANES <= n; i += FEW_LANES) {
        NAME(add_products)(a + i, x + i, &as);
        NAME(add_products)(b + i, x + i, &bs);
        NAME(add_products)(c + i, x + i, &cs);
        NAME(add_products)(d + i, x + i, &ds);
    }
    out[0] = NAME(sum_with_rest)(&as, a + i, x + i, n - i);
    out[1] = NAME(sum_with_rest)(&bs, b + i, x + i, n - i);
    out[2] = NAME(sum_with_rest)(&cs, c + i, x + i, n - i);
    out[3] = NAME(sum_with_rest)(&ds, d + i, x + i, n - i);
}

GS_CLONES static void
NAME(matrix_vector)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp row = first;
    for (; j->columns < LANES && row + 4 <= last; row += 4) {
        const REAL *a = (const REAL *)j->matrix + row * j->step;
        REAL *out = (REAL *)j->out + row;
        if (j->columns < 2 * FEW_LANES) {
            NAME(dot_four_rows)(a, j->step, j->x, j->columns, out);
        } else {
            NAME(dot_four_in_lanes)(a, j->step, j->x, j->columns, out);
        }
    }
    for (; row < last; row++) {
        ((REAL *)j->out)[row] = NAME(dot_row)((const REAL *)j->matrix + row * j->step, j->x, j->columns);
    }
}

/* Columns first..last, a tile at a time and four rows in one pass. */
GS_CLONES static void
NAME(vector_matrix)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const REAL *x = j->x;
    for (npy_intp start = first; start < last; start += COLUMNS) {
        npy_intp n = last - start < COLUMNS ? last - start : COLUMNS;
        const REAL *matrix = (const REAL *)j->matrix + start;
        REAL *out = (REAL *)j->out + start;
        npy_intp row = 0;
        memset(out, 0, sizeof(REAL) * (size_t)n);
        for (; row + 4 <= j->rows; row += 4) {
            const REAL *a = matrix + row * j->step, *b = a + j->step, *c = b + j->step, *d = c + j->step;
            const REAL xa = x[row], xb = x[row + 1], xc = x[row + 2], xd = x[row + 3];
            GS_IVDEP
            for (npy_intp i = 0; i < n; i++) {
                out[i] += (a[i] * xa + b[i] * xb) + (c[i] * xc + d[i] * xd);
            }
        }
        for (; row < j->rows; row++) {
            const REAL *a = matrix + row * j->step;
            const REAL xa = x[row];
            GS_IVDEP
            for (npy_intp i = 0; i < n; i++) {
                out[i] += a[i] * xa;
            }
        }
    }
}

GS_CLONES static void
NAME(outer)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const REAL *y = j->y;
    for (npy_intp row = first; row < last; row++) {
        const REAL factor = ((const REAL *)j->x)[row * j->x_step];
        REAL *out = (REAL *)j->out + row * j->columns;
        GS_IVDEP
        for (npy_intp i = 0; i < j->columns; i++) {
            out[i] = factor * y[i];
        }
    }
}

#undef LANES
#undef FEW_LANES
