/* The loops of resampling.c; instruction_sets/each_kernel.h says what REAL, NAME and the rest are. */

/* ---- sums of rows, which begin with the first product: one element alone keeps the sign of a zero */

INLINE void
NAME(fold_vectors)(const int vectors, const REAL *weights, npy_intp taps, const REAL *from, npy_intp step, REAL *to)
{
    NAME(vector) sums[4];
    UNROLL
    for (int v = 0; v < vectors; v++) {
        sums[v] = taps > 0 ? weights[0] * ((const NAME(unaligned) *)from)[v] : (NAME(vector)){0};
    }
    for (npy_intp k = 1; k < taps; k++) {
        const NAME(unaligned) *row = (const NAME(unaligned) *)(from + k * step);
        UNROLL
        for (int v = 0; v < vectors; v++) {
            sums[v] += weights[k] * row[v];
        }
    }
    UNROLL
    for (int v = 0; v < vectors; v++) {
        ((NAME(unaligned) *)to)[v] = sums[v];
    }
}

/* Sums stay in memory: as a sum over k, compilers would round products that they fuse with additions elsewhere. */
INLINE void
NAME(fold_few)(const REAL *weights, npy_intp taps, const REAL *from, npy_intp step, npy_intp n, REAL *restrict to)
{
    for (npy_intp i = 0; i < n; i++) {
        to[i] = taps > 0 ? weights[0] * from[i] : 0;
    }
    for (npy_intp k = 1; k < taps; k++) {
        for (npy_intp i = 0; i < n; i++) {
            to[i] += weights[k] * from[k * step + i];
        }
    }
}

/* to[i] = sum over k of weights[k] * from[k * step + i], for n elements */
INLINE void
NAME(fold)(const REAL *weights, npy_intp taps, const REAL *from, npy_intp step, npy_intp n, REAL *to)
{
    npy_intp i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        NAME(fold_vectors)(4, weights, taps, from + i, step, to + i);
    }
    for (; i + LANES <= n; i += LANES) {
        NAME(fold_vectors)(1, weights, taps, from + i, step, to + i);
    }
    if (i < n && n >= LANES) { /* the last vector once more, from further left */
        NAME(fold_vectors)(1, weights, taps, from + n - LANES, step, to + n - LANES);
    } else if (i < n) {
        NAME(fold_few)(weights, taps, from, step, n, to);
    }
}

/* Some places along dimension d, from elements or rows of n numbers; `from` begins with the one of number `begin`. */
INLINE void
NAME(fold_places)(const gs_resampling *r, int d, npy_intp first, npy_intp last, const REAL *from, npy_intp begin,
                  npy_intp n, REAL *to)
{
    for (npy_intp i = first; i < last; i++) {
        const npy_intp *span = r->spans[d] + 2 * i;
        const REAL *weights = (const REAL *)r->weights[d] + i * r->most[d];
        NAME(fold)(weights, span[1] - span[0], from + (span[0] - begin) * n, n, n, to);
        to += n;
    }
}

/* ---- turning squares of LANES x LANES elements */

#if defined(__GNUC__) && !defined(__clang__)
/* Exchanges the upper right and lower left quarters of every square of 2 * step lanes. */
INLINE void
NAME(exchange)(const int step, NAME(vector) *rows)
{
    NAME(mask) first, second;
    UNROLL
    for (int i = 0; i < LANES; i++) {
        first[i] = i & step ? LANES + i - step : i;
        second[i] = i & step ? LANES + i : i + step;
    }
    UNROLL
    for (int i = 0; i < LANES; i++) {
        if (!(i & step)) {
            NAME(vector) upper = rows[i], lower = rows[i + step];
            rows[i] = __builtin_shuffle(upper, lower, first);
            rows[i + step] = __builtin_shuffle(upper, lower, second);
        }
    }
}

/* The square whose rows are from_step apart, as one whose rows are to_step apart; of each only some rows are there. */
INLINE void
NAME(turn_square)(const REAL *from, npy_intp from_step, npy_intp n_from, REAL *to, npy_intp to_step, npy_intp n_to)
{
    NAME(vector) rows[LANES];
    UNROLL
    for (int i = 0; i < LANES; i++) {
        rows[i] = i < n_from ? *(const NAME(unaligned) *)(from + i * from_step) : (NAME(vector)){0};
    }
    UNROLL
    for (int step = 1; step < LANES; step *= 2) {
        NAME(exchange)(step, rows);
    }
    UNROLL
    for (int i = 0; i < LANES; i++) {
        if (i < n_to) {
            *(NAME(unaligned) *)(to + i * to_step) = rows[i];
        }
    }
}
#else
INLINE void
NAME(turn_square)(const REAL *from, npy_intp from_step, npy_intp n_from, REAL *to, npy_intp to_step, npy_intp n_to)
{
    for (npy_intp i = 0; i < n_to; i++) {
        for (npy_intp j = 0; j < LANES; j++) {
            to[i * to_step + j] = j < n_from ? from[j * from_step + i] : 0;
        }
    }
}
#endif

