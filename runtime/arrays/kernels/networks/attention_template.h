/* The text of attention.c for one type: REAL is the type, NAME(x) adds its suffix, LIBM(log) is its logarithm. */

/* ---- copies into tiles and out of them */

/* Rows of up to SIDE columns; the rest of `width` columns is zero. */
GS_CLONES static void
NAME(copy_rows)(const REAL *from, npy_intp step, npy_intp rows, npy_intp columns, npy_intp width, REAL *tile)
{
    for (npy_intp i = 0; i < rows; i++) {
        const REAL *row = from + i * step;
        REAL *to = tile + i * SIDE;
        npy_intp k = 0;
        for (; k + 16 <= columns; k += 16) { /* a copy of a constant size is no call */
            memcpy(to + k, row + k, sizeof(REAL) * 16);
        }
        for (; k < columns; k++) {
            to[k] = row[k];
        }
        for (; k < width; k++) {
            to[k] = 0;
        }
    }
}

/* tile [column][row] = factor * from [row][column], with zeros for rows up to `width`. */
GS_CLONES static void
NAME(transpose_rows)(const REAL *from, npy_intp rows, npy_intp columns, npy_intp width, REAL factor, REAL *tile)
{
    for (npy_intp i = 0; i < rows; i++) {
        for (npy_intp k = 0; k < columns; k++) {
            tile[k * SIDE + i] = factor * from[i * SIDE + k];
        }
    }
    for (npy_intp k = 0; k < columns && rows < width; k++) {
        memset(tile + k * SIDE + rows, 0, sizeof(REAL) * (size_t)(width - rows));
    }
}

/* out [row][column] = factors[row] * tile [row][column] */
GS_CLONES static void
NAME(write_rows)(const REAL *tile, const REAL *factors, npy_intp rows, npy_intp columns, npy_intp step, REAL *out)
{
    for (npy_intp i = 0; i < rows; i++) {
        GS_IVDEP
        for (npy_intp k = 0; k < columns; k++) {
            out[i * step + k] = factors[i] * tile[i * SIDE + k];
        }
    }
}

/* ---- places */

static inline npy_intp
NAME(part_of)(npy_intp whole, npy_intp block)
{
    return smaller(SIDE, whole - block * SIDE);
}

static inline npy_intp
NAME(up_to_lanes)(const job *j, npy_intp n)
{
    return ceil_div(n, j->kernels->lanes) * j->kernels->lanes;
}

/* A block of queries of a head, and the tile of keys that it meets. */
typedef struct {
    npy_intp head, first, n, lanes; /* lanes: as many queries as vectors have places for */
    npy_intp first_key, n_keys;
} NAME(meeting);

static NAME(meeting)
NAME(block_at)(const job *j, npy_intp head, npy_intp block)
{
    NAME(meeting) m = {.head = head, .first = block * SIDE, .n = NAME(part_of)(j->a->queries, block)};
    m.lanes = NAME(up_to_lanes)(j, m.n);
    return m;
}

/* Tiles of keys that some query of the block may see. */
static npy_intp
NAME(visible_blocks)(const job *j, const NAME(meeting) *m)
{
    return j->a->is_causal ? smaller(j->key_blocks, ceil_div(m->first + m->n, SIDE)) : j->key_blocks;
}

static void
NAME(copy_tiles)(const job *j, const void *from, npy_intp at, npy_intp step, npy_intp width, npy_intp first, npy_intp n,
                 REAL *tiles)
{
    for (npy_intp c = 0; c * SIDE < width; c++) {
        npy_intp columns = NAME(part_of)(width, c);
        NAME(copy_rows)((const REAL *)from + at + first * step + c * SIDE, step, n, columns,
                        NAME(up_to_lanes)(j, columns), tiles + c * TILE);
    }
}

static void
NAME(transpose_tiles)(const NAME(meeting) *m, const REAL *tiles, npy_intp width, REAL factor, REAL *transposed)
{
    for (npy_intp c = 0; c * SIDE < width; c++) {
        NAME(transpose_rows)(tiles + c * TILE, m->n, NAME(part_of)(width, c), m->lanes, factor, transposed + c * TILE);
    }
}

