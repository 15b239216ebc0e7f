/* The text for one type of what softmax and the losses of classes do with a row: REAL is the type, NAME(x) adds its suffix.
 *
 * Note [Rows in lanes]
 *
 * Compilers make vectors of loops whose length they know.  So a row is gone over 32 elements at a time, in as many lanes,
 * which are put together at the end; and when fewer are left than 32, the last 32 are gone over, of which those that have
 * had their turn count for nothing.  A row of few elements, less than 32, is taken for one of `width` elements, 8, 16 or
 * 32: what lies behind it, the beginning of the next row, counts for nothing.
 */
#define LANES 32

/* ---- lanes, of which the first `width` count; it is a constant wherever these are called */

#define FOLD(half, better)                                                          \
    if (width > half) {                                                             \
        GS_VECTOR                                                                   \
        for (int k = 0; k < half; k++) {                                            \
            lanes[k] = better(lanes[k], lanes[k + half]);                           \
        }                                                                           \
    }
#define FOLD_ALL(better) FOLD(16, better) FOLD(8, better) FOLD(4, better) FOLD(2, better) FOLD(1, better)
#define LARGER(x, y) ((y) > (x) ? (y) : (x))
#define ADDED(x, y) ((x) + (y))

GS_INLINE REAL
NAME(largest_lane)(REAL *lanes, int width)
{
    FOLD_ALL(LARGER)
    return lanes[0];
}

GS_INLINE REAL
NAME(sum_of_lanes)(REAL *lanes, int width)
{
    FOLD_ALL(ADDED)
    return lanes[0];
}

#undef FOLD
#undef FOLD_ALL
#undef LARGER
#undef ADDED

/* ---- rows of few elements */

/* The width of rows of n elements, 0 where they are not few. */
static inline int
NAME(width_of)(npy_intp n)
{
    return n <= 8 ? 8 : n <= 16 ? 16 : n < LANES ? LANES : 0;
}

/* NaN is not looked for: it comes back through the exponentials. */
GS_INLINE REAL
NAME(largest_of_few)(const REAL *x, npy_intp n, int width)
{
    REAL lanes[LANES];
    GS_VECTOR
    for (int k = 0; k < width; k++) {
        lanes[k] = k < n ? x[k] : x[0];
    }
    return NAME(largest_lane)(lanes, width);
}

/* The sum of exp(x - shift); the exponentials go to `out`, zeros behind them. */
GS_INLINE REAL
NAME(exponentials_of_few)(const REAL *x, REAL shift, REAL *out, npy_intp n, int width)
{
    REAL lanes[LANES];
    GS_VECTOR
    for (int k = 0; k < width; k++) {
        REAL e = NAME(gs_exp)(x[k] - shift);
        lanes[k] = out[k] = k < n ? e : 0;
    }
    return NAME(sum_of_lanes)(lanes, width);
}

/* ---- rows of many elements */

/* Where the block that begins with element i is read, so that it ends with the row. */
GS_INLINE npy_intp
NAME(block_at)(npy_intp i, npy_intp n)
{
    return i + LANES <= n ? i : n - LANES;
}

GS_INLINE void
NAME(keep_larger)(const REAL *block, REAL *lanes)
{
    for (int k = 0; k < LANES; k++) {
        lanes[k] = block[k] > lanes[k] ? block[k] : lanes[k];
    }
}

GS_INLINE REAL
NAME(largest_of_many)(const REAL *x, npy_intp n)
{
    REAL lanes[LANES];
    memcpy(lanes, x, sizeof(lanes));
    for (npy_intp i = LANES; i + LANES <= n; i += LANES) {
        NAME(keep_larger)(x + i, lanes);
    }
    NAME(keep_larger)(x + n - LANES, lanes);
    return NAME(largest_lane)(lanes, LANES);
}

/* One block of a sum of exp(x - shift), but for its first `had` elements. */
GS_INLINE void
NAME(add_exponentials_of_block)(const REAL *x, REAL shift, REAL *out, int had, REAL *lanes)
{
    GS_IVDEP
    for (int k = 0; k < LANES; k++) {
        REAL e = NAME(gs_exp)(x[k] - shift);
        lanes[k] += k < had ? 0 : e;
        if (out != NULL) {
            out[k] = e;
        }
    }
}

