/* The loops of row_distances_kernels.c; instruction_sets/each_kernel.h says what REAL, NAME and the rest are. */

#if defined(__GNUC__) || defined(__clang__)
#define CHOOSE(holds, x, y) \
    (NAME(vector))(((NAME(mask))(holds) & (NAME(mask))(x)) | (~(NAME(mask))(holds) & (NAME(mask))(y)))
#else
#define CHOOSE(holds, x, y) ((holds) ? (x) : (y))
#endif
#define PANEL (VECTORS * LANES)

/* A row of vectors, of which the last ones may be beyond the end. */
INLINE void
NAME(load)(const int vectors, NAME(vector) *x, const REAL *from, npy_intp n)
{
    REAL edge[PANEL];
    if (n < vectors * LANES) {
        memset(edge, 0, sizeof(edge));
        memcpy(edge, from, (size_t)n * sizeof(REAL));
        from = edge;
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        x[v] = ((const NAME(unaligned) *)from)[v];
    }
}

INLINE void
NAME(store)(const int vectors, const NAME(vector) *x, REAL *to, npy_intp n)
{
    if (n < vectors * LANES) {
        memcpy(to, x, (size_t)n * sizeof(REAL));
        return;
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        ((NAME(unaligned) *)to)[v] = x[v];
    }
}

/* ---- distances */

/* With one difference more. */
INLINE NAME(vector)
NAME(with)(const gs_norm norm, NAME(vector) sum, NAME(vector) difference)
{
    if (norm == GS_EUCLIDEAN) {
        return sum + difference * difference;
    }
    NAME(vector) size = CHOOSE(difference < 0, -difference, difference);
    if (norm == GS_TAXICAB) {
        return sum + size;
    }
    return CHOOSE((size > sum) | (difference != difference), size, sum); /* NaN stays */
}

/* Of `height` rows and the `n` others of a panel, in the columns from `first` to `last`: added to what is there, but for the
 * first ones. */
INLINE void
NAME(measure_tile)(const gs_norm norm, const int height, const gs_distances *d, const REAL *rows, const REAL *panel,
                   npy_intp first, npy_intp last, REAL *to, npy_intp n)
{
    NAME(vector) sums[HEIGHT][VECTORS];
    UNROLL
    for (int i = 0; i < height; i++) {
        UNROLL
        for (int v = 0; v < VECTORS; v++) {
            sums[i][v] = (NAME(vector)){0};
        }
    }
    for (npy_intp k = first; k < last; k++) {
        const NAME(vector) *b = (const NAME(vector) *)(panel + k * PANEL);
        UNROLL
        for (int i = 0; i < height; i++) {
            REAL x = rows[i * d->width + k];
            UNROLL
            for (int v = 0; v < VECTORS; v++) {
                sums[i][v] = NAME(with)(norm, sums[i][v], x - b[v]);
            }
        }
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        if (first > 0) {
            NAME(vector) before[VECTORS];
            NAME(load)(VECTORS, before, to + i * d->n_others, n);
            UNROLL
            for (int v = 0; v < VECTORS; v++) {
                sums[i][v] += before[v];
            }
        }
        NAME(store)(VECTORS, sums[i], to + i * d->n_others, n);
    }
}

INLINE void
NAME(measure_rows)(const gs_norm norm, const gs_distances *d, const REAL *rows, npy_intp n_rows, const REAL *panel,
                   REAL *to)
{
    const npy_intp step = norm == GS_GREATEST ? d->width : BLOCK;
    for (npy_intp column = 0; column < d->n_others; column += PANEL, panel += PANEL * d->width) {
        npy_intp n = d->n_others - column < PANEL ? d->n_others - column : PANEL;
        for (npy_intp first = 0; first < d->width; first += step) {
            npy_intp last = d->width - first < step ? d->width : first + step, i = 0;
            for (; i + HEIGHT <= n_rows; i += HEIGHT) {
                NAME(measure_tile)(norm, HEIGHT, d, rows + i * d->width, panel, first, last,
                                   to + i * d->n_others + column, n);
            }
            for (; i < n_rows; i++) {
                NAME(measure_tile)(norm, 1, d, rows + i * d->width, panel, first, last, to + i * d->n_others + column,
                                   n);
            }
        }
    }
}