/* [key][query] = the sum over columns of keys [key][column] * queries' [column][query] */
static void
NAME(multiply_all)(const job *j, const NAME(meeting) *m, const REAL *keys, const REAL *queries, npy_intp width, REAL *to)
{
    for (npy_intp c = 0; c * SIDE < width; c++) {
        extent e = {m->n_keys, NAME(part_of)(width, c), m->lanes, c > 0};
        j->kernels->multiply(&e, keys + c * TILE, queries + c * TILE, to);
    }
    if (width == 0) {
        memset(to, 0, sizeof(REAL) * TILE);
    }
}

/* tiles [query][column] = or += the sum over keys of weights [key][query] * rows [key][column] */
static void
NAME(add_over_keys)(const job *j, const NAME(meeting) *m, const REAL *weights, const REAL *rows, npy_intp width,
                    REAL *tiles, int adds)
{
    for (npy_intp c = 0; c * SIDE < width; c++) {
        extent e = {m->n, m->n_keys, NAME(part_of)(width, c), adds};
        j->kernels->multiply_transposed(&e, weights, rows + c * TILE, tiles + c * TILE);
    }
}

/* tiles [key][column] = or += the sum over queries of weights [key][query] * rows [query][column] */
static void
NAME(add_over_queries)(const job *j, const NAME(meeting) *m, const REAL *weights, const REAL *rows, npy_intp width,
                       REAL *tiles, int adds)
{
    for (npy_intp c = 0; c * SIDE < width; c++) {
        extent e = {m->n_keys, m->n, NAME(part_of)(width, c), adds};
        j->kernels->multiply(&e, weights, rows + c * TILE, tiles + c * TILE);
    }
}

/* ---- what may be seen */

GS_CLONES static void
NAME(hide_later)(const NAME(meeting) *m, REAL *scores)
{
    for (npy_intp key = 0; key < m->n_keys; key++) {
        npy_intp hidden = smaller(m->n, m->first_key + key - m->first);
        for (npy_intp i = 0; i < hidden; i++) {
            scores[key * SIDE + i] = -(REAL)INFINITY;
        }
    }
}

static void
NAME(apply_mask)(const job *j, const NAME(meeting) *m, REAL *scores)
{
    const gs_attention *a = j->a;
    npy_intp at = a->mask_at[m->head] + m->first * a->mask_row + m->first_key * a->mask_column;
    for (npy_intp key = 0; key < m->n_keys; key++) {
        REAL *row = scores + key * SIDE;
        if (a->mask_type == NPY_BOOL) {
            const npy_bool *seen = (const npy_bool *)j->mask + at + key * a->mask_column;
            for (npy_intp i = 0; i < m->n; i++) {
                row[i] = seen[i * a->mask_row] ? row[i] : -(REAL)INFINITY;
            }
        } else {
            const REAL *terms = (const REAL *)j->mask + at + key * a->mask_column;
            for (npy_intp i = 0; i < m->n; i++) {
                row[i] += terms[i * a->mask_row];
            }
        }
    }
}

/* Scaled products of keys and queries; queries come transposed, and scaled. */
static void
NAME(score)(const job *j, const NAME(meeting) *m, const REAL *keys, const REAL *queries, REAL *scores)
{
    NAME(multiply_all)(j, m, keys, queries, j->a->width, scores);
    if (j->a->mask_type >= 0) {
        NAME(apply_mask)(j, m, scores);
    }
    if (j->a->is_causal && m->first_key + m->n_keys - 1 > m->first) {
        NAME(hide_later)(m, scores);
    }
}

/* ---- forward */

/* Scores become exponentials of their distances from the greatest of the query's.  `fade` is what the sums so far are to
 * be multiplied by. */
