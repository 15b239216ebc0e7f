/* The text of class_losses.c for one type: REAL is the type, NAME(x) adds its suffix, LIBM(log) is its logarithm. */

/* ---- one row */

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
        largest = lanes[0];
        for (int k = 1; k < 32; k++) {
            largest = lanes[k] > largest ? lanes[k] : largest;
        }
    }
    for (; i < n; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    return largest;
}

/* The sum of exp(x - shift) over at most a tile. */
GS_INLINE double
NAME(sum_of_exponentials)(const REAL *x, REAL shift, npy_intp n)
{
    REAL lanes[32] = {0};
    double sum = 0;
    npy_intp i = 0;
    for (; i + 32 <= n; i += 32) {
        for (int k = 0; k < 32; k++) {
            lanes[k] += NAME(gs_exp)(x[i + k] - shift);
        }
    }
    for (; i < n; i++) {
        sum += (double)NAME(gs_exp)(x[i] - shift);
    }
    for (int k = 0; k < 32; k++) {
        sum += (double)lanes[k];
    }
    return sum;
}

/* An infinite maximum must not be subtracted: the difference would be NaN where the answer is infinite. */
static inline REAL
NAME(finite_shift)(REAL largest)
{
    return largest == -(REAL)INFINITY ? 0 : largest;
}

/* The logarithm of the sum where one of the scores is infinite. */
static REAL
NAME(infinity_unless_nan)(const REAL *x, npy_intp n, npy_intp step)
{
    REAL answer = (REAL)INFINITY;
    for (npy_intp i = 0; i < n; i++) {
        answer = isnan(x[i * step]) ? x[i * step] : answer;
    }
    return answer;
}

GS_INLINE REAL
NAME(logsumexp_of_row)(const REAL *x, npy_intp n)
{
    REAL shift = NAME(finite_shift)(NAME(largest)(x, n));
    double sum = 0;
    if (shift == (REAL)INFINITY) {
        return NAME(infinity_unless_nan)(x, n, 1);
    }
    for (npy_intp i = 0; i < n; i += TILE) {
        sum += NAME(sum_of_exponentials)(x + i, shift, n - i < TILE ? n - i : TILE);
    }
    return LIBM(log)((REAL)sum) + shift;
}

/* An infinite score leaves the softmax undefined, and so the loss, whichever class is right. */
GS_INLINE REAL
NAME(loss_of)(REAL logsumexp, REAL score)
{
    return logsumexp == (REAL)INFINITY ? (REAL)NAN : logsumexp - score;
}

GS_CLONES static void
NAME(losses_of_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp n = j->c->classes;
    for (npy_intp row = first; row < last; row++) {
        const REAL *x = (const REAL *)j->x + row * n;
        npy_intp class = j->classes[row];
        REAL logsumexp = NAME(logsumexp_of_row)(x, n);
        ((REAL *)j->logsumexp)[row] = logsumexp;
        ((REAL *)j->out)[row] = class == j->c->ignored ? 0 : NAME(loss_of)(logsumexp, x[class]);
    }
}

GS_CLONES static void
NAME(backward_of_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp n = j->c->classes;
    for (npy_intp row = first; row < last; row++) {
        const REAL *x = (const REAL *)j->x + row * n;
        REAL *out = (REAL *)j->out + row * n;
        npy_intp class = j->classes[row];
        if (class == j->c->ignored) {
            memset(out, 0, sizeof(REAL) * (size_t)n);
            continue;
        }
        const REAL grad = ((const REAL *)j->grad)[row], shift = ((const REAL *)j->known)[row];
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            out[i] = grad * NAME(gs_exp)(x[i] - shift);
        }
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
                                                         : LIBM(log)((REAL)sums[k]) + shifts[k];
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
