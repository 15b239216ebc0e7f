/* The text of gemm.c for one type: REAL, LANES of it in 64 bytes, NAME(x) adds the type's suffix, and SHUFFLES lists the
 * steps of a transposition. */

typedef REAL NAME(vector) __attribute__((vector_size(64)));
typedef REAL NAME(unaligned) __attribute__((vector_size(64), aligned(sizeof(REAL))));

#define WIDTH (2 * LANES) /* columns of a panel of b */

/* ---- transposing LANES x LANES elements */

/* Exchanges the upper right and lower left quarters of every square of 2 * step lanes: log2(LANES) times, this transposes.
 * The indices choose the first of each pair of rows; those of the second are larger by step. */
#define EXCHANGE(step, ...) NAME(exchange)(rows, step, (NAME(index)){__VA_ARGS__});

#if defined(__clang__)
/* clang shuffles by constant arguments only, so it gets the portable form and vectorises that. */
#define NAME_SHUFFLE(a, b, indices) NAME(select_lanes)(a, b, indices)
#else
#define NAME_SHUFFLE(a, b, indices) __builtin_shuffle(a, b, indices)
#endif

#if LANES == 16
typedef int32_t NAME(index) __attribute__((vector_size(64)));
#else
typedef int64_t NAME(index) __attribute__((vector_size(64)));
#endif

#if defined(__clang__)
INLINE_AVX512 NAME(vector)
NAME(select_lanes)(NAME(vector) a, NAME(vector) b, NAME(index) indices)
{
    NAME(vector) result;
    UNROLL
    for (int i = 0; i < LANES; i++) {
        result[i] = indices[i] < LANES ? a[indices[i]] : b[indices[i] - LANES];
    }
    return result;
}
#endif

INLINE_AVX512 void
NAME(exchange)(NAME(vector) *rows, int step, NAME(index) first)
{
    UNROLL
    for (int i = 0; i < LANES; i++) {
        if (i & step) {
            continue;
        }
        NAME(vector) upper = rows[i], lower = rows[i + step];
        rows[i] = NAME_SHUFFLE(upper, lower, first);
        rows[i + step] = NAME_SHUFFLE(upper, lower, first + step);
    }
}

INLINE_AVX512 void
NAME(transpose)(NAME(vector) *rows)
{
    SHUFFLES
}

/* ---- packing
 *
 * A panel is [k][slot]: slot is a row of a, or a column of b.  In the source, slots are `slot_step` apart and k is
 * `k_step` apart; one of the two is 1. */

INLINE_AVX512 void
NAME(pack_transposing)(const REAL *from, npy_intp slot_step, npy_intp n_slots, npy_intp n_k, npy_intp width, REAL *to)
{
    for (npy_intp slot = 0; slot < width; slot += LANES) {
        npy_intp here = n_slots - slot, stored = width - slot < LANES ? width - slot : LANES;
        npy_intp k = 0;
        for (; k + LANES <= n_k; k += LANES) {
            NAME(vector) rows[LANES];
            UNROLL
            for (int i = 0; i < LANES; i++) {
                rows[i] = i < here ? *(const NAME(unaligned) *)(from + (slot + i) * slot_step + k) : (NAME(vector)){0};
            }
            NAME(transpose)(rows);
            if (stored == LANES) {
                UNROLL
                for (int i = 0; i < LANES; i++) {
                    *(NAME(unaligned) *)(to + (k + i) * width + slot) = rows[i];
                }
            } else {
                for (int i = 0; i < LANES; i++) {
                    memcpy(to + (k + i) * width + slot, &rows[i], sizeof(REAL) * (size_t)stored);
                }
            }
        }
        for (; k < n_k; k++) {
            for (npy_intp i = 0; i < stored; i++) {
                to[k * width + slot + i] = i < here ? from[(slot + i) * slot_step + k] : 0;
            }
        }
    }
}

