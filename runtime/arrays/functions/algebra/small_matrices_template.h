/* The text of small_matrices_kernels.c for one type. A block holds LANES matrices: block[row][column][matrix].
 * What takes the time, from loading to storing, is compiled for each instruction set. */

typedef REAL NAME(lanes)[LANES];
typedef NAME(lanes) NAME(block)[GS_MOST_ROWS][MOST_COLUMNS];

/* ---- in and out */

/* Those that the block has room for and that are not there are unit matrices. */
GS_CLONES static void
NAME(load)(const REAL *from, int here, int n, int columns, int first_column, NAME(block) block)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < columns; j++) {
            REAL *to = block[i][first_column + j];
            for (int lane = 0; lane < here; lane++) {
                to[lane] = from[(lane * n + i) * columns + j];
            }
            for (int lane = here; lane < LANES; lane++) {
                to[lane] = i == j;
            }
        }
    }
}

GS_CLONES static void
NAME(load_unit)(int n, NAME(block) block)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int lane = 0; lane < LANES; lane++) {
                block[i][n + j][lane] = i == j;
            }
        }
    }
}

GS_CLONES static void
NAME(store)(NAME(block) block, int here, int n, int columns, int first_column, REAL *to)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < columns; j++) {
            for (int lane = 0; lane < here; lane++) {
                to[(lane * n + i) * columns + j] = block[i][first_column + j][lane];
            }
        }
    }
}

/* ---- elimination */

