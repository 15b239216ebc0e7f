/* The text of elimination_kernels.c for one type. A block holds LANES matrices: block[row][column][matrix].
 * What takes the time, from loading to storing, is compiled for each instruction set. */

#ifdef GS_HAS_VECTORS
typedef REAL NAME(vector) __attribute__((vector_size(GS_VECTOR_BYTES)));
typedef INTEGER NAME(mask) __attribute__((vector_size(GS_VECTOR_BYTES)));
#define LANES ((int)(GS_VECTOR_BYTES / sizeof(REAL)))
#define SELECT(where, one, other) \
    ((NAME(vector))(((NAME(mask))(one) & (where)) | ((NAME(mask))(other) & ~(where))))
#else
typedef REAL NAME(vector);
typedef int NAME(mask);
#define LANES 1
#define SELECT(where, one, other) ((where) ? (one) : (other))
#endif
#define ALL(number) ((NAME(vector)){0} + (REAL)(number))
#define MAGNITUDE(x) SELECT((x) < ALL(0), -(x), x)

typedef NAME(vector) NAME(block)[GS_MOST_ROWS][MOST_COLUMNS];

/* ---- in and out */

GS_INLINE REAL *
NAME(lanes)(NAME(vector) *x)
{
    return (REAL *)x;
}

/* Element e of each of as many matrices as there are lanes, in the order of memory. */
GS_INLINE void
NAME(gather)(const REAL *const *matrix, int e, NAME(vector) *to)
{
    for (int lane = 0; lane < LANES; lane++) {
        NAME(lanes)(to)[lane] = matrix[lane][e];
    }
}

#ifdef INTERLEAVE_LOW
/* A vector of elements of each matrix becomes a vector of matrices for each element. */
GS_INLINE void
NAME(transpose)(NAME(vector) *v)
{
    NAME(vector) mixed[LANES];
    for (int round = 1; round < LANES; round *= 2) {
        for (int i = 0; i < LANES / 2; i++) {
            mixed[2 * i] = INTERLEAVE_LOW(v[i], v[i + LANES / 2]);
            mixed[2 * i + 1] = INTERLEAVE_HIGH(v[i], v[i + LANES / 2]);
        }
        memcpy(v, mixed, sizeof mixed);
    }
}
#endif

/* Where there are fewer matrices than the block has room for, the last one fills it. */
GS_CLONES static void
NAME(load)(const REAL *from, int here, int n, int columns, int first_column, NAME(block) block)
{
    const REAL *matrix[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        matrix[lane] = from + (lane < here ? lane : here - 1) * n * columns;
    }
    int size = n * columns, e = 0, i = 0, j = 0;
#ifdef INTERLEAVE_LOW
    for (; e + LANES <= size; e += LANES) {
        NAME(vector) v[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            memcpy(&v[lane], matrix[lane] + e, sizeof v[lane]);
        }
        NAME(transpose)(v);
        for (int element = 0; element < LANES; element++) {
            block[i][first_column + j] = v[element];
            j = j + 1 < columns ? j + 1 : (i++, 0);
        }
    }
#endif
    for (; e < size; e++) {
        NAME(gather)(matrix, e, &block[i][first_column + j]);
        j = j + 1 < columns ? j + 1 : (i++, 0);
    }
}

GS_CLONES static void
NAME(load_unit)(int n, NAME(block) block)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            block[i][n + j] = ALL(i == j);
        }
    }
}

GS_CLONES static void
NAME(store)(NAME(block) block, int here, int n, int columns, int first_column, REAL *to)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < columns; j++) {
            const REAL *from = NAME(lanes)(&block[i][first_column + j]);
            for (int lane = 0; lane < here; lane++) {
                to[(lane * n + i) * columns + j] = from[lane];
            }
        }
    }
}

/* ---- elimination */

/* The row with the largest element of column k, from row k on, trades places with row k, which turns the sign; then
 * the column is eliminated from the rows below. Both are done in one walk over the block. */