GS_CLONES static void
NAME(soften)(REAL *scores, npy_intp keys, npy_intp lanes, REAL *greatest, REAL *sums, REAL *fade)
{
    REAL shift[SIDE], added[SIDE] = {0};
    memcpy(shift, greatest, sizeof(shift));
    for (npy_intp key = 0; key < keys; key++) {
        for (npy_intp i = 0; i < lanes; i++) {
            REAL score = scores[key * SIDE + i];
            shift[i] = score > shift[i] ? score : shift[i];
        }
    }
    for (npy_intp i = 0; i < lanes; i++) {
        REAL before = greatest[i];
        greatest[i] = shift[i];
        shift[i] = shift[i] == -(REAL)INFINITY ? 0 : shift[i];
        fade[i] = NAME(gs_exp)(before - shift[i]);
    }
    for (npy_intp key = 0; key < keys; key++) {
        REAL *row = scores + key * SIDE;
        GS_IVDEP
        for (npy_intp i = 0; i < lanes; i++) {
            REAL weight = NAME(gs_exp)(row[i] - shift[i]);
            row[i] = weight;
            added[i] += weight;
        }
    }
    for (npy_intp i = 0; i < lanes; i++) {
        sums[i] = sums[i] * fade[i] + added[i];
    }
}

GS_CLONES static void
NAME(fade_rows)(REAL *tile, const REAL *fade, npy_intp rows, npy_intp width)
{
    for (npy_intp i = 0; i < rows; i++) {
        for (npy_intp k = 0; k < width; k++) {
            tile[i * SIDE + k] *= fade[i];
        }
    }
}

static void
NAME(finish_block)(const job *j, const NAME(meeting) *m, const REAL *averages, const REAL *greatest, const REAL *sums)
{
    const gs_attention *a = j->a;
    REAL factors[SIDE], *logsumexp = (REAL *)j->logsumexp + m->head * a->queries + m->first;
    for (npy_intp i = 0; i < m->n; i++) {
        int sees_nothing = sums[i] == 0;
        factors[i] = sees_nothing ? 0 : 1 / sums[i];
        logsumexp[i] = sees_nothing ? (REAL)INFINITY : LIBM(log)(sums[i]) + greatest[i];
    }
    for (npy_intp c = 0; c < j->value_columns; c++) {
        NAME(write_rows)(averages + c * TILE, factors, m->n, NAME(part_of)(a->value_width, c), a->result_row,
                         (REAL *)j->result + a->result_at[m->head] + m->first * a->result_row + c * SIDE);
    }
}

/* The tiles in `space` are: queries transposed, keys, values, averages, scores. */
static void
NAME(attend_block)(const job *j, NAME(meeting) m, REAL *space)
{
    const gs_attention *a = j->a;
    REAL *queries = space, *keys = queries + j->columns * TILE, *values = keys + j->columns * TILE;
    REAL *averages = values + j->value_columns * TILE, *scores = averages + j->value_columns * TILE;
    REAL greatest[SIDE], sums[SIDE] = {0}, fade[SIDE];
    for (int i = 0; i < SIDE; i++) {
        greatest[i] = -(REAL)INFINITY;
    }
    NAME(copy_tiles)(j, j->query, a->query_at[m.head], a->query_row, a->width, m.first, m.n, keys);
    NAME(transpose_tiles)(&m, keys, a->width, (REAL)a->scale, queries);
    npy_intp visible = NAME(visible_blocks)(j, &m);
    for (npy_intp block = 0; block < visible; block++) {
        m.first_key = block * SIDE;
        m.n_keys = NAME(part_of)(a->keys, block);
        NAME(copy_tiles)(j, j->key, a->key_at[m.head], a->key_row, a->width, m.first_key, m.n_keys, keys);
        NAME(copy_tiles)(j, j->value, a->value_at[m.head], a->value_row, a->value_width, m.first_key, m.n_keys, values);
        NAME(score)(j, &m, keys, queries, scores);
        NAME(soften)(scores, m.n_keys, m.lanes, greatest, sums, fade);
        for (npy_intp c = 0; c < j->value_columns && block > 0; c++) {
            NAME(fade_rows)(averages + c * TILE, fade, m.n, NAME(part_of)(a->value_width, c));
        }
        NAME(add_over_keys)(j, &m, scores, values, a->value_width, averages, block > 0);
    }
    if (visible == 0) {
        memset(averages, 0, sizeof(REAL) * TILE * (size_t)j->value_columns);
    }
    NAME(finish_block)(j, &m, averages, greatest, sums);
}

static void
NAME(attend_blocks)(void *context, npy_intp first, npy_intp last)
{
    job *j = context;
    REAL *space = malloc(sizeof(REAL) * TILE * (size_t)(2 * (j->columns + j->value_columns) + 1));
    if (space == NULL) {
        j->is_out_of_memory = 1;
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        NAME(attend_block)(j, NAME(block_at)(j, i / j->blocks, i % j->blocks), space);
    }
    free(space);
}

