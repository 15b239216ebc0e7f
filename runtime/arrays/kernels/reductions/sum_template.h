/* The text of sum.c for one type: REAL is the type, NAME(x) adds its suffix, TERM(x) is what is added of an element. */

/* ---- what is summed */

typedef struct {
    const REAL *x;
    gs_terms write; /* writes elements that lie nowhere yet; NULL where they are at x */
    void *context;
    npy_intp cost; /* of an element, in additions */
} NAME(source);

GS_INLINE const REAL *
NAME(elements)(const NAME(source) *source, npy_intp first, npy_intp n, REAL *buffer)
{
    if (source->write == NULL) {
        return source->x + first;
    }
    source->write(source->context, first, n, buffer);
    return buffer;
}

/* ---- along rows */

GS_INLINE double
NAME(sum_block)(const REAL *x, npy_intp n)
{
    REAL lanes[64] = {0};
    REAL rest = 0;
    npy_intp i = 0;
    for (; i + 64 <= n; i += 64) {
        for (int k = 0; k < 64; k++) {
            lanes[k] += TERM(x[i + k]);
        }
    }
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) {
            lanes[k] += TERM(x[i + k]);
        }
    }
    for (; i < n; i++) {
        rest += TERM(x[i]);
    }
    for (int width = 32; width >= 1; width /= 2) {
        for (int k = 0; k < width; k++) {
            lanes[k] += lanes[k + width];
        }
    }
    return (double)lanes[0] + (double)rest;
}

GS_INLINE double
NAME(sum_short)(const REAL *x, npy_intp n)
{
    double sum = 0;
    for (npy_intp i = 0; i < n; i++) {
        sum += (double)TERM(x[i]);
    }
    return sum;
}

/* Lanes that stay in registers: to clear and to add 64 of them would take longer than the elements. */
GS_INLINE double
NAME(sum_middle)(const REAL *x, npy_intp n)
{
    REAL lanes[16] = {0}, rest = 0;
    npy_intp i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int k = 0; k < 16; k++) {
            lanes[k] += TERM(x[i + k]);
        }
    }
    for (; i < n; i++) {
        rest += TERM(x[i]);
    }
    for (int width = 8; width >= 1; width /= 2) {
        for (int k = 0; k < width; k++) {
            lanes[k] += lanes[k + width];
        }
    }
    return (double)lanes[0] + (double)rest;
}

GS_INLINE double
NAME(sum_row)(const REAL *x, npy_intp n)
{
    if (n <= 24) {
        return NAME(sum_short)(x, n);
    }
    if (n <= MIDDLE) {
        return NAME(sum_middle)(x, n);
    }
    double sum = 0;
    for (npy_intp first = 0; first < n; first += BLOCK) {
        sum += NAME(sum_block)(x + first, n - first < BLOCK ? n - first : BLOCK);
    }
    return sum;
}

/* The same of a row that is written when it is needed, a block at a time. */
GS_INLINE double
NAME(sum_written_row)(const NAME(source) *source, npy_intp start, npy_intp n, REAL *buffer)
{
    double sum = 0;
    for (npy_intp first = 0; first < n; first += BLOCK) {
        npy_intp here = n - first < BLOCK ? n - first : BLOCK;
        const REAL *x = NAME(elements)(source, start + first, here, buffer);
        sum += n <= BLOCK ? NAME(sum_row)(x, n) : NAME(sum_block)(x, here);
    }
    return sum;
}

typedef struct {
    NAME(source) source;
    REAL *out;
    double *parts; /* sums of parts, when a row or column is cut; else results go to out */
    npy_intp r, inner;
    npy_intp n_parts; /* per row, or per column */
    npy_intp part;    /* elements or rows in a part */
    npy_intp n_tiles;
} NAME(sum_job);

GS_CLONES static void
NAME(sum_rows)(void *context, npy_intp first, npy_intp last)
{
    const NAME(sum_job) *job = context;
    for (npy_intp row = first; row < last; row++) {
        job->out[row] = (REAL)NAME(sum_row)(job->source.x + row * job->r, job->r);
    }
}

/* Of rows that are written when they are needed: short ones together. */
GS_CLONES static void
NAME(sum_written_rows)(void *context, npy_intp first, npy_intp last)
{
    const NAME(sum_job) *job = context;
    npy_intp r = job->r, at_once = r < BLOCK ? BLOCK / r : 1;
    REAL buffer[BLOCK];
    for (npy_intp row = first; row < last; row += at_once) {
        if (r > BLOCK) {
            job->out[row] = (REAL)NAME(sum_written_row)(&job->source, row * r, r, buffer);
            continue;
        }
        npy_intp here = last - row < at_once ? last - row : at_once;
        NAME(elements)(&job->source, row * r, here * r, buffer);
        for (npy_intp i = 0; i < here; i++) {
            job->out[row + i] = (REAL)NAME(sum_row)(buffer + i * r, r);
        }
    }
}