GS_INLINE void
NAME(eliminate_column)(
    NAME(block) block, int n, int columns, int k, const int keeps_factors, NAME(vector) *sign, NAME(vector) *row)
{
    NAME(vector) above = block[k][k], pivot = above, largest = MAGNITUDE(above), place = ALL(k);
    NAME(vector) factor[GS_MOST_ROWS];
    NAME(mask) trades[GS_MOST_ROWS];
    for (int i = k + 1; i < n; i++) {
        NAME(vector) size = MAGNITUDE(block[i][k]);
        NAME(mask) is_larger = size > largest;
        place = SELECT(is_larger, ALL(i), place);
        largest = SELECT(is_larger, size, largest);
        pivot = SELECT(is_larger, block[i][k], pivot);
    }
    *sign = SELECT(place == ALL(k), *sign, -*sign);
    *row = place;
    for (int i = k + 1; i < n; i++) {
        trades[i] = place == ALL(i);
        factor[i] = SELECT(pivot == ALL(0), ALL(0), SELECT(trades[i], above, block[i][k]) / pivot);
    }
    block[k][k] = pivot;
    for (int j = 0; keeps_factors && j < k; j++) {
        NAME(vector) upper = block[k][j];
        for (int i = k + 1; i < n; i++) {
            block[k][j] = SELECT(trades[i], block[i][j], block[k][j]);
            block[i][j] = SELECT(trades[i], upper, block[i][j]);
        }
    }
    for (int i = k + 1; keeps_factors && i < n; i++) {
        block[i][k] = factor[i];
    }
    for (int j = k + 1; j < columns; j++) {
        NAME(vector) upper = block[k][j], chosen = upper;
        for (int i = k + 1; i < n; i++) {
            chosen = SELECT(trades[i], block[i][j], chosen);
        }
        for (int i = k + 1; i < n; i++) {
            block[i][j] = SELECT(trades[i], upper, block[i][j]) - factor[i] * chosen;
        }
        block[k][j] = chosen;
    }
}

/* An upper triangle, and the right sides that go with it. The compiler writes out the most usual size. */
GS_CLONES static void
NAME(eliminate)(NAME(block) block, int n, int columns, NAME(vector) *sign)
{
    NAME(vector) row;
    if (n == 4 && columns == 4) {
        for (int k = 0; k < 4; k++) {
            NAME(eliminate_column)(block, 4, 4, k, 0, sign, &row);
        }
        return;
    }
    for (int k = 0; k < n; k++) {
        NAME(eliminate_column)(block, n, columns, k, 0, sign, &row);
    }
}

/* Both triangles, and the number of the row that each row has traded places with. */
GS_CLONES static void
NAME(factorize)(NAME(block) block, int n, NAME(vector) *places)
{
    NAME(vector) sign = ALL(1);
    for (int k = 0; k < n; k++) {
        NAME(eliminate_column)(block, n, n, k, 1, &sign, &places[k]);
    }
}

GS_CLONES static void
NAME(substitute_back)(NAME(block) block, int n, int columns)
{
    for (int k = n - 1; k >= 0; k--) {
        for (int j = n; j < columns; j++) {
            NAME(vector) x = block[k][j];
            for (int i = k + 1; i < n; i++) {
                x -= block[k][i] * block[i][j];
            }
            block[k][j] = x / block[k][k];
        }
    }
}

/* The first matrix with a zero, or with no positive number, on the diagonal; -1 for none. */
static int
NAME(first_singular)(NAME(block) block, int here, int n)
{
    for (int lane = 0; lane < here; lane++) {
        for (int k = 0; k < n; k++) {
            if (NAME(lanes)(&block[k][k])[lane] == 0) {
                return lane;
            }
        }
    }
    return -1;
}

static int
NAME(lanes_left)(ptrdiff_t count, ptrdiff_t first)
{
    return count - first < LANES ? (int)(count - first) : LANES;
}

static ptrdiff_t
NAME(solve)(const REAL *a, const REAL *b, REAL *x, ptrdiff_t count, int n, int m)
{
    NAME(block) block;
    NAME(vector) sign = ALL(0);
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        if (b == NULL) {
            NAME(load_unit)(n, block);
        } else {
            NAME(load)(b + first * n * m, here, n, m, n, block);
        }
        NAME(eliminate)(block, n, n + m, &sign);
        int singular = NAME(first_singular)(block, here, n);
        if (singular >= 0) {
            return first + singular;
        }
        NAME(substitute_back)(block, n, n + m);
        NAME(store)(block, here, n, m, n, x + first * n * m);
    }
    return -1;
}

static void
NAME(det)(const REAL *a, REAL *det, ptrdiff_t count, int n)
{
    NAME(block) block;
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        NAME(vector) product = ALL(1);
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(eliminate)(block, n, n, &product);
        for (int k = 0; k < n; k++) {
            product *= block[k][k];
        }
        memcpy(det + first, &product, sizeof(REAL) * (size_t)here);
    }
}

