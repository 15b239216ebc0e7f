/* The text of triangular.c for one type. */

/* In a strip of columns: as many sums as hide how long a multiplication takes, and for complex numbers a reciprocal. */
#if LANES > 1
#define MOST_VECTORS 4
#else
#define MOST_VECTORS 16
#endif

GS_INLINE NUMBER
NAME(element)(gs_block a, npy_intp i, npy_intp j)
{
    return *(const NUMBER *)(a.data + i * a.row + j * a.column);
}

/* ---- one column */

/* sum -= a[0] x[0] + a[1] x[1] + ... */
GS_INLINE NUMBER
NAME(less_products)(NUMBER sum, const NUMBER *a, const NUMBER *x, npy_intp n)
{
    NAME(vector) sums[4] = {0};
    npy_intp i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        for (int part = 0; part < 4; part++) {
            NAME(vector) factors = ((const NAME(unaligned) *)(a + i))[part];
            SUBTRACT(sums[part], factors, ((const NAME(unaligned) *)(x + i))[part]);
        }
    }
    for (; i < n; i++) {
        SUBTRACT(sum, a[i], x[i]);
    }
    sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int lane = 0; lane < LANES; lane++) {
        sum += ((const NUMBER *)sums)[lane];
    }
    return sum;
}

/* Each row less its products with what is solved; rows are contiguous. */
GS_INLINE void
NAME(solve_by_rows)(gs_block a, gs_triangle triangle, NUMBER *x, npy_intp n)
{
    for (npy_intp step = 0; step < n; step++) {
        npy_intp i = triangle.upper ? n - 1 - step : step, first = triangle.upper ? i + 1 : 0;
        NUMBER sum = NAME(less_products)(x[i], (const NUMBER *)(a.data + i * a.row) + first, x + first, step);
        x[i] = triangle.unitriangular ? sum : sum / NAME(element)(a, i, i);
    }
}

/* What is solved from the rest at once; columns are contiguous. */
GS_INLINE void
NAME(solve_by_columns)(gs_block a, gs_triangle triangle, NUMBER *x, npy_intp n)
{
    for (npy_intp step = 0; step < n; step++) {
        npy_intp j = triangle.upper ? n - 1 - step : step, first = triangle.upper ? 0 : j + 1;
        x[j] = triangle.unitriangular ? x[j] : x[j] / NAME(element)(a, j, j);
        const NUMBER factor = x[j], *column = (const NUMBER *)(a.data + j * a.column);
        GS_IVDEP
        for (npy_intp i = first; i < first + n - 1 - step; i++) {
            SUBTRACT(x[i], factor, column[i]);
        }
    }
}

GS_INLINE void
NAME(solve_anyhow)(gs_block a, gs_triangle triangle, NUMBER *x, npy_intp n)
{
    for (npy_intp step = 0; step < n; step++) {
        npy_intp i = triangle.upper ? n - 1 - step : step, first = triangle.upper ? i + 1 : 0;
        for (npy_intp j = first; j < first + step; j++) {
            SUBTRACT(x[i], NAME(element)(a, i, j), x[j]);
        }
        x[i] = triangle.unitriangular ? x[i] : x[i] / NAME(element)(a, i, i);
    }
}

GS_CLONES static void
NAME(solve_vector)(gs_block a, gs_triangle triangle, gs_block x, npy_intp n)
{
    if (a.column == (npy_intp)sizeof(NUMBER)) {
        NAME(solve_by_rows)(a, triangle, (NUMBER *)x.data, n);
    } else if (a.row == (npy_intp)sizeof(NUMBER)) {
        NAME(solve_by_columns)(a, triangle, (NUMBER *)x.data, n);
    } else {
        NAME(solve_anyhow)(a, triangle, (NUMBER *)x.data, n);
    }
}

/* ---- several columns, of which a strip is copied to the stack */