/* ---- backward */

/* Scores become weights, and `slopes`, which are gradients of weights, gradients of scores. */
GS_CLONES static void
NAME(slopes_of_scores)(REAL *scores, REAL *slopes, npy_intp keys, npy_intp lanes, const REAL *logsumexp, const REAL *delta)
{
    for (npy_intp key = 0; key < keys; key++) {
        REAL *row = scores + key * SIDE, *slope = slopes + key * SIDE;
        GS_IVDEP
        for (npy_intp i = 0; i < lanes; i++) {
            REAL weight = NAME(gs_exp)(row[i] - logsumexp[i]);
            row[i] = weight;
            slope[i] = weight * (slope[i] - delta[i]);
        }
    }
}

/* What a block of queries has of its own in backward: tiles, and a number for each query. */
typedef struct {
    REAL *queries, *queries_t, *grads, *grads_t, *keys, *values, *sums, *scores, *slopes;
    REAL logsumexp[SIDE], delta[SIDE];
} NAME(desk);

static void
NAME(lay_out)(const job *j, REAL *space, NAME(desk) *d)
{
    REAL **of_width[] = {&d->queries, &d->queries_t, &d->keys, &d->sums};
    REAL **of_values[] = {&d->grads, &d->grads_t, &d->values};
    for (int i = 0; i < 4; i++) {
        *of_width[i] = space;
        space += j->columns * TILE;
    }
    for (int i = 0; i < 3; i++) {
        *of_values[i] = space;
        space += j->value_columns * TILE;
    }
    d->scores = space;
    d->slopes = space + TILE;
}

static void
NAME(take_up_block)(const job *j, const NAME(meeting) *m, NAME(desk) *d)
{
    const gs_attention *a = j->a;
    npy_intp at = m->head * a->queries + m->first;
    NAME(copy_tiles)(j, j->query, a->query_at[m->head], a->query_row, a->width, m->first, m->n, d->queries);
    NAME(copy_tiles)(j, j->grad, a->result_at[m->head], a->result_row, a->value_width, m->first, m->n, d->grads);
    NAME(transpose_tiles)(m, d->queries, a->width, (REAL)a->scale, d->queries_t);
    NAME(transpose_tiles)(m, d->grads, a->value_width, 1, d->grads_t);
    memset(d->logsumexp, 0, sizeof(d->logsumexp));
    memset(d->delta, 0, sizeof(d->delta));
    memcpy(d->logsumexp, (const REAL *)j->known + at, sizeof(REAL) * (size_t)m->n);
    memcpy(d->delta, (const REAL *)j->delta + at, sizeof(REAL) * (size_t)m->n);
}

/* Adds what a block of queries and a tile of keys give each other; what is the first for either is no addition. */
static void
NAME(meet)(const job *j, const NAME(meeting) *m, NAME(desk) *d, REAL *key_sums, REAL *value_sums, int is_first)
{
    const gs_attention *a = j->a;
    NAME(copy_tiles)(j, j->key, a->key_at[m->head], a->key_row, a->width, m->first_key, m->n_keys, d->keys);
    NAME(copy_tiles)(j, j->value, a->value_at[m->head], a->value_row, a->value_width, m->first_key, m->n_keys, d->values);
    NAME(score)(j, m, d->keys, d->queries_t, d->scores);
    NAME(multiply_all)(j, m, d->values, d->grads_t, a->value_width, d->slopes);
    NAME(slopes_of_scores)(d->scores, d->slopes, m->n_keys, m->lanes, d->logsumexp, d->delta);
    NAME(add_over_queries)(j, m, d->scores, d->grads, a->value_width, value_sums, !is_first);
    NAME(add_over_queries)(j, m, d->slopes, d->queries, a->width, key_sums, !is_first);
    NAME(add_over_keys)(j, m, d->slopes, d->keys, a->width, d->sums, m->first_key > 0);
}