INLINE_AVX512 void
NAME(pack_copying)(const REAL *from, npy_intp k_step, npy_intp n_slots, npy_intp n_k, npy_intp width, REAL *to)
{
    for (npy_intp k = 0; k < n_k; k++) {
        for (npy_intp i = 0; i < n_slots; i++) {
            to[k * width + i] = from[k * k_step + i];
        }
        for (npy_intp i = n_slots; i < width; i++) {
            to[k * width + i] = 0;
        }
    }
}

AVX512 static void
NAME(pack_panel)(const REAL *from, npy_intp slot_step, npy_intp k_step, npy_intp n_slots, npy_intp n_k, npy_intp width,
                 REAL *to)
{
    n_slots = n_slots < width ? n_slots : width;
    if (slot_step != 1) {
        NAME(pack_transposing)(from, slot_step, n_slots, n_k, width, to);
    } else if (n_slots == WIDTH && width == WIDTH) {
        for (npy_intp k = 0; k < n_k; k++) {
            const NAME(unaligned) *row = (const NAME(unaligned) *)(from + k * k_step);
            ((NAME(unaligned) *)(to + k * WIDTH))[0] = row[0];
            ((NAME(unaligned) *)(to + k * WIDTH))[1] = row[1];
        }
    } else {
        NAME(pack_copying)(from, k_step, n_slots, n_k, width, to);
    }
}

/* Whole panels of b at once, whose columns lie side by side: what is read of a row of b is so long that the distance to the
 * next row, and to the next page, matters less. */
AVX512 static void
NAME(pack_together)(const REAL *from, npy_intp k_step, npy_intp n_k, REAL *to)
{
    for (npy_intp k = 0; k < n_k; k++, from += k_step) {
        const NAME(unaligned) *row = (const NAME(unaligned) *)from;
        UNROLL
        for (int i = 0; i < TOGETHER; i++) {
            NAME(unaligned) *panel = (NAME(unaligned) *)(to + (i * n_k + k) * WIDTH);
            panel[0] = row[2 * i];
            panel[1] = row[2 * i + 1];
        }
    }
}

static void
NAME(pack_a)(const block *b, npy_intp panel)
{
    const gs_gemm_job *job = &b->job;
    npy_intp row = panel * b->height;
    const REAL *a = (const REAL *)job->a + (b->first_row + row) * job->a_row + b->first_k * job->a_column;
    NAME(pack_panel)(a, job->a_row, job->a_column, b->n_rows - row, b->n_k, b->height, (REAL *)b->packed_a + row * b->n_k);
}

static const REAL *
NAME(columns_of_b)(const block *b, npy_intp column)
{
    const gs_gemm_job *job = &b->job;
    return (const REAL *)job->b + (column) * job->b_column + b->first_k * job->b_row;
}

static void
NAME(pack_rows)(void *context, npy_intp first, npy_intp last)
{
    for (npy_intp panel = first; panel < last; panel++) {
        NAME(pack_a)(context, panel);
    }
}

/* Those panels of a chunk of b that are not read as they lie. */
static void
NAME(pack_chunk)(const block *b, npy_intp chunk, REAL *to)
{
    const gs_gemm_job *job = &b->job;
    npy_intp first = chunk * TOGETHER, end = first + TOGETHER < b->b_panels ? first + TOGETHER : b->b_panels;
    if (first >= b->b_as_it_lies && job->b_column == 1 && b->job.n >= (first + TOGETHER) * WIDTH) {
        NAME(pack_together)(NAME(columns_of_b)(b, first * WIDTH), job->b_row, b->n_k, to);
        return;
    }
    for (npy_intp panel = first; panel < end; panel++) {
        if (panel >= b->b_as_it_lies) {
            NAME(pack_panel)(NAME(columns_of_b)(b, panel * WIDTH), job->b_column, job->b_row, b->job.n - panel * WIDTH,
                             b->n_k, WIDTH, to + (panel - first) * WIDTH * b->n_k);
        }
    }
}

/* ---- the kernel: panel of a times panel of b */