/* The largest magnitude of the columns from `first` on; NaN counts as none. */
GS_CLONES static void
NAME(largest)(NAME(block) block, int n, int first, NAME(vector) *largest)
{
    *largest = ALL(0);
    for (int i = 0; i < n; i++) {
        for (int j = first; j < first + n; j++) {
            NAME(vector) size = MAGNITUDE(block[i][j]);
            *largest = SELECT(size > *largest, size, *largest);
        }
    }
}

/* Times a number for each matrix, the columns from `first` on. */
GS_CLONES static void
NAME(scale)(NAME(block) block, int n, int first, const NAME(vector) *factor)
{
    for (int i = 0; i < n; i++) {
        for (int j = first; j < first + n; j++) {
            block[i][j] *= *factor;
        }
    }
}

/* Inverses, or if `scaled` inverses times determinants. These are sound where no inverse is large, so that half of the
 * digits are left at least, and no determinant underflows; inverses are where any digits are left. */
static void
NAME(invert)(const REAL *a, REAL *inverse, unsigned char *is_sound, ptrdiff_t count, int n, int scaled)
{
    NAME(block) block;
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        NAME(vector) det = ALL(1), largest, largest_of_inverse;
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(load_unit)(n, block);
        NAME(largest)(block, n, 0, &largest);
        NAME(eliminate)(block, n, 2 * n, &det);
        for (int k = 0; k < n; k++) {
            det *= block[k][k];
        }
        NAME(substitute_back)(block, n, 2 * n);
        NAME(largest)(block, n, n, &largest_of_inverse);
        if (scaled) {
            NAME(scale)(block, n, n, &det);
        }
        NAME(store)(block, here, n, n, n, inverse + first * n * n);
        for (int lane = 0; lane < here; lane++) {
            REAL condition = NAME(lanes)(&largest)[lane] * NAME(lanes)(&largest_of_inverse)[lane];
            is_sound[first + lane] =
                scaled ? condition < ROOT && ABS(NAME(lanes)(&det)[lane]) >= LEAST : condition * EPSILON < (REAL)0.1;
        }
    }
}

static void
NAME(lu)(const REAL *a, REAL *factors, int32_t *pivots, ptrdiff_t count, int n)
{
    NAME(block) block;
    NAME(vector) places[GS_MOST_ROWS];
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(factorize)(block, n, places);
        NAME(store)(block, here, n, n, 0, factors + first * n * n);
        for (int lane = 0; lane < here; lane++) {
            for (int k = 0; k < n; k++) {
                pivots[(first + lane) * n + k] = (int32_t)NAME(lanes)(&places[k])[lane] + 1;
            }
        }
    }
}

/* The product of the pivots' magnitudes, and the least of it on the way. */
GS_CLONES static void
NAME(multiply_pivots)(NAME(block) block, int n, NAME(vector) *product, NAME(vector) *least, NAME(vector) *sign)
{
    *product = *least = ALL(1);
    for (int k = 0; k < n; k++) {
        *sign = SELECT(block[k][k] < ALL(0), -*sign, *sign);
        *product *= MAGNITUDE(block[k][k]);
        *least = SELECT(*product < *least, *product, *least);
    }
}

/* A pivot after the other, where their product leaves the range of numbers. */
static void
NAME(add_logarithms)(NAME(block) block, int n, int lane, REAL *sign, REAL *logarithm)
{
    *logarithm = 0;
    for (int k = 0; k < n; k++) {
        REAL pivot = NAME(lanes)(&block[k][k])[lane];
        *logarithm += LOG(ABS(pivot));
        *sign = pivot == 0 ? 0 : pivot == pivot ? *sign : pivot;
    }
}

static void
NAME(slogdet)(const REAL *a, REAL *sign, REAL *logarithm, ptrdiff_t count, int n)
{
    NAME(block) block;
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        NAME(vector) signs = ALL(1), product, least;
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(eliminate)(block, n, n, &signs);
        NAME(multiply_pivots)(block, n, &product, &least, &signs);
        for (int lane = 0; lane < here; lane++) {
            REAL size = NAME(lanes)(&product)[lane];
            if (NAME(lanes)(&least)[lane] >= LEAST && size <= GREATEST) {
                logarithm[first + lane] = LOG(size);
            } else {
                NAME(add_logarithms)(block, n, lane, &NAME(lanes)(&signs)[lane], logarithm + first + lane);
            }
        }
        memcpy(sign + first, &signs, sizeof(REAL) * (size_t)here);
    }
}