/* Complex numbers by the reciprocal, where there is one: their division takes as long as twenty multiplications. */
GS_INLINE void
NAME(divide)(NAME(vector) *numbers, NUMBER divisor, int count)
{
#if LANES == 1
    double size = MAGNITUDE(divisor);
    if (size > 2 * LEAST && size < 0.25 / LEAST) {
        NUMBER reciprocal = 1 / divisor;
        for (int v = 0; v < count; v++) {
            NUMBER product = 0;
            SUBTRACT(product, reciprocal, -numbers[v]);
            numbers[v] = product;
        }
        return;
    }
#endif
    for (int v = 0; v < count; v++) {
        numbers[v] /= divisor;
    }
}

GS_INLINE void
NAME(solve_strip)(const int vectors, gs_block a, gs_triangle triangle, NAME(vector) *strip, npy_intp n)
{
    for (npy_intp step = 0; step < n; step++) {
        npy_intp i = triangle.upper ? n - 1 - step : step, first = triangle.upper ? i + 1 : 0;
        NAME(vector) sums[MOST_VECTORS];
        for (int v = 0; v < vectors; v++) {
            sums[v] = strip[i * vectors + v];
        }
        for (npy_intp j = first; j < first + step; j++) {
            NUMBER factor = NAME(element)(a, i, j);
            for (int v = 0; v < vectors; v++) {
                SUBTRACT(sums[v], factor, strip[j * vectors + v]);
            }
        }
        if (!triangle.unitriangular) {
            NAME(divide)(sums, NAME(element)(a, i, i), vectors);
        }
        for (int v = 0; v < vectors; v++) {
            strip[i * vectors + v] = sums[v];
        }
    }
}

GS_INLINE void
NAME(read_strip)(NUMBER *strip, npy_intp width, gs_block x, npy_intp n, npy_intp columns)
{
    if (columns < width) {
        memset(strip, 0, sizeof(NUMBER) * (size_t)(width * n));
    }
    for (npy_intp i = 0; i < n && x.column == (npy_intp)sizeof(NUMBER); i++) {
        memcpy(strip + i * width, x.data + i * x.row, sizeof(NUMBER) * (size_t)columns);
    }
    for (npy_intp j = 0; j < columns && x.column != (npy_intp)sizeof(NUMBER); j++) {
        for (npy_intp i = 0; i < n; i++) {
            strip[i * width + j] = NAME(element)(x, i, j);
        }
    }
}

GS_INLINE void
NAME(write_strip)(const NUMBER *strip, npy_intp width, gs_block x, npy_intp n, npy_intp columns)
{
    for (npy_intp i = 0; i < n && x.column == (npy_intp)sizeof(NUMBER); i++) {
        memcpy(x.data + i * x.row, strip + i * width, sizeof(NUMBER) * (size_t)columns);
    }
    for (npy_intp j = 0; j < columns && x.column != (npy_intp)sizeof(NUMBER); j++) {
        for (npy_intp i = 0; i < n; i++) {
            *(NUMBER *)(x.data + i * x.row + j * x.column) = strip[i * width + j];
        }
    }
}

GS_INLINE void
NAME(solve_columns)(const int vectors, gs_block a, gs_triangle triangle, gs_block x, npy_intp n, npy_intp columns)
{
    NAME(vector) strip[LEAF * MOST_VECTORS];
    NAME(read_strip)((NUMBER *)strip, vectors * LANES, x, n, columns);
    NAME(solve_strip)(vectors, a, triangle, strip, n);
    NAME(write_strip)((const NUMBER *)strip, vectors * LANES, x, n, columns);
}

/* At most LEAF rows. */
GS_CLONES static void
NAME(solve_leaf)(gs_block a, gs_triangle triangle, gs_block x, npy_intp n, npy_intp k)
{
    npy_intp column = 0, wide = MOST_VECTORS * LANES;
    for (; column + wide <= k; column += wide) {
        NAME(solve_columns)(MOST_VECTORS, a, triangle, gs_part(x, 0, column), n, wide);
    }
    for (; column < k; column += LANES) {
        NAME(solve_columns)(1, a, triangle, gs_part(x, 0, column), n, k - column < LANES ? k - column : LANES);
    }
}

#undef MOST_VECTORS