/* Stores the sums of a panel at the edge, whose padding has no place in c. */
AVX512 static void
NAME(store_edge)(const REAL *sums, REAL *c, npy_intp c_row, npy_intp n_rows, npy_intp n_columns, write_mode mode)
{
    for (npy_intp i = 0; i < n_rows; i++) {
        for (npy_intp k = 0; k < n_columns; k++) {
            REAL sum = sums[i * WIDTH + k], *to = c + i * c_row + k;
            *to = mode == ADD ? *to + sum : mode == SUBTRACT ? *to - sum : sum;
        }
    }
}

/* Where elements of a lie: of the rows of a panel at one k, and of one k after the other.  One of the two distances is 1;
 * in a packed panel, as in a transposed operand, it is that of rows. */
typedef struct {
    const REAL *first;
    npy_intp row, k;
} NAME(left_panel);

/* The columns of b that belong to a panel, side by side, and the distance from one k to the next. */
typedef struct {
    const REAL *first;
    npy_intp k;
} NAME(right_panel);

/* Sums over k into registers.  `by_rows`: rows of a are apart, and lie along k; four of them, with distances of which
 * three are kept, have one pointer, since fourteen would not fit into registers. */
INLINE_AVX512 void
NAME(sum_products)(const int height, const int by_rows, NAME(left_panel) a, NAME(right_panel) b, npy_intp n_k,
                   NAME(vector) (*sums)[2])
{
    const REAL *rows[(MOST_ROWS + 3) / 4];
    npy_intp apart[4] = {0, a.row, 2 * a.row, 3 * a.row};
    UNROLL
    for (int i = 0; i < height; i += 4) {
        rows[i / 4] = a.first + (by_rows ? i * a.row : i);
    }
    for (npy_intp k = 0; k < n_k; k++) {
        NAME(vector) b0 = ((const NAME(unaligned) *)b.first)[0], b1 = ((const NAME(unaligned) *)b.first)[1];
        UNROLL
        for (int i = 0; i < height; i++) {
            REAL x = by_rows ? rows[i / 4][apart[i % 4]] : a.first[i];
            sums[i][0] += x * b0;
            sums[i][1] += x * b1;
        }
        UNROLL
        for (int i = 0; i < height && by_rows; i += 4) {
            rows[i / 4]++;
        }
        a.first += a.k;
        b.first += b.k;
    }
}

INLINE_AVX512 void
NAME(add_bias)(const int height, const REAL *bias, npy_intp n_columns, NAME(vector) (*sums)[2])
{
    NAME(vector) terms[2] = {{0}, {0}};
    memcpy(terms, bias, sizeof(REAL) * (size_t)(n_columns < WIDTH ? n_columns : WIDTH));
    UNROLL
    for (int i = 0; i < height; i++) {
        sums[i][0] += terms[0];
        sums[i][1] += terms[1];
    }
}

/* A panel of c; `bias`, if it is there, is added to each of its rows. */
INLINE_AVX512 void
NAME(multiply)(const int height, const int by_rows, NAME(left_panel) a, NAME(right_panel) b, npy_intp n_k, REAL *c,
               npy_intp c_row, npy_intp n_rows, npy_intp n_columns, write_mode mode, const REAL *bias)
{
    NAME(vector) sums[MOST_ROWS][2];
    UNROLL
    for (int i = 0; i < height; i++) {
        sums[i][0] = (NAME(vector)){0};
        sums[i][1] = (NAME(vector)){0};
    }
    NAME(sum_products)(height, by_rows, a, b, n_k, sums);
    if (bias != NULL) {
        NAME(add_bias)(height, bias, n_columns, sums);
    }
    if (n_rows < height || n_columns < WIDTH) {
        NAME(vector) edge[MOST_ROWS][2]; /* a copy: registers have no address */
        UNROLL
        for (int i = 0; i < height; i++) {
            edge[i][0] = sums[i][0];
            edge[i][1] = sums[i][1];
        }
        NAME(store_edge)((const REAL *)edge, c, c_row, n_rows, n_columns, mode);
        return;
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        NAME(unaligned) *row = (NAME(unaligned) *)(c + i * c_row);
        row[0] = mode == ADD ? row[0] + sums[i][0] : mode == SUBTRACT ? row[0] - sums[i][0] : sums[i][0];
        row[1] = mode == ADD ? row[1] + sums[i][1] : mode == SUBTRACT ? row[1] - sums[i][1] : sums[i][1];
    }
}

