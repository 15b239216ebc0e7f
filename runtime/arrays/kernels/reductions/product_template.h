/* The text of product.c for one type: REAL is the type, NAME(x) adds its suffix. */

/* ---- along rows */

/* Zero where a lane has left the range in which it is exact. */
GS_INLINE double
NAME(product_block)(const REAL *x, npy_intp n)
{
    REAL lanes[64];
    double wide[32], rest = 1;
    int is_lost = 0;
    npy_intp i = 0;
    for (int k = 0; k < 64; k++) {
        lanes[k] = 1;
    }
    for (; i + 64 <= n; i += 64) {
        for (int k = 0; k < 64; k++) {
            lanes[k] *= x[i + k];
        }
    }
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) {
            lanes[k] *= x[i + k];
        }
    }
    for (; i < n; i++) {
        rest *= (double)x[i];
    }
    for (int k = 0; k < 64; k++) {
        is_lost |= LIBM(fabs)(lanes[k]) < SMALLEST;
    }
    for (int k = 0; k < 32; k++) {
        wide[k] = (double)lanes[k] * (double)lanes[k + 32];
    }
    for (int width = 16; width >= 1; width /= 2) {
        for (int k = 0; k < width; k++) {
            wide[k] *= wide[k + width];
        }
    }
    return is_lost ? 0 : wide[0] * rest;
}

/* The same with lanes that stay in registers, for short rows. */
GS_INLINE double
NAME(product_middle)(const REAL *x, npy_intp n)
{
    REAL lanes[16];
    double wide[8], rest = 1;
    int is_lost = 0;
    npy_intp i = 0;
    for (int k = 0; k < 16; k++) {
        lanes[k] = 1;
    }
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) {
            lanes[k] *= x[i + k];
        }
    }
    for (; i < n; i++) {
        rest *= (double)x[i];
    }
    for (int k = 0; k < 16; k++) {
        is_lost |= LIBM(fabs)(lanes[k]) < SMALLEST;
    }
    for (int k = 0; k < 8; k++) {
        wide[k] = (double)lanes[k] * (double)lanes[k + 8];
    }
    for (int width = 4; width >= 1; width /= 2) {
        for (int k = 0; k < width; k++) {
            wide[k] *= wide[k + width];
        }
    }
    return is_lost ? 0 : wide[0] * rest;
}

/* What the elements make of a zero that they are multiplied with: 1 or -1, or NaN where one is infinite or NaN. */
GS_INLINE REAL
NAME(sign_beside_zero)(const REAL *x, npy_intp n)
{
    REAL lanes[16], sign = 1;
    npy_intp i = 0;
    for (int k = 0; k < 16; k++) {
        lanes[k] = 1;
    }
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) {
            REAL value = x[i + k];
            lanes[k] *= LIBM(copysign)(1, value) + (value - value);
        }
    }
    for (; i < n; i++) {
        sign *= LIBM(copysign)(1, x[i]) + (x[i] - x[i]);
    }
    for (int k = 0; k < 16; k++) {
        sign *= lanes[k];
    }
    return sign;
}

/* The same of an infinity: NaN where an element is zero or NaN. */
GS_INLINE REAL
NAME(sign_beside_infinity)(const REAL *x, npy_intp n)
{
    REAL lanes[16], sign = 1;
    npy_intp i = 0;
    for (int k = 0; k < 16; k++) {
        lanes[k] = 1;
    }
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) {
            REAL value = x[i + k];
            lanes[k] *= LIBM(copysign)(1, value) + 0 / value;
        }
    }
    for (; i < n; i++) {
        sign *= LIBM(copysign)(1, x[i]) + 0 / x[i];
    }
    for (int k = 0; k < 16; k++) {
        sign *= lanes[k];
    }
    return sign;
}