/* [row][column] to [column][row] */
TARGET static void
NAME(turn)(const REAL *from, npy_intp n_rows, npy_intp n_columns, REAL *to)
{
    npy_intp i = 0;
    for (; i + LANES <= n_columns; i += LANES) {
        NAME(turn_square)(from + i, n_columns, n_rows, to + i * LANES, LANES, LANES);
    }
    for (; i < n_columns; i++) {
        for (npy_intp row = 0; row < LANES; row++) {
            to[i * LANES + row] = row < n_rows ? from[row * n_columns + i] : 0;
        }
    }
}

TARGET static void
NAME(turn_back)(const REAL *from, npy_intp n_rows, npy_intp n_columns, REAL *to)
{
    npy_intp i = 0;
    for (; i + LANES <= n_columns; i += LANES) {
        NAME(turn_square)(from + i * LANES, LANES, LANES, to + i, n_columns, n_rows);
    }
    for (; i < n_columns; i++) {
        for (npy_intp row = 0; row < n_rows; row++) {
            to[row * n_columns + i] = from[i * LANES + row];
        }
    }
}

/* ---- both passes over some rows */

static int
NAME(keeps_order)(const gs_resampling *r)
{
    return r->inner >= 2 * LANES || r->inner % LANES == 0;
}

/* `turned` has memory for LANES rows before, and LANES after. */
TARGET static void
NAME(go_across)(const gs_resampling *r, const REAL *from, npy_intp n_rows, REAL *turned, REAL *to)
{
    npy_intp n = r->inner, before = r->from[1] * n, after = r->to[1] * n;
    if (NAME(keeps_order)(r)) {
        for (npy_intp row = 0; row < n_rows; row++) {
            NAME(fold_places)(r, 1, 0, r->to[1], from + row * before, 0, n, to + row * after);
        }
        return;
    }
    REAL *folded = turned + before * LANES;
    for (npy_intp row = 0; row < n_rows; row += LANES) {
        npy_intp here = smaller(LANES, n_rows - row);
        NAME(turn)(from + row * before, here, before, turned);
        if (n == 1) {
            NAME(fold_places)(r, 1, 0, r->to[1], turned, 0, LANES, folded);
        } else {
            NAME(fold_places)(r, 1, 0, r->to[1], turned, 0, n * LANES, folded);
        }
        NAME(turn_back)(folded, here, after, to + row * after);
    }
}

TARGET static void
NAME(go_down)(const gs_resampling *r, npy_intp first, npy_intp last, const REAL *from, npy_intp begin, npy_intp columns,
              REAL *to)
{
    NAME(fold_places)(r, 0, first, last, from, begin, columns * r->inner, to);
}

/* Rows of a result; `rows` has memory for those between the passes. */
static void
NAME(resize_rows)(const gs_resampling *r, npy_intp first, npy_intp last, const REAL *image, REAL *to, REAL *turned,
                  REAL *rows)
{
    npy_intp before = r->from[1] * r->inner, after = r->to[1] * r->inner, low, high;
    if (r->spans[1] == NULL && r->spans[0] == NULL) {
        memcpy(to, image + first * before, sizeof(REAL) * (size_t)((last - first) * before));
    } else if (r->spans[1] == NULL) {
        NAME(go_down)(r, first, last, image, 0, r->from[1], to);
    } else if (r->spans[0] == NULL) {
        NAME(go_across)(r, image + first * before, last - first, turned, to);
    } else if (goes_down_first(r)) {
        for (npy_intp row = first; row < last; row += LANES) {
            npy_intp end = smaller(last, row + LANES);
            NAME(go_down)(r, row, end, image, 0, r->from[1], rows);
            NAME(go_across)(r, rows, end - row, turned, to + (row - first) * after);
        }
    } else {
        rows_seen(r, first, last, &low, &high);
        NAME(go_across)(r, image + low * before, high - low, turned, rows);
        NAME(go_down)(r, first, last, rows, low, r->to[1], to);
    }
}

/* Elements that lie between the passes, at most. */
static npy_intp
NAME(rows_between)(const gs_resampling *r)
{
    npy_intp most = 0, low, high;
    if (r->spans[0] == NULL || r->spans[1] == NULL) {
        return 0;
    }
    if (goes_down_first(r)) {
        return LANES * r->from[1] * r->inner;
    }
    for (npy_intp first = 0; first < r->to[0]; first += BAND) {
        rows_seen(r, first, smaller(r->to[0], first + BAND), &low, &high);
        most = larger(most, high - low);
    }
    return most * r->to[1] * r->inner;
}

static void
NAME(resize_some)(void *context, npy_intp first, npy_intp last)
{
    resizing *job = context;
    const gs_resampling *r = job->r;
    npy_intp turned = NAME(keeps_order)(r) ? 0 : LANES * (r->from[1] + r->to[1]) * r->inner;
    REAL *scratch = malloc(sizeof(REAL) * (size_t)(turned + NAME(rows_between)(r) + 1));
    if (scratch == NULL) {
        job->is_out_of_memory = 1;
        return;
    }
    for (npy_intp item = first; item < last; item++) {
        npy_intp image = item / job->bands, row = item % job->bands * BAND;
        const REAL *from = (const REAL *)job->image + image * r->from[0] * r->from[1] * r->inner;
        REAL *to = (REAL *)job->result + (image * r->to[0] + row) * r->to[1] * r->inner;
        NAME(resize_rows)(r, row, smaller(r->to[0], row + BAND), from, to, scratch, scratch + turned);
    }
    free(scratch);
}

static const gs_task NAME(resize_bands) = NAME(resize_some);