/* ---- Cholesky's decomposition */

/* The lower triangle, with zeros above. `least` becomes 0 for a matrix that is not positive definite. */
GS_CLONES static void
NAME(factor)(NAME(block) block, int n, NAME(vector) *least)
{
    for (int k = 0; k < n; k++) {
        for (int i = k; i < n; i++) {
            NAME(vector) rest = block[i][k];
            for (int j = 0; j < k; j++) {
                rest -= block[i][j] * block[k][j];
            }
            block[i][k] = rest;
        }
        *least = SELECT(block[k][k] > ALL(0), *least, ALL(0)); /* NaN too */
        REAL *diagonal = NAME(lanes)(&block[k][k]);
        for (int lane = 0; lane < LANES; lane++) {
            diagonal[lane] = SQRT(diagonal[lane]);
        }
        for (int i = k + 1; i < n; i++) {
            block[i][k] /= block[k][k];
            block[k][i] = ALL(0);
        }
    }
}

static ptrdiff_t
NAME(cholesky)(const REAL *a, REAL *factor, ptrdiff_t count, int n)
{
    NAME(block) block;
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        NAME(vector) least = ALL(1);
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(factor)(block, n, &least);
        for (int lane = 0; lane < here; lane++) {
            if (NAME(lanes)(&least)[lane] == 0) {
                return first + lane;
            }
        }
        NAME(store)(block, here, n, n, 0, factor + first * n * n);
    }
    return -1;
}

/* ---- symmetric matrices, of any size: in tiles, since an element and its mirror image lie far apart in memory */

/* Both halves are written along their rows. */
GS_INLINE void
NAME(symmetric_tile)(const REAL *restrict a, REAL *restrict out, ptrdiff_t n, ptrdiff_t row, ptrdiff_t column, const int lower)
{
    const ptrdiff_t down = lower ? n : 1, across = lower ? 1 : n;
    const ptrdiff_t last_row = row + TILE < n ? row + TILE : n, last_column = column + TILE < n ? column + TILE : n;
    for (ptrdiff_t i = row; i < last_row; i++) {
        for (ptrdiff_t j = column; j < last_column && j <= i; j++) {
            out[i * n + j] = a[i * down + j * across];
        }
    }
    for (ptrdiff_t j = column; j < last_column; j++) {
        for (ptrdiff_t i = row > j ? row : j; i < last_row; i++) {
            out[j * n + i] = a[i * down + j * across];
        }
    }
}

GS_INLINE void
NAME(mean_tile)(const REAL *a, REAL *out, ptrdiff_t n, ptrdiff_t row, ptrdiff_t column)
{
    ptrdiff_t last_row = row + TILE < n ? row + TILE : n;
    for (ptrdiff_t i = row; i < last_row; i++) {
        ptrdiff_t last_column = column + TILE < i + 1 ? column + TILE : i + 1;
        for (ptrdiff_t j = column; j < last_column; j++) {
            out[i * n + j] = out[j * n + i] = (REAL)0.5 * (a[i * n + j] + a[j * n + i]);
        }
    }
}

static void
NAME(symmetric)(const REAL *a, REAL *out, ptrdiff_t count, ptrdiff_t n, int lower)
{
    for (ptrdiff_t matrix = 0; matrix < count; matrix++, a += n * n, out += n * n) {
        for (ptrdiff_t row = 0; row < n; row += TILE) {
            for (ptrdiff_t column = 0; column <= row; column += TILE) {
                if (lower) {
                    NAME(symmetric_tile)(a, out, n, row, column, 1);
                } else {
                    NAME(symmetric_tile)(a, out, n, row, column, 0);
                }
            }
        }
    }
}

static void
NAME(mean)(const REAL *a, REAL *out, ptrdiff_t count, ptrdiff_t n)
{
    for (ptrdiff_t matrix = 0; matrix < count; matrix++, a += n * n, out += n * n) {
        for (ptrdiff_t row = 0; row < n; row += TILE) {
            for (ptrdiff_t column = 0; column <= row; column += TILE) {
                NAME(mean_tile)(a, out, n, row, column);
            }
        }
    }
}

#undef LANES
#undef SELECT
#undef ALL
#undef MAGNITUDE
#undef REAL
#undef INTEGER
#undef NAME
#undef ABS
#undef SQRT
#undef LOG
#undef ROOT
#undef EPSILON
#undef LEAST
#undef GREATEST
#undef INTERLEAVE_LOW
#undef INTERLEAVE_HIGH
