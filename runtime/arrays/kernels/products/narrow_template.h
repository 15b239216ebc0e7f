/* The text of narrow.c for one type: REAL, LANES of it in 64 bytes, masked LOAD and STORE, and NAME(x) adds the type's
 * suffix. */

typedef REAL NAME(vector) __attribute__((vector_size(64)));

/* Adds the terms of a part to the sums of some rows. `by_rows`: rows of a are apart, and lie along k; four of them have
 * one pointer, since sixteen would not fit into registers. */
INLINE_AVX512 void
NAME(add_terms)(const int height, const int by_rows, const narrow_part *part, const REAL *a, MASK columns,
                NAME(vector) *sums)
{
    const gs_gemm_job *job = part->job;
    const REAL *rows[(MOST_ROWS + 3) / 4], *b = part->rows_of_b;
    npy_intp row = job->a_row, apart[4] = {0, row, 2 * row, 3 * row};
    UNROLL
    for (int i = 0; i < height; i += 4) {
        rows[i / 4] = a + (by_rows ? i * row : i);
    }
    for (npy_intp k = 0; k < part->length; k++, b += part->b_row, a += job->a_column) {
        NAME(vector) row_of_b = LOAD(columns, b);
        UNROLL
        for (int i = 0; i < height; i++) {
            sums[i] += (by_rows ? rows[i / 4][apart[i % 4]] : a[i]) * row_of_b;
        }
        UNROLL
        for (int i = 0; i < height && by_rows; i += 4) {
            rows[i / 4]++;
        }
    }
}

INLINE_AVX512 void
NAME(multiply_rows)(const int height, const int by_rows, const narrow_part *part, npy_intp first)
{
    const gs_gemm_job *job = part->job;
    MASK columns = (MASK)((1u << job->n) - 1);
    NAME(vector) sums[MOST_ROWS], bias = {0};
    if (job->bias != NULL && is_last(part)) {
        bias = LOAD(columns, job->bias);
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        sums[i] = (NAME(vector)){0};
    }
    const REAL *a = (const REAL *)job->a + first * job->a_row + part->first * job->a_column;
    NAME(add_terms)(height, by_rows, part, a, columns, sums);
    REAL *c = (REAL *)job->c + first * job->c_row;
    write_mode mode = mode_of(part);
    UNROLL
    for (int i = 0; i < height; i++, c += job->c_row) {
        NAME(vector) sum = sums[i] + bias;
        STORE(c, columns, mode == ADD ? LOAD(columns, c) + sum : mode == SUBTRACT ? LOAD(columns, c) - sum : sum);
    }
}

INLINE_AVX512 void
NAME(multiply_all)(const int by_rows, const narrow_part *part, npy_intp row, npy_intp last)
{
    for (; row + 16 <= last; row += 16) {
        NAME(multiply_rows)(16, by_rows, part, row);
    }
    if (row + 8 <= last) {
        NAME(multiply_rows)(8, by_rows, part, row);
        row += 8;
    }
    if (row + 4 <= last) {
        NAME(multiply_rows)(4, by_rows, part, row);
        row += 4;
    }
    for (; row < last; row++) {
        NAME(multiply_rows)(1, by_rows, part, row);
    }
}

AVX512 static void
NAME(multiply_range)(void *context, npy_intp first, npy_intp last)
{
    const narrow_part *part = context;
    if (part->job->a_row == 1) {
        NAME(multiply_all)(0, part, first, last);
    } else {
        NAME(multiply_all)(1, part, first, last);
    }
}

static void
NAME(copy_columns)(const gs_gemm_job *job, npy_intp first, npy_intp length, REAL *to)
{
    const REAL *b = (const REAL *)job->b + first * job->b_row;
    for (npy_intp j = 0; j < job->n; j++) {
        for (npy_intp k = 0; k < length; k++) {
            to[k * LANES + j] = b[k * job->b_row + j * job->b_column];
        }
    }
}

static void
NAME(multiply_parts)(const gs_gemm_job *job)
{
    REAL copy[LENGTH * LANES];
    for (npy_intp first = 0, length; first < job->k; first += length) {
        length = job->k - first < LENGTH ? job->k - first : LENGTH;
        narrow_part part = {job, (const REAL *)job->b + first * job->b_row, job->b_row, first, length};
        if (job->b_column != 1) {
            NAME(copy_columns)(job, first, length, copy);
            part.rows_of_b = copy, part.b_row = LANES;
        }
        gs_parallel_run(NAME(multiply_range), &part, job->m, gs_piece(job->m, length, MOST_ROWS));
    }
}