/* The sum of exp(x - shift), tile by tile in double; the exponentials go to `out` when it is not NULL. */
GS_INLINE double
NAME(exponentials_of_many)(const REAL *x, REAL shift, REAL *out, npy_intp n)
{
    double sum = 0;
    for (npy_intp i = 0; i < n;) {
        REAL lanes[LANES] = {0};
        npy_intp last = i + TILE < n ? i + TILE : n;
        for (; i + LANES <= last; i += LANES) {
            NAME(add_exponentials_of_block)(x + i, shift, out == NULL ? NULL : out + i, 0, lanes);
        }
        if (i < last) {
            npy_intp at = last - LANES;
            NAME(add_exponentials_of_block)(x + at, shift, out == NULL ? NULL : out + at, (int)(i - at), lanes);
            i = last;
        }
        sum += (double)NAME(sum_of_lanes)(lanes, LANES);
    }
    return sum;
}

/* ---- infinities */

/* An infinite maximum must not be subtracted: the difference would be NaN where the answer is infinite. */
static inline REAL
NAME(finite_shift)(REAL largest)
{
    return largest == -(REAL)INFINITY ? 0 : largest;
}

/* The logarithm of the sum where one of the elements is infinite. */
static REAL
NAME(infinity_unless_nan)(const REAL *x, npy_intp n, npy_intp step)
{
    REAL answer = (REAL)INFINITY;
    for (npy_intp i = 0; i < n; i++) {
        answer = isnan(x[i * step]) ? x[i * step] : answer;
    }
    return answer;
}

/* ---- logarithms of sums of exponentials, of at most ROWS rows at once: so the logarithms are vectors too */

#define ROWS 32

/* Sums of exp(x - shift), and the shifts: the largest element, which is finite or +infinity. */
GS_INLINE void
NAME(sums_of_short_rows)(const REAL *x, npy_intp n, npy_intp rows, int width, REAL *shifts, REAL *sums)
{
    REAL copy[LANES] = {0}, e[LANES];
    for (npy_intp row = 0; row < rows; row++) {
        const REAL *at = x + row * n;
        if ((rows - row) * n < width) { /* nothing lies behind it */
            memcpy(copy, at, sizeof(REAL) * (size_t)n);
            at = copy;
        }
        REAL shift = NAME(finite_shift)(NAME(largest_of_few)(at, n, width));
        sums[row] = NAME(exponentials_of_few)(at, shift, e, n, width);
        shifts[row] = shift;
    }
}

GS_INLINE void
NAME(sums_of_long_rows)(const REAL *x, npy_intp n, npy_intp rows, REAL *shifts, REAL *sums)
{
    for (npy_intp row = 0; row < rows; row++) {
        shifts[row] = NAME(finite_shift)(NAME(largest_of_many)(x + row * n, n));
        sums[row] = (REAL)NAME(exponentials_of_many)(x + row * n, shifts[row], NULL, n);
    }
}

GS_CLONES static void
NAME(log_sums_of_rows)(const REAL *x, npy_intp n, npy_intp rows, REAL *shifts, REAL *log_sums)
{
    switch (NAME(width_of)(n)) {
    case 8:
        NAME(sums_of_short_rows)(x, n, rows, 8, shifts, log_sums);
        break;
    case 16:
        NAME(sums_of_short_rows)(x, n, rows, 16, shifts, log_sums);
        break;
    case LANES:
        NAME(sums_of_short_rows)(x, n, rows, LANES, shifts, log_sums);
        break;
    default:
        NAME(sums_of_long_rows)(x, n, rows, shifts, log_sums);
    }
    GS_IVDEP
    for (npy_intp row = 0; row < rows; row++) {
        log_sums[row] = LIBM(gs_log)(log_sums[row]);
    }
}

/* How many rows are worked on at once: long ones are not to leave the cache before they are read again. */
static inline npy_intp
NAME(rows_at_once)(npy_intp n, npy_intp left)
{
    npy_intp rows = n <= 256 ? ROWS : 1;
    return rows < left ? rows : left;
}

static void
NAME(logsumexp_of_rows)(const REAL *x, npy_intp n, npy_intp rows, REAL *out)
{
    REAL shifts[ROWS], log_sums[ROWS];
    for (npy_intp row = 0, count; row < rows; row += count) {
        count = NAME(rows_at_once)(n, rows - row);
        NAME(log_sums_of_rows)(x + row * n, n, count, shifts, log_sums);
        for (npy_intp k = 0; k < count; k++) {
            int is_infinite = shifts[k] == (REAL)INFINITY;
            out[row + k] = is_infinite ? NAME(infinity_unless_nan)(x + (row + k) * n, n, 1) : log_sums[k] + shifts[k];
        }
    }
}