TARGET static void
NAME(measure)(const gs_distances *d, const void *rows, npy_intp n_rows, const void *panels, void *target)
{
    REAL *to = target;
    switch (d->norm) {
    case GS_TAXICAB:
        NAME(measure_rows)(GS_TAXICAB, d, rows, n_rows, panels, to);
        break;
    case GS_GREATEST:
        NAME(measure_rows)(GS_GREATEST, d, rows, n_rows, panels, to);
        break;
    case GS_EUCLIDEAN:
        NAME(measure_rows)(GS_EUCLIDEAN, d, rows, n_rows, panels, to);
        for (npy_intp i = 0; i < n_rows * d->n_others; i++) {
            to[i] = (REAL)sqrt((double)to[i]);
        }
        break;
    }
}

/* ---- weighted steps */

/* `distance` counts for GS_GREATEST alone. */
INLINE NAME(vector)
NAME(weighted)(const gs_norm norm, REAL weight, NAME(vector) difference, REAL distance)
{
    if (norm == GS_EUCLIDEAN) {
        return weight * difference;
    }
    NAME(vector) zeros = {0}, all = zeros + weight;
    if (norm == GS_TAXICAB) {
        return CHOOSE(difference > 0, all, CHOOSE(difference < 0, -all, zeros));
    }
    return CHOOSE((difference == distance) & (difference > 0), all,
                  CHOOSE((difference == -distance) & (difference < 0), -all, zeros));
}

/* Of `height` rows, in the `n` columns of a panel, which has a vector of each of the others.  Blocks are summed apart. */
INLINE void
NAME(add_steps_of_tile)(const gs_norm norm, const int height, const gs_distances *d, const REAL *weights,
                        const REAL *norms, const REAL *rows, const REAL *panel, REAL *to, npy_intp n)
{
    NAME(vector) x[HEIGHT], totals[HEIGHT];
    UNROLL
    for (int i = 0; i < height; i++) {
        NAME(load)(1, x + i, rows + i * d->width, n);
        totals[i] = (NAME(vector)){0};
    }
    for (npy_intp first = 0; first < d->n_others; first += BLOCK) {
        npy_intp last = d->n_others - first < BLOCK ? d->n_others : first + BLOCK;
        NAME(vector) sums[HEIGHT];
        UNROLL
        for (int i = 0; i < height; i++) {
            sums[i] = (NAME(vector)){0};
        }
        for (npy_intp j = first; j < last; j++) {
            NAME(vector) b = ((const NAME(vector) *)panel)[j];
            UNROLL
            for (int i = 0; i < height; i++) {
                npy_intp at = i * d->to_row + j * d->to_other;
                sums[i] += NAME(weighted)(norm, weights[at], x[i] - b, norm == GS_GREATEST ? norms[at] : 0);
            }
        }
        UNROLL
        for (int i = 0; i < height; i++) {
            totals[i] += sums[i];
        }
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        NAME(store)(1, totals + i, to + i * d->width, n);
    }
}

INLINE void
NAME(add_steps_of_rows)(const gs_norm norm, const gs_distances *d, npy_intp at, const REAL *rows, npy_intp n_rows,
                        const REAL *panel, REAL *to)
{
    const REAL *weights = (const REAL *)d->weights + at;
    const REAL *norms = (const REAL *)(norm == GS_GREATEST ? d->norms : d->weights) + at;
    for (npy_intp column = 0; column < d->width; column += LANES, panel += LANES * d->n_others) {
        npy_intp n = d->width - column < LANES ? d->width - column : LANES, i = 0;
        for (; i + HEIGHT <= n_rows; i += HEIGHT) {
            NAME(add_steps_of_tile)(norm, HEIGHT, d, weights + i * d->to_row, norms + i * d->to_row,
                                    rows + i * d->width + column, panel, to + i * d->width + column, n);
        }
        for (; i < n_rows; i++) {
            NAME(add_steps_of_tile)(norm, 1, d, weights + i * d->to_row, norms + i * d->to_row,
                                    rows + i * d->width + column, panel, to + i * d->width + column, n);
        }
    }
}

TARGET static void
NAME(add_steps)(const gs_distances *d, npy_intp at, const void *rows, npy_intp n_rows, const void *panels, void *to)
{
    switch (d->norm) {
    case GS_EUCLIDEAN:
        NAME(add_steps_of_rows)(GS_EUCLIDEAN, d, at, rows, n_rows, panels, to);
        break;
    case GS_TAXICAB:
        NAME(add_steps_of_rows)(GS_TAXICAB, d, at, rows, n_rows, panels, to);
        break;
    case GS_GREATEST:
        NAME(add_steps_of_rows)(GS_GREATEST, d, at, rows, n_rows, panels, to);
        break;
    }
}

static const kernels NAME(kernels) = {PANEL, LANES, NAME(measure), NAME(add_steps)};

#undef PANEL
#undef CHOOSE
