/* The text of class_losses.c for one type: REAL is the type, NAME(x) adds its suffix, LIBM(x) adds that of the C library. */

/* An infinite score leaves the softmax undefined, and so the loss, whichever class is right. */
GS_INLINE REAL
NAME(loss_of)(REAL logsumexp, REAL score)
{
    return logsumexp == (REAL)INFINITY ? (REAL)NAN : logsumexp - score;
}

static void
NAME(losses_of_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const npy_intp n = j->c->classes;
    REAL *logsumexp = j->logsumexp, *out = j->out;
    NAME(logsumexp_of_rows)((const REAL *)j->x + first * n, n, last - first, logsumexp + first);
    for (npy_intp row = first; row < last; row++) {
        npy_intp class = j->classes[row];
        REAL loss = class == j->c->ignored ? 0 : NAME(loss_of)(logsumexp[row], ((const REAL *)j->x)[row * n + class]);
        out[row] = loss;
    }
}

/* What is written behind a short row is written again, but for the last of them. */
GS_CLONES static void
NAME(probabilities_of_row)(const REAL *x, REAL shift, REAL grad, REAL *out, npy_intp n, int is_last)
{
    npy_intp size = n < LANES && is_last ? n : LANES;
    for (npy_intp i = 0; i < n; i += LANES) {
        npy_intp at = n < LANES ? 0 : NAME(block_at)(i, n);
        GS_IVDEP
        for (npy_intp k = at; k < at + size; k++) {
            out[k] = grad * NAME(gs_exp)(x[k] - shift);
        }
    }
}

static void
NAME(backward_of_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const npy_intp n = j->c->classes;
    for (npy_intp row = first; row < last; row++) {
        const REAL *x = (const REAL *)j->x + row * n;
        REAL *out = (REAL *)j->out + row * n;
        npy_intp class = j->classes[row];
        if (class == j->c->ignored) {
            memset(out, 0, sizeof(REAL) * (size_t)n);
            continue;
        }
        const REAL grad = ((const REAL *)j->grad)[row], shift = ((const REAL *)j->known)[row];
        NAME(probabilities_of_row)(x, shift, grad, out, n, (last - row) * n < LANES);
        out[class] -= grad;
    }
}

/* ---- tiles of columns: classes are gone over with one vector of maxima and one of sums */

typedef struct {
    npy_intp at, place, width; /* of the first element in the scores, and among the classes */
} NAME(tile);

static NAME(tile)
NAME(tile_at)(const gs_classes *c, npy_intp index)
{
    npy_intp n_tiles = (c->inner + COLUMNS - 1) / COLUMNS;
    npy_intp outer = index / n_tiles, column = index % n_tiles * COLUMNS, left = c->inner - column;
    NAME(tile) tile = {outer * c->classes * c->inner + column, outer * c->inner + column, left < COLUMNS ? left : COLUMNS};
    return tile;
}

GS_CLONES static void
NAME(shifts_of_columns)(const REAL *x, npy_intp n, npy_intp step, npy_intp width, REAL *shifts)
{
    memcpy(shifts, x, sizeof(REAL) * (size_t)width);
    for (npy_intp i = 1; i < n; i++) {
        const REAL *row = x + i * step;
        for (npy_intp k = 0; k < width; k++) {
            shifts[k] = row[k] > shifts[k] ? row[k] : shifts[k];
        }
    }
    for (npy_intp k = 0; k < width; k++) {
        shifts[k] = NAME(finite_shift)(shifts[k]);
    }
}

GS_CLONES static void
NAME(add_exponentials)(const REAL *x, npy_intp n, npy_intp step, npy_intp width, const REAL *shifts, double *sums)
{
    for (npy_intp i = 0; i < n; i++) {
        const REAL *row = x + i * step;
        for (npy_intp k = 0; k < width; k++) {
            sums[k] += (double)NAME(gs_exp)(row[k] - shifts[k]);
        }
    }
}

static void
NAME(losses_of_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_classes *c = j->c;
    REAL shifts[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(tile) tile = NAME(tile_at)(c, index);
        const REAL *x = (const REAL *)j->x + tile.at;
        double sums[COLUMNS] = {0};
        NAME(shifts_of_columns)(x, c->classes, c->inner, tile.width, shifts);
        NAME(add_exponentials)(x, c->classes, c->inner, tile.width, shifts, sums);
        for (npy_intp k = 0; k < tile.width; k++) {
            npy_intp class = j->classes[tile.place + k];
            REAL logsumexp = shifts[k] == (REAL)INFINITY ? NAME(infinity_unless_nan)(x + k, c->classes, c->inner)
                                                         : LIBM(gs_log)((REAL)sums[k]) + shifts[k];
            ((REAL *)j->logsumexp)[tile.place + k] = logsumexp;
            ((REAL *)j->out)[tile.place + k] = class == c->ignored ? 0 : NAME(loss_of)(logsumexp, x[class * c->inner + k]);
        }
    }
}

GS_CLONES static void
NAME(backward_of_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_classes *c = j->c;
    REAL grads[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(tile) tile = NAME(tile_at)(c, index);
        const REAL *shifts = (const REAL *)j->known + tile.place;
        const npy_intp *classes = j->classes + tile.place;
        REAL *out = (REAL *)j->out + tile.at;
        for (npy_intp k = 0; k < tile.width; k++) {
            grads[k] = classes[k] == c->ignored ? 0 : ((const REAL *)j->grad)[tile.place + k];
        }
        for (npy_intp i = 0; i < c->classes; i++) {
            const REAL *row = (const REAL *)j->x + tile.at + i * c->inner;
            REAL *to = out + i * c->inner;
            GS_IVDEP
            for (npy_intp k = 0; k < tile.width; k++) {
                to[k] = grads[k] * NAME(gs_exp)(row[k] - shifts[k]);
            }
        }
        for (npy_intp k = 0; k < tile.width; k++) {
            if (classes[k] != c->ignored) {
                out[classes[k] * c->inner + k] -= grads[k];
            }
        }
    }
}