#define KERNEL(height)                                                                                                   \
    AVX512 static void NAME(multiply_##height)(NAME(left_panel) a, NAME(right_panel) b, npy_intp n_k, REAL *c,          \
                                               npy_intp c_row, npy_intp n_rows, npy_intp n_columns, write_mode mode,    \
                                               const REAL *bias)                                                        \
    {                                                                                                                    \
        NAME(multiply)(height, 0, a, b, n_k, c, c_row, n_rows, n_columns, mode, bias);                                   \
    }                                                                                                                    \
    AVX512 static void NAME(multiply_rows_##height)(NAME(left_panel) a, NAME(right_panel) b, npy_intp n_k, REAL *c,     \
                                                    npy_intp c_row, npy_intp n_rows, npy_intp n_columns,                \
                                                    write_mode mode, const REAL *bias)                                  \
    {                                                                                                                    \
        NAME(multiply)(height, 1, a, b, n_k, c, c_row, n_rows, n_columns, mode, bias);                                   \
    }

KERNEL(1)
KERNEL(2)
KERNEL(3)
KERNEL(4)
KERNEL(5)
KERNEL(6)
KERNEL(7)
KERNEL(8)
KERNEL(9)
KERNEL(10)
KERNEL(11)
KERNEL(12)
KERNEL(13)
KERNEL(14)
#undef KERNEL

typedef void (*NAME(kernel))(NAME(left_panel), NAME(right_panel), npy_intp, REAL *, npy_intp, npy_intp, npy_intp,
                             write_mode, const REAL *);

/* Of a panel whose rows lie side by side, and of one whose rows lie along k. */
#define KERNELS(height) {NAME(multiply_##height), NAME(multiply_rows_##height)}
static const NAME(kernel) NAME(kernels)[MOST_ROWS + 1][2] = {
    {NULL, NULL}, KERNELS(1),  KERNELS(2),  KERNELS(3),  KERNELS(4),  KERNELS(5),  KERNELS(6),  KERNELS(7),
    KERNELS(8),   KERNELS(9),  KERNELS(10), KERNELS(11), KERNELS(12), KERNELS(13), KERNELS(14),
};
#undef KERNELS

static NAME(left_panel)
NAME(panel_of_a)(const block *b, npy_intp row)
{
    const gs_gemm_job *job = &b->job;
    if (b->packs_a) {
        return (NAME(left_panel)){(const REAL *)b->packed_a + row * b->n_k, 1, b->height};
    }
    const REAL *first = (const REAL *)job->a + (b->first_row + row) * job->a_row + b->first_k * job->a_column;
    return (NAME(left_panel)){first, job->a_row, job->a_column};
}

static NAME(right_panel)
NAME(panel_of_b)(const block *b, npy_intp panel, const REAL *packed)
{
    if (panel < b->b_as_it_lies) {
        return (NAME(right_panel)){NAME(columns_of_b)(b, panel * WIDTH), b->job.b_row};
    }
    return (NAME(right_panel)){packed + panel % TOGETHER * WIDTH * b->n_k, WIDTH};
}

/* The part of c that a panel of b writes is fetched in time for the stores, which would wait for memory. */
static inline void
NAME(fetch_result)(const REAL *c, npy_intp c_row, npy_intp n_rows)
{
    for (npy_intp i = 0; i < n_rows; i++) {
        __builtin_prefetch(c + i * c_row, 1);
        __builtin_prefetch(c + i * c_row + LANES, 1);
    }
}

/* What has to be read of a panel of b that lies further on, in `calls` portions. */
static fetching
NAME(fetching_ahead)(const block *b, npy_intp panel, npy_intp calls)
{
    if (panel >= b->b_as_it_lies) {
        return (fetching){0};
    }
    const char *first = (const char *)NAME(columns_of_b)(b, panel * WIDTH);
    return (fetching){first, b->job.b_row * (npy_intp)sizeof(REAL), b->n_k, WIDTH * sizeof(REAL), (b->n_k + calls - 1) / calls};
}

