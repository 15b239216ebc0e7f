/* The text of dots.c for one type: REAL, LANES of it in 64 bytes, and NAME(x) adds the type's suffix. */

typedef REAL NAME(lanes) __attribute__((vector_size(64)));
typedef REAL NAME(loose_lanes) __attribute__((vector_size(64), aligned(sizeof(REAL))));

/* Rows of a and columns of b, `a_step` and `b_step` apart, from one place on along their length. */
typedef struct {
    const REAL *a, *b;
    npy_intp a_step, b_step;
} NAME(place);

/* Adds `vectors` vectors of each product of a row and a column to its sum; sums are MOST_DOTS apart from row to row. */
INLINE_AVX512 void
NAME(add_tile)(const int rows, const int columns, NAME(place) at, npy_intp vectors, NAME(lanes) *sums)
{
    NAME(lanes) kept[TILE][TILE];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < columns; j++) {
            kept[i][j] = sums[i * MOST_DOTS + j];
        }
    }
    for (npy_intp v = 0; v < vectors; v++, at.a += LANES, at.b += LANES) {
        NAME(lanes) column[TILE];
        UNROLL
        for (int j = 0; j < columns; j++) {
            column[j] = *(const NAME(loose_lanes) *)(at.b + j * at.b_step);
        }
        UNROLL
        for (int i = 0; i < rows; i++) {
            NAME(lanes) row = *(const NAME(loose_lanes) *)(at.a + i * at.a_step);
            UNROLL
            for (int j = 0; j < columns; j++) {
                kept[i][j] += row * column[j];
            }
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < columns; j++) {
            sums[i * MOST_DOTS + j] = kept[i][j];
        }
    }
}

#define TILES_OF(rows)                                                                                        \
    AVX512 static void NAME(add_tile_##rows)(int columns, NAME(place) at, npy_intp vectors, NAME(lanes) *sums) \
    {                                                                                                         \
        switch (columns) {                                                                                    \
        case 1: NAME(add_tile)(rows, 1, at, vectors, sums); break;                                            \
        case 2: NAME(add_tile)(rows, 2, at, vectors, sums); break;                                            \
        case 3: NAME(add_tile)(rows, 3, at, vectors, sums); break;                                            \
        case 4: NAME(add_tile)(rows, 4, at, vectors, sums); break;                                            \
        default: NAME(add_tile)(rows, 5, at, vectors, sums);                                                  \
        }                                                                                                     \
    }

TILES_OF(1)
TILES_OF(2)
TILES_OF(3)
TILES_OF(4)
TILES_OF(5)
#undef TILES_OF

static void (*const NAME(tiles)[])(int, NAME(place), npy_intp, NAME(lanes) *) = {
    NULL, NAME(add_tile_1), NAME(add_tile_2), NAME(add_tile_3), NAME(add_tile_4), NAME(add_tile_5),
};

/* Tiles of equal size: six rows are three and three, not five and one. */
static int
NAME(side)(npy_intp n)
{
    npy_intp tiles = (n + TILE - 1) / TILE;
    return (int)((n + tiles - 1) / tiles);
}

/* The part of each row, or column, that comes after `vectors` vectors, if there is one, in `calls` portions. */
static fetching
NAME(fetching_rows)(const REAL *row, npy_intp step, npy_intp count, npy_intp vectors, npy_intp left, npy_intp calls)
{
    npy_intp bytes = 64 * (left < vectors ? left : vectors);
    return (fetching){(const char *)(row + vectors * LANES), step * (npy_intp)sizeof(REAL), left > 0 ? count : 0, bytes,
                      (count + calls - 1) / calls};
}

/* `left`: vectors of each row after this part. */
static void
NAME(add_part)(const gs_gemm_job *job, NAME(place) at, npy_intp vectors, npy_intp left, NAME(lanes) *sums)
{
    const int height = NAME(side)(job->m), width = NAME(side)(job->n);
    npy_intp tiles = (job->m + height - 1) / height * ((job->n + width - 1) / width);
    fetching next_a = NAME(fetching_rows)(at.a, at.a_step, job->m, vectors, left, tiles);
    fetching next_b = NAME(fetching_rows)(at.b, at.b_step, job->n, vectors, left, tiles);
    for (npy_intp i = 0; i < job->m; i += height) {
        int rows = (int)(job->m - i < height ? job->m - i : height);
        for (npy_intp j = 0; j < job->n; j += width) {
            int columns = (int)(job->n - j < width ? job->n - j : width);
            NAME(place) tile = {at.a + i * at.a_step, at.b + j * at.b_step, at.a_step, at.b_step};
            fetch(&next_a);
            fetch(&next_b);
            NAME(tiles)[rows](columns, tile, vectors, sums + i * MOST_DOTS + j);
        }
    }
}

/* What is left of each row after whole vectors, with zeros after it. */
static void
NAME(copy_tails)(const REAL *from, npy_intp step, npy_intp count, npy_intp length, REAL *to)
{
    for (npy_intp i = 0; i < count; i++) {
        memcpy(to + i * LANES, from + i * step, sizeof(REAL) * (size_t)length);
    }
}

static REAL
NAME(sum_of_lanes)(const NAME(lanes) *sum)
{
    REAL parts[LANES];
    memcpy(parts, sum, sizeof parts);
    for (int half = LANES / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            parts[i] += parts[i + half];
        }
    }
    return parts[0];
}

static void
NAME(store)(const gs_gemm_job *job, const NAME(lanes) *sums)
{
    const REAL *bias = (const REAL *)job->bias;
    for (npy_intp i = 0; i < job->m; i++) {
        REAL *c = (REAL *)job->c + i * job->c_row;
        for (npy_intp j = 0; j < job->n; j++) {
            REAL sum = NAME(sum_of_lanes)(sums + i * MOST_DOTS + j) + (bias != NULL ? bias[j] : 0);
            c[j] = job->adds ? c[j] + sum : job->subtracts ? c[j] - sum : sum;
        }
    }
}

static void
NAME(multiply_rows)(const gs_gemm_job *job)
{
    NAME(lanes) sums[MOST_DOTS * MOST_DOTS];
    for (npy_intp i = 0; i < job->m; i++) {
        memset(sums + i * MOST_DOTS, 0, sizeof(NAME(lanes)) * (size_t)job->n);
    }
    NAME(place) at = {(const REAL *)job->a, (const REAL *)job->b, job->a_row, job->b_column};
    npy_intp part = PART_BYTES / (64 * (job->m + job->n)), vectors = job->k / LANES, tail = job->k % LANES;
    for (npy_intp first = 0, here; first < vectors; first += here, at.a += here * LANES, at.b += here * LANES) {
        here = vectors - first < part ? vectors - first : part;
        NAME(add_part)(job, at, here, vectors - first - here, sums);
    }
    if (tail > 0) {
        REAL rows[MOST_DOTS * LANES] = {0}, columns[MOST_DOTS * LANES] = {0};
        NAME(copy_tails)(at.a, at.a_step, job->m, tail, rows);
        NAME(copy_tails)(at.b, at.b_step, job->n, tail, columns);
        NAME(add_part)(job, (NAME(place)){rows, columns, LANES, LANES}, 1, 0, sums);
    }
    NAME(store)(job, sums);
}