/* Rows of the gradient of query (0), key (1) or value (2) from `first` on. */
static void
NAME(write_gradient)(const job *j, int of, npy_intp head, npy_intp first, npy_intp rows, npy_intp width, REAL factor,
                     const REAL *tiles)
{
    npy_intp step = j->a->grads_row[of];
    REAL factors[SIDE], *out = (REAL *)j->grads[of] + j->a->grads_at[of][head] + first * step;
    for (int i = 0; i < SIDE; i++) {
        factors[i] = factor;
    }
    for (npy_intp c = 0; c * SIDE < width; c++) {
        NAME(write_rows)(tiles + c * TILE, factors, rows, NAME(part_of)(width, c), step, out + c * SIDE);
    }
}

/* One part of a head: some blocks of its queries, with all keys. */
static void
NAME(go_back_in_part)(const job *j, npy_intp head, npy_intp part, NAME(desk) *d, REAL *sums)
{
    const gs_attention *a = j->a;
    npy_intp size = (j->columns + j->value_columns) * TILE, met = 0;
    npy_intp first = part * j->blocks / j->parts, last = (part + 1) * j->blocks / j->parts;
    for (npy_intp block = first; block < last; block++) {
        NAME(meeting) m = NAME(block_at)(j, head, block);
        NAME(take_up_block)(j, &m, d);
        npy_intp visible = NAME(visible_blocks)(j, &m);
        for (npy_intp key_block = 0; key_block < visible; key_block++) {
            REAL *key_sums = sums + key_block * size;
            m.first_key = key_block * SIDE;
            m.n_keys = NAME(part_of)(a->keys, key_block);
            NAME(meet)(j, &m, d, key_sums, key_sums + j->columns * TILE, key_block >= met);
        }
        if (visible == 0) {
            memset(d->sums, 0, sizeof(REAL) * TILE * (size_t)j->columns);
        }
        met = visible > met ? visible : met;
        NAME(write_gradient)(j, 0, head, m.first, m.n, a->width, (REAL)a->scale, d->sums);
    }
    memset(sums + met * size, 0, sizeof(REAL) * (size_t)((j->key_blocks - met) * size));
}

static void
NAME(write_keys)(const job *j, npy_intp head, npy_intp block, const REAL *sums)
{
    const gs_attention *a = j->a;
    npy_intp rows = NAME(part_of)(a->keys, block);
    NAME(write_gradient)(j, 1, head, block * SIDE, rows, a->width, (REAL)a->scale, sums);
    NAME(write_gradient)(j, 2, head, block * SIDE, rows, a->value_width, 1, sums + j->columns * TILE);
}

/* Whole heads, or parts of which `sums` has the gradients of keys and values. */
static void
NAME(go_back_in_parts)(void *context, npy_intp first, npy_intp last)
{
    job *j = context;
    NAME(desk) desk;
    npy_intp size = j->key_blocks * (j->columns + j->value_columns) * TILE;
    npy_intp own = (4 * j->columns + 3 * j->value_columns + 2) * TILE;
    REAL *space = malloc(sizeof(REAL) * (size_t)(own + (j->sums == NULL ? size : 0)));
    if (space == NULL) {
        j->is_out_of_memory = 1;
        return;
    }
    NAME(lay_out)(j, space, &desk);
    for (npy_intp i = first; i < last; i++) {
        REAL *sums = j->sums == NULL ? space + own : (REAL *)j->sums + i * size;
        NAME(go_back_in_part)(j, i / j->parts, i % j->parts, &desk, sums);
        for (npy_intp block = 0; block < j->key_blocks && j->sums == NULL; block++) {
            NAME(write_keys)(j, i, block, sums + block * (j->columns + j->value_columns) * TILE);
        }
    }
    free(space);
}

GS_CLONES static void
NAME(add_tiles)(REAL *sums, const REAL *more, npy_intp n)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        sums[i] += more[i];
    }
}

/* Adds up the parts of blocks of keys, and writes their gradients. */
static void
NAME(add_parts)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    npy_intp size = (j->columns + j->value_columns) * TILE;
    for (npy_intp i = first; i < last; i++) {
        npy_intp head = i / j->key_blocks, block = i % j->key_blocks;
        REAL *sums = (REAL *)j->sums + (head * j->parts * j->key_blocks + block) * size;
        for (npy_intp part = 1; part < j->parts; part++) {
            NAME(add_tiles)(sums, sums + part * j->key_blocks * size, size);
        }
        NAME(write_keys)(j, head, block, sums);
    }
}