GS_CLONES static void
NAME(sum_row_parts)(void *context, npy_intp first, npy_intp last)
{
    const NAME(sum_job) *job = context;
    REAL buffer[BLOCK];
    for (npy_intp i = first; i < last; i++) {
        npy_intp row = i / job->n_parts, start = i % job->n_parts * job->part;
        npy_intp n = job->r - start < job->part ? job->r - start : job->part;
        job->parts[i] = NAME(sum_written_row)(&job->source, row * job->r + start, n, buffer);
    }
}

static int
NAME(sum_long_rows)(NAME(source) source, REAL *out, npy_intp outer, npy_intp r)
{
    NAME(sum_job) job = {source, out, NULL, r, 1, (r + 4 * BLOCK - 1) / (4 * BLOCK), 4 * BLOCK, 1};
    job.parts = malloc(sizeof(double) * (size_t)(outer * job.n_parts));
    if (job.parts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    gs_parallel(NAME(sum_row_parts), &job, outer * job.n_parts, job.part * source.cost, 1);
    for (npy_intp row = 0; row < outer; row++) {
        double sum = 0;
        for (npy_intp k = 0; k < job.n_parts; k++) {
            sum += job.parts[row * job.n_parts + k];
        }
        out[row] = (REAL)sum;
    }
    free(job.parts);
    return 0;
}

static int
NAME(sum_along_rows)(NAME(source) source, REAL *out, npy_intp outer, npy_intp r)
{
    if (r > 8 * BLOCK) {
        return NAME(sum_long_rows)(source, out, outer, r);
    }
    NAME(sum_job) job = {source, out, NULL, r, 1, 1, r, 1};
    gs_parallel(source.write == NULL ? NAME(sum_rows) : NAME(sum_written_rows), &job, outer, r * source.cost + 8, 1);
    return 0;
}

/* ---- along columns */

/* block[j] += x[0, j] + x[1, j] + ...; four rows at a time, since every pass over `block` costs a load and a store. */
GS_INLINE void
NAME(add_to_block)(const REAL *x, npy_intp row_step, npy_intp n_rows, npy_intp n_columns, REAL *block)
{
    npy_intp i = 0;
    for (; i + 4 <= n_rows; i += 4) {
        const REAL *a = x + i * row_step, *b = a + row_step, *c = b + row_step, *d = c + row_step;
        GS_IVDEP
        for (npy_intp j = 0; j < n_columns; j++) {
            block[j] += (TERM(a[j]) + TERM(b[j])) + (TERM(c[j]) + TERM(d[j]));
        }
    }
    for (; i < n_rows; i++) {
        const REAL *a = x + i * row_step;
        GS_IVDEP
        for (npy_intp j = 0; j < n_columns; j++) {
            block[j] += TERM(a[j]);
        }
    }
}

/* sums[j] += x[0, j] + x[1, j] + ... */
GS_CLONES static void
NAME(add_rows)(const REAL *x, npy_intp row_step, npy_intp n_rows, npy_intp n_columns, double *sums)
{
    _Alignas(64) REAL block[TILE];
    for (npy_intp first = 0; first < n_rows; first += ROWS) {
        npy_intp end = first + ROWS < n_rows ? first + ROWS : n_rows;
        memset(block, 0, sizeof(REAL) * (size_t)n_columns);
        NAME(add_to_block)(x + first * row_step, row_step, end - first, n_columns, block);
        for (npy_intp j = 0; j < n_columns; j++) {
            sums[j] += (double)block[j];
        }
    }
}

/* The same of rows that are written when they are needed, some at a time: a multiple of four, so that the same are added
 * together.  They begin at element `start`; whole ones are written as one run. */
GS_CLONES static void
NAME(add_written_rows)(const NAME(source) *source, npy_intp start, npy_intp row_step, npy_intp n_rows,
                       npy_intp n_columns, double *sums)
{
    _Alignas(64) REAL block[TILE];
    _Alignas(64) REAL rows[4 * TILE];
    npy_intp at_once = n_columns == row_step ? TILE / n_columns * 4 : 4;
    for (npy_intp first = 0; first < n_rows; first += ROWS) {
        npy_intp end = first + ROWS < n_rows ? first + ROWS : n_rows;
        memset(block, 0, sizeof(REAL) * (size_t)n_columns);
        for (npy_intp i = first; i < end; i += at_once) {
            npy_intp here = end - i < at_once ? end - i : at_once;
            npy_intp runs = n_columns == row_step ? 1 : here, length = n_columns * here / runs;
            for (npy_intp k = 0; k < runs; k++) {
                NAME(elements)(source, start + (i + k) * row_step, length, rows + k * length);
            }
            NAME(add_to_block)(rows, n_columns, here, n_columns, block);
        }
        for (npy_intp j = 0; j < n_columns; j++) {
            sums[j] += (double)block[j];
        }
    }
}

/* One part of the rows of one tile of columns. */
static void
NAME(sum_tile)(const NAME(sum_job) *job, npy_intp o, npy_intp part, npy_intp tile)
{
    double sums[TILE] = {0};
    npy_intp row = part * job->part, column = tile * TILE;
    npy_intp n_rows = job->r - row < job->part ? job->r - row : job->part;
    npy_intp n_columns = job->inner - column < TILE ? job->inner - column : TILE;
    npy_intp start = (o * job->r + row) * job->inner + column;
    if (job->source.write == NULL) {
        NAME(add_rows)(job->source.x + start, job->inner, n_rows, n_columns, sums);
    } else {
        NAME(add_written_rows)(&job->source, start, job->inner, n_rows, n_columns, sums);
    }
    if (job->parts != NULL) {
        memcpy(job->parts + (o * job->n_parts + part) * job->inner + column, sums, sizeof(double) * (size_t)n_columns);
        return;
    }
    REAL *out = job->out + o * job->inner + column;
    for (npy_intp j = 0; j < n_columns; j++) {
        out[j] = (REAL)sums[j];
    }
}

static void
NAME(sum_tiles)(void *context, npy_intp first, npy_intp last)
{
    const NAME(sum_job) *job = context;
    for (npy_intp i = first; i < last; i++) {
        npy_intp tile = i % job->n_tiles, rest = i / job->n_tiles;
        NAME(sum_tile)(job, rest / job->n_parts, rest % job->n_parts, tile);
    }
}

/* A few rows of a few columns: no block is needed. */
GS_CLONES static void
NAME(sum_few_columns)(const REAL *x, REAL *out, npy_intp r, npy_intp inner)
{
    for (npy_intp j = 0; j < inner; j++) {
        out[j] = TERM(x[j]);
    }
    for (npy_intp i = 1; i < r; i++) {
        const REAL *row = x + i * inner;
        GS_IVDEP
        for (npy_intp j = 0; j < inner; j++) {
            out[j] += TERM(row[j]);
        }
    }
}

static void
NAME(add_parts)(const NAME(sum_job) *job, npy_intp outer)
{
    for (npy_intp o = 0; o < outer; o++) {
        double *parts = job->parts + o * job->n_parts * job->inner;
        for (npy_intp k = 1; k < job->n_parts; k++) {
            for (npy_intp j = 0; j < job->inner; j++) {
                parts[j] += parts[k * job->inner + j];
            }
        }
        for (npy_intp j = 0; j < job->inner; j++) {
            job->out[o * job->inner + j] = (REAL)parts[j];
        }
    }
}

static int
NAME(sum_along_columns)(NAME(source) source, REAL *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    NAME(sum_job) job = {source, out, NULL, r, inner, 1, r, (inner + TILE - 1) / TILE};
    if (r > 4 * ROWS) {
        npy_intp n_parts = r / ROWS < MOST_PARTS ? r / ROWS : MOST_PARTS;
        job.part = ((r + n_parts - 1) / n_parts + ROWS - 1) / ROWS * ROWS;
        job.n_parts = (r + job.part - 1) / job.part;
        job.parts = malloc(sizeof(double) * (size_t)(outer * job.n_parts * inner));
        if (job.parts == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    npy_intp n_columns = inner < TILE ? inner : TILE;
    npy_intp cost = source.write == NULL ? job.part * n_columns / 2 : job.part * n_columns * source.cost;
    gs_parallel(NAME(sum_tiles), &job, outer * job.n_parts * job.n_tiles, cost + 8, 1);
    if (job.parts != NULL) {
        NAME(add_parts)(&job, outer);
        free(job.parts);
    }
    return 0;
}

/* Narrow rows do not fill a vector: k of them are taken as one row of a (r / k, k * inner) array, whose column sums are
 * then summed in k groups.  The rows left over are added at the end. */
static int
NAME(sum_narrow_columns)(NAME(source) source, REAL *out, npy_intp r, npy_intp inner)
{
    REAL joined[4 * NARROW], buffer[4 * NARROW];
    double sums[NARROW] = {0};
    npy_intp k = 4 * NARROW / inner, n_joined = r / k;
    if (NAME(sum_along_columns)(source, joined, 1, n_joined, k * inner) < 0) {
        return -1;
    }
    npy_intp left_over = n_joined * k * inner;
    const REAL *x = NAME(elements)(&source, left_over, r * inner - left_over, buffer);
    for (npy_intp i = 0; i < k * inner; i++) {
        sums[i % inner] += (double)joined[i];
    }
    for (npy_intp i = 0; i < r * inner - left_over; i++) {
        sums[i % inner] += (double)TERM(x[i]);
    }
    for (npy_intp j = 0; j < inner; j++) {
        out[j] = (REAL)sums[j];
    }
    return 0;
}

static void
NAME(sum_all_few_columns)(const NAME(source) *source, REAL *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    REAL buffer[BLOCK];
    npy_intp size = r * inner, at_once = BLOCK / size;
    for (npy_intp o = 0; o < outer; o += at_once) {
        npy_intp here = outer - o < at_once ? outer - o : at_once;
        const REAL *x = NAME(elements)(source, o * size, here * size, buffer);
        for (npy_intp i = 0; i < here; i++) {
            NAME(sum_few_columns)(x + i * size, out + (o + i) * inner, r, inner);
        }
    }
}

static int
NAME(sum_of)(NAME(source) source, REAL *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    if (inner == 1) {
        return NAME(sum_along_rows)(source, out, outer, r);
    }
    if (r <= 32 && r * inner <= BLOCK) {
        NAME(sum_all_few_columns)(&source, out, outer, r, inner);
        return 0;
    }
    if (outer == 1 && inner < NARROW && r >= 32 * NARROW) {
        return NAME(sum_narrow_columns)(source, out, r, inner);
    }
    return NAME(sum_along_columns)(source, out, outer, r, inner);
}

int
NAME(gs_sum)(const REAL *x, REAL *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    NAME(source) source = {x, NULL, NULL, 1};
    return NAME(sum_of)(source, out, outer, r, inner);
}

#ifdef ADDS_PAIRS
int
NAME(gs_sum_terms)(gs_terms write, void *context, npy_intp cost, REAL *out, npy_intp outer, npy_intp r, npy_intp inner)
{
    NAME(source) source = {NULL, write, context, cost};
    return NAME(sum_of)(source, out, outer, r, inner);
}

/* ---- pairs: even lanes hold one part, odd lanes the other */

GS_INLINE void
NAME(add_pairs)(const REAL *x, npy_intp n, double *sums)
{
    REAL lanes[64] = {0};
    npy_intp i = 0;
    for (; i + 64 <= n; i += 64) {
        for (int k = 0; k < 64; k++) {
            lanes[k] += x[i + k];
        }
    }
    for (int width = 32; width >= 2; width /= 2) {
        for (int k = 0; k < width; k++) {
            lanes[k] += lanes[k + width];
        }
    }
    sums[0] += (double)lanes[0];
    sums[1] += (double)lanes[1];
    for (; i < n; i += 2) {
        sums[0] += (double)x[i];
        sums[1] += (double)x[i + 1];
    }
}

GS_CLONES static void
NAME(sum_rows_of_pairs)(void *context, npy_intp first, npy_intp last)
{
    const NAME(sum_job) *job = context;
    npy_intp n = 2 * job->r;
    for (npy_intp row = first; row < last; row++) {
        const REAL *x = job->source.x + row * n;
        double sums[2] = {0, 0};
        for (npy_intp i = 0; i < n; i += BLOCK) {
            NAME(add_pairs)(x + i, n - i < BLOCK ? n - i : BLOCK, sums);
        }
        job->out[2 * row] = (REAL)sums[0];
        job->out[2 * row + 1] = (REAL)sums[1];
    }
}

int
NAME(gs_sum_pairs)(const REAL *x, REAL *out, npy_intp outer, npy_intp r)
{
    NAME(source) source = {x, NULL, NULL, 1};
    if (outer == 1 && r >= 32 * NARROW) {
        return NAME(sum_narrow_columns)(source, out, r, 2);
    }
    NAME(sum_job) job = {source, out, NULL, r, 1, 1, r, 1};
    gs_parallel(NAME(sum_rows_of_pairs), &job, outer, 2 * r + 8, 1);
    return 0;
}
#endif
