/* The text of lu.c for one type: elimination in a panel, whose rows are PANEL numbers. */

#define VECTORS (PANEL / LANES)

#if LANES > 1
#if FACTOR_TYPE == 0
typedef int32_t NAME(mask) __attribute__((vector_size(32)));
#else
typedef int64_t NAME(mask) __attribute__((vector_size(32)));
#endif
#endif

/* The row with the largest number of a column, the first of equal ones; a NaN at the beginning stays. */
GS_INLINE npy_intp
NAME(largest)(const NUMBER *panel, npy_intp m, npy_intp k)
{
    npy_intp best = k;
    double size = MAGNITUDE(panel[k * PANEL + k]);
    for (npy_intp i = k + 1; i < m; i++) {
        double here = MAGNITUDE(panel[i * PANEL + k]);
        if (here > size) {
            size = here, best = i;
        }
    }
    return best;
}

GS_INLINE void
NAME(exchange)(NUMBER *panel, npy_intp i, npy_intp k)
{
    NUMBER kept[PANEL];
    memcpy(kept, panel + i * PANEL, sizeof kept);
    memcpy(panel + i * PANEL, panel + k * PANEL, sizeof kept);
    memcpy(panel + k * PANEL, kept, sizeof kept);
}

/* By multiplication where the reciprocal is as exact as any number. */
GS_INLINE NUMBER
NAME(factor_of)(NUMBER number, NUMBER pivot, NUMBER reciprocal)
{
#if LANES > 1
    return reciprocal != 0 ? number * reciprocal : number / pivot;
#else
    (void)reciprocal;
    return number / pivot;
#endif
}

/* A row less `factor` times the pivot's row, behind column k; numbers before it stay, whatever the factor is. */
#if LANES > 1
GS_INLINE void
NAME(eliminate_row)(NUMBER *row, const NUMBER *pivot_row, NUMBER factor, npy_intp k, const NAME(mask) *behind)
{
    (void)k;
    for (int v = 0; v < VECTORS; v++) {
        NAME(vector) old = ((const NAME(unaligned) *)row)[v];
        NAME(vector) new = old - factor * ((const NAME(unaligned) *)pivot_row)[v];
        ((NAME(unaligned) *)row)[v] = (NAME(vector))(((NAME(mask))new & behind[v]) | ((NAME(mask))old & ~behind[v]));
    }
}
#else
GS_INLINE void
NAME(eliminate_row)(NUMBER *row, const NUMBER *pivot_row, NUMBER factor, npy_intp k, const void *behind)
{
    (void)behind;
    for (npy_intp j = k + 1; j < PANEL; j++) {
        SUBTRACT(row[j], factor, pivot_row[j]);
    }
}
#endif

/* Eliminates column k from the rows below row k, and gives the row with the largest number of the next column. */
GS_INLINE npy_intp
NAME(eliminate_column)(NUMBER *panel, npy_intp m, npy_intp k)
{
    const NUMBER *pivot_row = panel + k * PANEL;
    NUMBER pivot = pivot_row[k], reciprocal = 0;
#if LANES > 1
    NAME(mask) behind[VECTORS] = {0};
    for (int j = 0; j < PANEL; j++) {
        behind[j / LANES][j % LANES] = j > k ? -1 : 0;
    }
    reciprocal = MAGNITUDE(pivot) >= LEAST ? 1 / pivot : 0;
#else
    const void *behind = NULL;
#endif
    npy_intp best = k + 1, next = k + 1 < PANEL ? k + 1 : k;
    double size = -1;
    for (npy_intp i = k + 1; i < m; i++) {
        NUMBER *row = panel + i * PANEL, factor = NAME(factor_of)(row[k], pivot, reciprocal);
        NAME(eliminate_row)(row, pivot_row, factor, k, behind);
        row[k] = factor;
        double here = MAGNITUDE(row[next]);
        if (here > size || i == k + 1) {
            size = here, best = i;
        }
    }
    return best;
}

GS_CLONES static void
NAME(eliminate)(NUMBER *panel, npy_int32 *pivots, npy_intp m, npy_intp n)
{
    npy_intp best = m > 0 ? NAME(largest)(panel, m, 0) : 0;
    for (npy_intp k = 0; k < m && k < n; k++) {
        pivots[k] = (npy_int32)(best + 1);
        if (best != k) {
            NAME(exchange)(panel, best, k);
        }
        if (panel[k * PANEL + k] != 0) {
            best = NAME(eliminate_column)(panel, m, k);
        } else if (k + 1 < m && k + 1 < n) {
            best = NAME(largest)(panel, m, k + 1);
        }
    }
}

static void
NAME(factor_panel)(gs_block a, npy_int32 *pivots, npy_intp m, npy_intp n, void *memory)
{
    NUMBER *panel = memory;
    for (npy_intp i = 0; i < m; i++) {
        memcpy(panel + i * PANEL, a.data + i * a.row, sizeof(NUMBER) * (size_t)n);
        memset(panel + i * PANEL + n, 0, sizeof(NUMBER) * (size_t)(PANEL - n));
    }
    NAME(eliminate)(panel, pivots, m, n);
    for (npy_intp i = 0; i < m; i++) {
        memcpy(a.data + i * a.row, panel + i * PANEL, sizeof(NUMBER) * (size_t)n);
    }
}

/* The columns of a matrix in another order. */
static void
NAME(permute_columns)(NUMBER *a, const npy_intp *places, npy_intp n, NUMBER *row)
{
    for (npy_intp i = 0; i < n; i++) {
        memcpy(row, a + i * n, sizeof(NUMBER) * (size_t)n);
        for (npy_intp j = 0; j < n; j++) {
            a[i * n + j] = row[places[j]];
        }
    }
}

static void
NAME(set_unit)(gs_block x, npy_intp n)
{
    for (npy_intp i = 0; i < n; i++) {
        memset(x.data + i * x.row, 0, sizeof(NUMBER) * (size_t)n);
        ((NUMBER *)(x.data + i * x.row))[i] = 1;
    }
}

#undef VECTORS
