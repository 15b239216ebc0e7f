/* The greatest elements of windows, for one type: REAL, with TAG an integer of its size, and NAME(x).  See
 * Note [Windows in two passes] in pooling.c and Note [Windows abreast] in maxima.c. */

/* ---- along columns: the rows of windows are folded into one */

GS_CLONES static void
NAME(raise_row)(const REAL *restrict row, REAL *restrict best, TAG *restrict rows, TAG number, npy_intp n)
{
    GS_IVDEP
    for (npy_intp x = 0; x < n; x++) {
        REAL value = row[x];
        int is_next = (value > best[x]) | (value != value);
        best[x] = is_next ? value : best[x];
        rows[x] = is_next ? number : rows[x];
    }
}

static void
NAME(begin_row)(const REAL *row, REAL *best, TAG *rows, TAG number, npy_intp n)
{
    memcpy(best, row, sizeof(REAL) * (size_t)n);
    for (npy_intp x = 0; x < n; x++) {
        rows[x] = number;
    }
}

/* A row of elements, each the greatest of its column in a window; `rows` are where they were, or NULL: all in `number`. */
typedef struct {
    const REAL *best;
    const TAG *rows;
    TAG number;
} NAME(folded);

/* ---- along rows, for one window */

GS_INLINE int
NAME(is_next)(REAL value, TAG row, REAL greatest, TAG row_of_greatest)
{
    int is_nan = value != value, was_nan = greatest != greatest;
    return (value > greatest) | ((value == greatest) & (row < row_of_greatest)) |
           (is_nan & (!was_nan | (row >= row_of_greatest)));
}

static void
NAME(choose)(const NAME(folded) *f, const npy_intp *span, npy_intp step, npy_intp width, REAL *maximum, npy_int64 *place)
{
    npy_intp column = span[0];
    REAL greatest = f->best[column];
    TAG row = f->rows == NULL ? f->number : f->rows[column];
    for (npy_intp x = column + step; x < span[1]; x += step) {
        REAL value = f->best[x];
        TAG row_of_value = f->rows == NULL ? f->number : f->rows[x];
        int is_next = NAME(is_next)(value, row_of_value, greatest, row);
        greatest = is_next ? value : greatest;
        row = is_next ? row_of_value : row;
        column = is_next ? x : column;
    }
    *maximum = greatest;
    *place = (npy_int64)row * width + column;
}

/* The greatest of some elements, a multiple of GS_LANES, of which there may be NaN. */
GS_CLONES static REAL
NAME(greatest_of)(const REAL *x, npy_intp n, int *has_nan)
{
    REAL greatest[GS_LANES];
    TAG is_nan[GS_LANES] = {0};
    memcpy(greatest, x, sizeof greatest);
    for (npy_intp i = 0; i < n; i += GS_LANES) {
        GS_VECTOR
        for (int lane = 0; lane < GS_LANES; lane++) {
            REAL value = x[i + lane];
            greatest[lane] = value > greatest[lane] ? value : greatest[lane];
            is_nan[lane] |= value != value;
        }
    }
    for (int lane = 0; lane < GS_LANES; lane++) {
        greatest[0] = greatest[lane] > greatest[0] ? greatest[lane] : greatest[0];
        *has_nan |= is_nan[lane] != 0;
    }
    return greatest[0];
}

/* Of the first element that equals `value`, which one does. */
GS_CLONES static npy_intp
NAME(find)(const REAL *x, REAL value)
{
    for (npy_intp i = 0;; i += GS_LANES) {
        TAG is_there = 0;
        GS_VECTOR
        for (int lane = 0; lane < GS_LANES; lane++) {
            is_there |= x[i + lane] == value;
        }
        for (int lane = 0; is_there && lane < GS_LANES; lane++) {
            if (x[i + lane] == value) {
                return i + lane;
            }
        }
    }
}