/* A panel of b times the panels of a from `first` up to `last`. */
static void
NAME(multiply_panel)(const block *b, npy_intp panel, const REAL *packed, npy_intp first, npy_intp last, fetching *next)
{
    const gs_gemm_job *job = &b->job;
    write_mode mode = job->subtracts ? SUBTRACT : job->adds || b->first_k > 0 ? ADD : SET;
    npy_intp column = panel * WIDTH;
    npy_intp n_columns = b->job.n - column < WIDTH ? b->job.n - column : WIDTH;
    NAME(right_panel) right = NAME(panel_of_b)(b, panel, packed);
    npy_intp c_ahead = b->a_panels <= FEW_PANELS ? RESULT_AHEAD * WIDTH : 0;
    fetching ahead = NAME(fetching_ahead)(b, panel + PANELS_AHEAD, last - first);
    const REAL *bias = NULL;
    if (job->bias != NULL && b->first_k + b->n_k == job->k) {
        bias = (const REAL *)job->bias + column;
    }
    for (npy_intp i = first; i < last; i++) {
        npy_intp row = i * b->height;
        npy_intp n_rows = b->n_rows - row < b->height ? b->n_rows - row : b->height;
        NAME(left_panel) left = NAME(panel_of_a)(b, row);
        REAL *c = (REAL *)job->c + (b->first_row + row) * job->c_row + column;
        fetch(next);
        fetch(&ahead);
        NAME(fetch_result)(c + c_ahead, job->c_row, n_rows);
        NAME(kernels)[b->packs_a ? b->height : n_rows][left.row != 1](left, right, b->n_k, c, job->c_row, n_rows, n_columns,
                                                                       mode, bias);
    }
}

/* What has to be read to pack a chunk, in `calls` portions. */
static fetching
NAME(fetching_of)(const block *b, npy_intp chunk, npy_intp calls)
{
    npy_intp column = chunk * TOGETHER * WIDTH, n_columns = b->job.n - column;
    if (n_columns <= 0 || chunk * TOGETHER < b->b_as_it_lies) {
        return (fetching){0};
    }
    n_columns = n_columns < TOGETHER * WIDTH ? n_columns : TOGETHER * WIDTH;
    const char *first = (const char *)NAME(columns_of_b)(b, column);
    int by_rows = b->job.b_column == 1;
    npy_intp size = (npy_intp)sizeof(REAL), bytes = (by_rows ? n_columns : b->n_k) * size;
    fetching f = {first, (by_rows ? b->job.b_row : b->job.b_column) * size, by_rows ? b->n_k : n_columns, bytes, 0};
    f.rows_at_once = (f.rows + calls - 1) / calls;
    return f;
}

/* Items are numbered chunk of b by chunk of b, and within one by parts of a. */
static void
NAME(multiply_chunks)(void *context, npy_intp first, npy_intp last)
{
    block *b = context;
    int slot = take_slot(b);
    REAL *packed = (REAL *)(b->packed_b + slot * CHUNK_BYTES);
    npy_intp at_hand = -1;
    for (npy_intp item = first; item < last; item++) {
        npy_intp chunk = item / b->parts, part = item % b->parts;
        npy_intp start = part * b->part_panels;
        npy_intp end = start + b->part_panels < b->a_panels ? start + b->part_panels : b->a_panels;
        npy_intp panel = chunk * TOGETHER;
        npy_intp last_panel = panel + TOGETHER < b->b_panels ? panel + TOGETHER : b->b_panels;
        if (chunk != at_hand) {
            NAME(pack_chunk)(b, chunk, packed);
            at_hand = chunk;
        }
        fetching next = {0};
        if (item + 1 < last && (item + 1) / b->parts != chunk) {
            next = NAME(fetching_of)(b, chunk + 1, (end - start) * (last_panel - panel));
        }
        for (; panel < last_panel; panel++) {
            NAME(multiply_panel)(b, panel, packed, start, end, &next);
        }
    }
    give_slot_back(b, slot);
}

#undef EXCHANGE
#undef NAME_SHUFFLE
#undef WIDTH
