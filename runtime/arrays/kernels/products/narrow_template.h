/* The text of narrow.c for one type: REAL, LANES of it in 64 bytes, masked LOAD and STORE, and NAME(x) adds the type's
 * suffix. */

typedef REAL NAME(vector) __attribute__((vector_size(64)));

/* Which lanes of the vectors of a row are columns. */
typedef struct {
    MASK lanes[2];
} NAME(columns);

static NAME(columns)
NAME(columns_of)(npy_intp n)
{
    uint64_t bits = ((uint64_t)1 << n) - 1;
    return (NAME(columns)){{(MASK)bits, (MASK)(bits >> LANES)}};
}

/* Adds the terms of a part to the sums of some rows. `by_rows`: rows of a are apart, and lie along k; four of them have
 * one pointer, since sixteen would not fit into registers. */
INLINE_AVX512 void
NAME(add_terms)(const int vectors, const int height, const int by_rows, const narrow_part *part, const REAL *a,
                NAME(columns) columns, NAME(vector) (*sums)[2])
{
    const gs_gemm_job *job = part->job;
    const REAL *rows[(MOST_ROWS + 3) / 4], *b = part->rows_of_b;
    npy_intp row = job->a_row, apart[4] = {0, row, 2 * row, 3 * row};
    UNROLL
    for (int i = 0; i < height; i += 4) {
        rows[i / 4] = a + (by_rows ? i * row : i);
    }
    for (npy_intp k = 0; k < part->length; k++, b += part->b_row, a += job->a_column) {
        NAME(vector) row_of_b[2];
        UNROLL
        for (int v = 0; v < vectors; v++) {
            row_of_b[v] = LOAD(columns.lanes[v], b + v * LANES);
        }
        UNROLL
        for (int i = 0; i < height; i++) {
            REAL factor = by_rows ? rows[i / 4][apart[i % 4]] : a[i];
            UNROLL
            for (int v = 0; v < vectors; v++) {
                sums[i][v] += factor * row_of_b[v];
            }
        }
        UNROLL
        for (int i = 0; i < height && by_rows; i += 4) {
            rows[i / 4]++;
        }
    }
}

INLINE_AVX512 void
NAME(multiply_rows)(const int vectors, const int height, const int by_rows, const narrow_part *part, npy_intp first)
{
    const gs_gemm_job *job = part->job;
    NAME(columns) columns = NAME(columns_of)(job->n);
    NAME(vector) sums[MOST_ROWS][2];
    UNROLL
    for (int i = 0; i < height; i++) {
        sums[i][0] = sums[i][1] = (NAME(vector)){0};
    }
    const REAL *a = (const REAL *)job->a + first * job->a_row + part->first * job->a_column;
    NAME(add_terms)(vectors, height, by_rows, part, a, columns, sums);
    const REAL *bias = is_last(part) ? (const REAL *)job->bias : NULL;
    REAL *c = (REAL *)job->c + first * job->c_row;
    write_mode mode = mode_of(part);
    UNROLL
    for (int i = 0; i < height; i++, c += job->c_row) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            MASK lanes = columns.lanes[v];
            REAL *to = c + v * LANES;
            NAME(vector) sum = bias != NULL ? sums[i][v] + LOAD(lanes, bias + v * LANES) : sums[i][v];
            STORE(to, lanes, mode == ADD ? LOAD(lanes, to) + sum : mode == SUBTRACT ? LOAD(lanes, to) - sum : sum);
        }
    }
}

INLINE_AVX512 void
NAME(multiply_all)(const int vectors, const int by_rows, const narrow_part *part, npy_intp row, npy_intp last)
{
    const int most = MOST_ROWS / vectors;
    for (; row + most <= last; row += most) {
        NAME(multiply_rows)(vectors, most, by_rows, part, row);
    }
    if (vectors == 1 && row + 8 <= last) {
        NAME(multiply_rows)(vectors, 8, by_rows, part, row);
        row += 8;
    }
    if (row + 4 <= last) {
        NAME(multiply_rows)(vectors, 4, by_rows, part, row);
        row += 4;
    }
    if (row + 2 <= last) {
        NAME(multiply_rows)(vectors, 2, by_rows, part, row);
        row += 2;
    }
    if (row < last) {
        NAME(multiply_rows)(vectors, 1, by_rows, part, row);
    }
}

AVX512 static void
NAME(multiply_range)(void *context, npy_intp first, npy_intp last)
{
    const narrow_part *part = context;
    const int by_rows = part->job->a_row != 1;
    if (part->job->n <= LANES) {
        if (by_rows) {
            NAME(multiply_all)(1, 1, part, first, last);
        } else {
            NAME(multiply_all)(1, 0, part, first, last);
        }
    } else if (by_rows) {
        NAME(multiply_all)(2, 1, part, first, last);
    } else {
        NAME(multiply_all)(2, 0, part, first, last);
    }
}

static void
NAME(copy_columns)(const gs_gemm_job *job, npy_intp first, npy_intp length, npy_intp width, REAL *to)
{
    const REAL *b = (const REAL *)job->b + first * job->b_row;
    for (npy_intp j = 0; j < job->n; j++) {
        for (npy_intp k = 0; k < length; k++) {
            to[k * width + j] = b[k * job->b_row + j * job->b_column];
        }
    }
}

static void
NAME(multiply_parts)(const gs_gemm_job *job)
{
    REAL copy[LENGTH * 2 * LANES];
    npy_intp width = job->n <= LANES ? LANES : 2 * LANES;
    for (npy_intp first = 0, length; first < job->k; first += length) {
        length = job->k - first < LENGTH ? job->k - first : LENGTH;
        narrow_part part = {job, (const REAL *)job->b + first * job->b_row, job->b_row, first, length};
        if (job->b_column != 1) {
            NAME(copy_columns)(job, first, length, width, copy);
            part.rows_of_b = copy, part.b_row = width;
        }
        fetch_next(&part);
        gs_parallel_run(NAME(multiply_range), &part, job->m, gs_piece(job->m, length, MOST_ROWS));
    }
}