/* A long window in one row. */
static void
NAME(choose_in_row)(const NAME(folded) *f, const npy_intp *span, npy_intp width, REAL *maximum, npy_int64 *place)
{
    const REAL *x = f->best + span[0];
    npy_intp n = span[1] - span[0], whole = n - n % GS_LANES, found = -1;
    int has_nan = 0;
    REAL greatest = NAME(greatest_of)(x, whole, &has_nan);
    for (npy_intp i = whole; i < n; i++) {
        found = x[i] > greatest ? i : found;
        greatest = x[i] > greatest ? x[i] : greatest;
        has_nan |= x[i] != x[i];
    }
    if (has_nan) {
        NAME(choose)(f, span, 1, width, maximum, place);
        return;
    }
    found = found < 0 ? NAME(find)(x, greatest) : found;
    *maximum = x[found]; /* of equal zeros the first, with its sign */
    *place = (npy_int64)f->number * width + span[0] + found;
}

/* ---- along rows, for windows side by side */

typedef struct {
    REAL greatest[GS_ABREAST];
    TAG row[GS_ABREAST], offset[GS_ABREAST]; /* of the greatest element, from where its window begins */
} NAME(abreast);

/* The elements of windows that are `offset` from where each begins, `stride` after the last. */
GS_INLINE void
NAME(raise_abreast)(const NAME(folded) *f, npy_intp column, npy_intp stride, npy_intp n, TAG offset,
                    NAME(abreast) *restrict a)
{
    const REAL *best = f->best + column + offset;
    const TAG *rows = f->rows == NULL ? NULL : f->rows + column + offset;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        REAL value = best[i * stride];
        TAG row = rows == NULL ? f->number : rows[i * stride];
        int is_next = rows == NULL ? (value > a->greatest[i]) | (value != value)
                                   : NAME(is_next)(value, row, a->greatest[i], a->row[i]);
        a->greatest[i] = is_next ? value : a->greatest[i];
        a->row[i] = is_next ? row : a->row[i];
        a->offset[i] = is_next ? offset : a->offset[i];
    }
}

GS_INLINE void
NAME(choose_abreast)(const NAME(folded) *f, const npy_intp *span, npy_intp stride, npy_intp step, npy_intp width,
                     npy_intp n, REAL *restrict maxima, npy_int64 *restrict places)
{
    NAME(abreast) a;
    npy_intp column = span[0], size = span[1] - column;
    for (npy_intp i = 0; i < n; i++) {
        a.greatest[i] = f->best[column + i * stride];
        a.row[i] = f->rows == NULL ? f->number : f->rows[column + i * stride];
        a.offset[i] = 0;
    }
    for (npy_intp offset = step; offset < size; offset += step) {
        NAME(raise_abreast)(f, column, stride, n, (TAG)offset, &a);
    }
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        maxima[i] = a.greatest[i];
        places[i] = (npy_int64)a.row[i] * width + column + i * stride + a.offset[i];
    }
}

GS_INLINE void
NAME(choose_by_stride)(const NAME(folded) *f, const npy_intp *span, npy_intp stride, npy_intp step, npy_intp width,
                       npy_intp n, REAL *maxima, npy_int64 *places)
{
    switch (stride) { /* loads of known strides are shuffles of vectors */
    case 1:
        NAME(choose_abreast)(f, span, 1, step, width, n, maxima, places);
        break;
    case 2:
        NAME(choose_abreast)(f, span, 2, step, width, n, maxima, places);
        break;
    case 3:
        NAME(choose_abreast)(f, span, 3, step, width, n, maxima, places);
        break;
    default:
        NAME(choose_abreast)(f, span, stride, step, width, n, maxima, places);
    }
}

GS_CLONES static void
NAME(choose_in_one_row)(const REAL *row, TAG number, const npy_intp *span, npy_intp stride, npy_intp step, npy_intp width,
                        npy_intp n, REAL *maxima, npy_int64 *places)
{
    NAME(folded) f = {row, NULL, number};
    NAME(choose_by_stride)(&f, span, stride, step, width, n, maxima, places);
}