/* As NumPy multiplies them; until the product is zero, infinite or NaN. */
GS_INLINE REAL
NAME(product_in_order)(const REAL *x, npy_intp n)
{
    REAL product = 1;
    npy_intp i = 0;
    while (i < n && product != 0 && product - product == 0) {
        npy_intp end = n - i < FEW ? n : i + FEW;
        for (; i < end; i++) {
            product *= x[i];
        }
    }
    if (i < n && product == 0) {
        product *= NAME(sign_beside_zero)(x + i, n - i);
    } else if (i < n) {
        product *= NAME(sign_beside_infinity)(x + i, n - i);
    }
    return product;
}

GS_INLINE REAL
NAME(product_row)(const REAL *x, npy_intp n)
{
    double fraction = 1;
    npy_intp exponent = 0;
    if (n <= FEW) {
        return NAME(product_in_order)(x, n);
    }
    if (n <= MIDDLE) {
        double product = NAME(product_middle)(x, n);
        int is_normal = fabs(product) >= DBL_MIN && fabs(product) <= DBL_MAX;
        return is_normal ? (REAL)product : NAME(product_in_order)(x, n);
    }
    for (npy_intp first = 0; first < n; first += BLOCK) {
        double product = NAME(product_block)(x + first, n - first < BLOCK ? n - first : BLOCK);
        if (!(fabs(product) >= DBL_MIN && fabs(product) <= DBL_MAX)) {
            return NAME(product_in_order)(x, n);
        }
        multiply_fraction(product, &fraction, &exponent);
    }
    exponent = exponent > FAR ? FAR : exponent < -FAR ? -FAR : exponent;
    return (REAL)ldexp(fraction, (int)exponent);
}

typedef struct {
    const REAL *x;
    REAL *out;
    npy_intp r, inner;
    npy_intp n_tiles;
} NAME(product_job);

GS_CLONES static void
NAME(product_rows)(void *context, npy_intp first, npy_intp last)
{
    const NAME(product_job) *job = context;
    for (npy_intp row = first; row < last; row++) {
        job->out[row] = NAME(product_row)(job->x + row * job->r, job->r);
    }
}

/* ---- along columns */

/* Four rows at a time, since every pass over `out` costs a load and a store. */
GS_INLINE void
NAME(multiply_rows)(const REAL *x, npy_intp row_step, npy_intp n_rows, npy_intp n_columns, REAL *out)
{
    npy_intp i = 0;
    for (; i + 4 <= n_rows; i += 4) {
        const REAL *a = x + i * row_step, *b = a + row_step, *c = b + row_step, *d = c + row_step;
        GS_IVDEP
        for (npy_intp j = 0; j < n_columns; j++) {
            out[j] = out[j] * a[j] * b[j] * c[j] * d[j];
        }
    }
    for (; i < n_rows; i++) {
        const REAL *a = x + i * row_step;
        GS_IVDEP
        for (npy_intp j = 0; j < n_columns; j++) {
            out[j] *= a[j];
        }
    }
}

GS_CLONES static void
NAME(product_tiles)(void *context, npy_intp first, npy_intp last)
{
    const NAME(product_job) *job = context;
    for (npy_intp i = first; i < last; i++) {
        npy_intp o = i / job->n_tiles, column = i % job->n_tiles * TILE;
        npy_intp n_columns = job->inner - column < TILE ? job->inner - column : TILE;
        const REAL *x = job->x + o * job->r * job->inner + column;
        REAL *out = job->out + o * job->inner + column;
        memcpy(out, x, sizeof(REAL) * (size_t)n_columns);
        NAME(multiply_rows)(x + job->inner, job->inner, job->r - 1, n_columns, out);
    }
}

void
NAME(gs_product)(const REAL *x, REAL *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    NAME(product_job) job = {x, out, r, inner, (inner + TILE - 1) / TILE};
    if (inner == 1) {
        gs_parallel(NAME(product_rows), &job, outer, r + 8, 1);
        return;
    }
    gs_parallel(NAME(product_tiles), &job, outer * job.n_tiles, r * (inner < TILE ? inner : TILE) + 8, 1);
}