/* Bring the largest element of column k, from row k on, to row k. Rows that are exchanged turn the sign. */
GS_INLINE void
NAME(pivot)(NAME(block) block, int n, int columns, int k, REAL *sign)
{
    REAL largest[LANES];
    int place[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        largest[lane] = ABS(block[k][k][lane]);
        place[lane] = k;
    }
    for (int i = k + 1; i < n; i++) {
        for (int lane = 0; lane < LANES; lane++) {
            REAL size = ABS(block[i][k][lane]);
            place[lane] = size > largest[lane] ? i : place[lane];
            largest[lane] = size > largest[lane] ? size : largest[lane];
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        sign[lane] = place[lane] == k ? sign[lane] : -sign[lane];
    }
    for (int i = k + 1; i < n; i++) {
        for (int j = k; j < columns; j++) {
            REAL *upper = block[k][j], *lower = block[i][j];
            for (int lane = 0; lane < LANES; lane++) {
                REAL one = upper[lane], other = lower[lane];
                upper[lane] = place[lane] == i ? other : one;
                lower[lane] = place[lane] == i ? one : other;
            }
        }
    }
}

/* An upper triangle, and the right sides that go with it. */
GS_CLONES static void
NAME(eliminate)(NAME(block) block, int n, int columns, REAL *sign)
{
    for (int k = 0; k < n; k++) {
        NAME(pivot)(block, n, columns, k, sign);
        for (int i = k + 1; i < n; i++) {
            REAL factor[LANES];
            for (int lane = 0; lane < LANES; lane++) {
                REAL pivot = block[k][k][lane];
                factor[lane] = pivot == 0 ? 0 : block[i][k][lane] / pivot;
            }
            for (int j = k + 1; j < columns; j++) {
                for (int lane = 0; lane < LANES; lane++) {
                    block[i][j][lane] -= factor[lane] * block[k][j][lane];
                }
            }
        }
    }
}

GS_CLONES static void
NAME(substitute_back)(NAME(block) block, int n, int columns)
{
    for (int k = n - 1; k >= 0; k--) {
        for (int j = n; j < columns; j++) {
            REAL *x = block[k][j];
            for (int i = k + 1; i < n; i++) {
                for (int lane = 0; lane < LANES; lane++) {
                    x[lane] -= block[k][i][lane] * block[i][j][lane];
                }
            }
            for (int lane = 0; lane < LANES; lane++) {
                x[lane] /= block[k][k][lane];
            }
        }
    }
}

/* The first matrix with a zero, or with no positive number, on the diagonal; -1 for none. */
static int
NAME(first_singular)(NAME(block) block, int here, int n)
{
    for (int lane = 0; lane < here; lane++) {
        for (int k = 0; k < n; k++) {
            if (block[k][k][lane] == 0) {
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
    REAL sign[LANES] = {0};
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        if (b == NULL) {
            NAME(load_unit)(n, block);
        } else {
            NAME(load)(b + first * n * m, here, n, m, n, block);
        }
        NAME(eliminate)(block, n, n + m, sign);
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
        REAL product[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            product[lane] = 1;
        }
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(eliminate)(block, n, n, product);
        for (int k = 0; k < n; k++) {
            for (int lane = 0; lane < LANES; lane++) {
                product[lane] *= block[k][k][lane];
            }
        }
        memcpy(det + first, product, sizeof(REAL) * (size_t)here);
    }
}

static void
NAME(slogdet)(const REAL *a, REAL *sign, REAL *logarithm, ptrdiff_t count, int n)
{
    NAME(block) block;
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        REAL signs[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            signs[lane] = 1;
        }
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(eliminate)(block, n, n, signs);
        for (int lane = 0; lane < here; lane++) {
            REAL sum = 0;
            for (int k = 0; k < n; k++) {
                REAL pivot = block[k][k][lane];
                sum += LOG(ABS(pivot));
                signs[lane] = pivot == 0 ? 0 : pivot < 0 ? -signs[lane] : pivot > 0 ? signs[lane] : pivot;
            }
            logarithm[first + lane] = sum;
        }
        memcpy(sign + first, signs, sizeof(REAL) * (size_t)here);
    }
}

/* ---- Cholesky's decomposition */

/* The lower triangle, with zeros above. `least` becomes 0 for a matrix that is not positive definite. */
GS_CLONES static void
NAME(factor)(NAME(block) block, int n, REAL *least)
{
    for (int k = 0; k < n; k++) {
        for (int i = k; i < n; i++) {
            for (int j = 0; j < k; j++) {
                for (int lane = 0; lane < LANES; lane++) {
                    block[i][k][lane] -= block[i][j][lane] * block[k][j][lane];
                }
            }
        }
        for (int lane = 0; lane < LANES; lane++) {
            REAL square = block[k][k][lane];
            least[lane] = square > 0 ? least[lane] : 0; /* NaN too */
            block[k][k][lane] = SQRT(square);
        }
        for (int i = k + 1; i < n; i++) {
            for (int lane = 0; lane < LANES; lane++) {
                block[i][k][lane] /= block[k][k][lane];
                block[k][i][lane] = 0;
            }
        }
    }
}

static ptrdiff_t
NAME(cholesky)(const REAL *a, REAL *factor, ptrdiff_t count, int n)
{
    NAME(block) block;
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        int here = NAME(lanes_left)(count, first);
        REAL least[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            least[lane] = 1;
        }
        NAME(load)(a + first * n * n, here, n, n, 0, block);
        NAME(factor)(block, n, least);
        for (int lane = 0; lane < here; lane++) {
            if (least[lane] == 0) {
                return first + lane;
            }
        }
        NAME(store)(block, here, n, n, 0, factor + first * n * n);
    }
    return -1;
}

/* ---- symmetric matrices, of any size */

static void
NAME(symmetric)(const REAL *a, REAL *out, ptrdiff_t count, int n, int lower)
{
    for (ptrdiff_t matrix = 0; matrix < count; matrix++, a += n * n, out += n * n) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                out[i * n + j] = out[j * n + i] = lower ? a[i * n + j] : a[j * n + i];
            }
        }
    }
}

static void
NAME(mean)(const REAL *a, REAL *out, ptrdiff_t count, int n)
{
    for (ptrdiff_t matrix = 0; matrix < count; matrix++, a += n * n, out += n * n) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                out[i * n + j] = out[j * n + i] = (REAL)0.5 * (a[i * n + j] + a[j * n + i]);
            }
        }
    }
}

#undef REAL
#undef NAME
#undef ABS
#undef SQRT
#undef LOG