GS_CLONES static void
NAME(choose_in_rows)(const REAL *best, const TAG *rows, const npy_intp *span, npy_intp stride, npy_intp step,
                     npy_intp width, npy_intp n, REAL *maxima, npy_int64 *places)
{
    NAME(folded) f = {best, rows, 0};
    NAME(choose_by_stride)(&f, span, stride, step, width, n, maxima, places);
}

static void
NAME(choose_all)(const gs_windows *w, const gs_run *runs, const NAME(folded) *f, REAL *maxima, npy_int64 *places)
{
    npy_intp step = w->step[2], width = w->image[2], n;
    for (npy_intp r = 0; r < w->output[2]; r += n) {
        const npy_intp *span = w->spans[2] + 2 * r;
        n = runs->count;
        if (n == 1 && f->rows == NULL && step == 1 && span[1] - span[0] >= GS_LANES) {
            NAME(choose_in_row)(f, span, width, maxima + r, places + r);
        }
        else if (n == 1) {
            NAME(choose)(f, span, step, width, maxima + r, places + r);
        }
        else if (f->rows == NULL) {
            NAME(choose_in_one_row)(f->best, f->number, span, runs->stride, step, width, n, maxima + r, places + r);
        }
        else {
            NAME(choose_in_rows)(f->best, f->rows, span, runs->stride, step, width, n, maxima + r, places + r);
        }
        runs++;
    }
}

/* ---- images */

static void
NAME(maxima_of_image)(const gs_windows *w, const gs_run *runs, const REAL *image, REAL *maxima, npy_int64 *places,
                      REAL *best, TAG *rows)
{
    npy_intp width = w->image[2];
    for (npy_intp p = 0; p < w->output[0]; p++) {
        const npy_intp *outer = w->spans[0] + 2 * p;
        for (npy_intp q = 0; q < w->output[1]; q++, maxima += w->output[2], places += w->output[2]) {
            const npy_intp *inner = w->spans[1] + 2 * q;
            npy_intp first = outer[0] * w->image[1] + inner[0];
            if (outer[1] - outer[0] <= w->step[0] && inner[1] - inner[0] <= w->step[1]) {
                NAME(choose_all)(w, runs, &(NAME(folded)){image + first * width, NULL, (TAG)first}, maxima, places);
                continue;
            }
            NAME(begin_row)(image + first * width, best, rows, (TAG)first, width);
            for (npy_intp a = outer[0]; a < outer[1]; a += w->step[0]) {
                for (npy_intp b = inner[0]; b < inner[1]; b += w->step[1]) {
                    npy_intp row = a * w->image[1] + b;
                    if (row != first) {
                        NAME(raise_row)(image + row * width, best, rows, (TAG)row, width);
                    }
                }
            }
            NAME(choose_all)(w, runs, &(NAME(folded)){best, rows, 0}, maxima, places);
        }
    }
}

static void
NAME(maxima_of_images)(void *context, npy_intp first, npy_intp last)
{
    searching *job = context;
    const gs_windows *w = job->windows;
    npy_intp n_image = gs_volume(w->image), n_output = gs_volume(w->output);
    REAL *best = malloc(sizeof(REAL) * (size_t)(w->image[2] + 1));
    TAG *rows = malloc(sizeof(TAG) * (size_t)(w->image[2] + 1));
    if (best == NULL || rows == NULL) {
        job->is_out_of_memory = 1;
        last = first;
    }
    for (npy_intp i = first; i < last; i++) {
        NAME(maxima_of_image)(w, job->runs, (const REAL *)job->from + i * n_image, (REAL *)job->to + i * n_output,
                              job->places + i * n_output, best, rows);
    }
    free(rows);
    free(best);
}
