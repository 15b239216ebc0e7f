/* The text of cholesky.c for one type. */

#if LANES > 1
#define CONJUGATE(x) (x)
#define REAL(x) (x)
#else
#define CONJUGATE(x) (~(x))
#define REAL(x) (__real__(x))
#endif

GS_INLINE NUMBER *
NAME(row_of)(gs_block a, npy_intp i)
{
    return (NUMBER *)(a.data + i * a.row);
}

/* ---- factors */

/* Columns of the factor are rows of the tile, so that each is subtracted from the next ones at once. */
GS_INLINE npy_intp
NAME(factor_tile)(NUMBER tile[LEAF][LEAF], npy_intp n)
{
    for (npy_intp k = 0; k < n; k++) {
        double pivot = (double)REAL(tile[k][k]);
        if (!(pivot > 0)) {
            return k + 1;
        }
        double size = sqrt(pivot);
        REAL_NUMBER reciprocal = (REAL_NUMBER)(1 / size);
        for (npy_intp i = 0; i < LEAF; i++) {
            tile[k][i] *= reciprocal;
        }
        tile[k][k] = (NUMBER)size;
        for (npy_intp j = k + 1; j < n; j++) {
            NUMBER factor = CONJUGATE(tile[k][j]);
            for (npy_intp i = 0; i < LEAF; i++) {
                SUBTRACT(tile[j][i], factor, tile[k][i]);
            }
        }
    }
    return 0;
}

/* At most LEAF rows; 0, or the order of the first minor that is not positive. */
GS_CLONES static npy_intp
NAME(factor_leaf)(gs_block a, npy_intp n)
{
    NUMBER tile[LEAF][LEAF] = {{0}};
    for (npy_intp i = 0; i < n; i++) {
        for (npy_intp j = 0; j <= i; j++) {
            tile[j][i] = NAME(row_of)(a, i)[j];
        }
    }
    npy_intp order = NAME(factor_tile)(tile, n);
    for (npy_intp i = 0; i < n; i++) {
        for (npy_intp j = 0; j <= i; j++) {
            NAME(row_of)(a, i)[j] = tile[j][i];
        }
    }
    return order;
}

static void
NAME(set_nan)(gs_block a, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        for (npy_intp j = 0; j <= i; j++) {
            NAME(row_of)(a, i)[j] = (NUMBER)NAN;
        }
    }
}

/* ---- gradients */

GS_CLONES static void
NAME(conjugate)(gs_block to, gs_block from, npy_intp m, npy_intp n)
{
    for (npy_intp i = 0; i < m; i++) {
        for (npy_intp j = 0; j < n; j++) {
            NAME(row_of)(to, i)[j] = CONJUGATE(NAME(row_of)(from, i)[j]);
        }
    }
}

/* A lower triangle with zeros above it. */
static void
NAME(copy_triangle)(gs_block to, gs_block from, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        memcpy(to.data + i * to.row, from.data + i * from.row, sizeof(NUMBER) * (size_t)(i + 1));
        memset(to.data + i * to.row + (i + 1) * (npy_intp)sizeof(NUMBER), 0, sizeof(NUMBER) * (size_t)(n - 1 - i));
    }
}

/* Half of a lower triangle with the other sign; of its diagonal the real part. */
GS_CLONES static void
NAME(halve)(gs_block a, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        NUMBER *row = NAME(row_of)(a, i);
        for (npy_intp j = 0; j < i; j++) {
            row[j] *= (NUMBER)-0.5;
        }
        row[i] = REAL(row[i]) * -(NUMBER)0.5;
    }
}

/* x + y into x, and x + y / 2 into y. */
GS_CLONES static void
NAME(add_both)(gs_block x, gs_block y, npy_intp m, npy_intp n)
{
    for (npy_intp i = 0; i < m; i++) {
        NUMBER *one = NAME(row_of)(x, i), *other = NAME(row_of)(y, i);
        GS_IVDEP
        for (npy_intp j = 0; j < n; j++) {
            NUMBER half = (NUMBER)0.5 * other[j], sum = one[j] + other[j];
            other[j] = one[j] + half;
            one[j] = sum;
        }
    }
}

/* The adjoint of m by n numbers, tile by tile. */
static void
NAME(adjoin)(gs_block to, gs_block from, npy_intp m, npy_intp n)
{
    for (npy_intp top = 0; top < m; top += LEAF) {
        npy_intp bottom = top + LEAF < m ? top + LEAF : m;
        for (npy_intp j = 0; j < n; j++) {
            for (npy_intp i = top; i < bottom; i++) {
                NAME(row_of)(to, j)[i] = CONJUGATE(NAME(row_of)(from, i)[j]);
            }
        }
    }
}

/* Makes a matrix Hermitian by its lower triangle. */
static void
NAME(mirror)(gs_block a, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        for (npy_intp j = 0; j < i; j++) {
            NAME(row_of)(a, j)[i] = CONJUGATE(NAME(row_of)(a, i)[j]);
        }
        NAME(row_of)(a, i)[i] = REAL(NAME(row_of)(a, i)[i]);
    }
}

#undef CONJUGATE
#undef REAL
