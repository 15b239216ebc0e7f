/* The text of groups.c for one type: products with matrices so narrow that they stay in the first cache, packed in panels
 * of as many columns as a vector of 64 bytes has. */

#define LANES ((npy_intp)(PANEL_BYTES / sizeof(REAL)))

#if defined(__GNUC__) || defined(__clang__)
typedef REAL NAME(vector) __attribute__((vector_size(PANEL_BYTES), aligned(sizeof(REAL))));
#define UNROLL _Pragma("GCC unroll 8")
#define VECTOR_LANES 1
#else
typedef REAL NAME(vector);
#define UNROLL
#define VECTOR_LANES LANES
#endif

/* to[i, :] = (adds ? to[i, :] : 0) + sum over k of a[i, k] * panel[k, :], of which `columns` are stored.  Steps are in
 * elements. */
typedef struct {
    const REAL *a;
    npy_intp a_row, a_step, length;
    const REAL *panel;
    REAL *to;
    npy_intp to_row, columns;
} NAME(narrow);

GS_INLINE void
NAME(multiply_tile)(const int height, const int adds, const NAME(narrow) *p, npy_intp row)
{
    const REAL *a = p->a + row * p->a_row;
    const NAME(vector) *panel = (const NAME(vector) *)p->panel;
    REAL *to = p->to + row * p->to_row;
    NAME(vector) sums[TILE_ROWS][VECTOR_LANES];
    UNROLL
    for (int i = 0; i < height; i++) {
        for (int v = 0; v < VECTOR_LANES; v++) {
            sums[i][v] = adds ? ((const NAME(vector) *)(to + i * p->to_row))[v] : (NAME(vector)){0};
        }
    }
    for (npy_intp k = 0; k < p->length; k++, a += p->a_step) {
        UNROLL
        for (int i = 0; i < height; i++) {
            REAL factor = a[i * p->a_row];
            for (int v = 0; v < VECTOR_LANES; v++) {
                sums[i][v] += factor * panel[k * VECTOR_LANES + v];
            }
        }
    }
    if (p->columns < LANES) {
        for (int i = 0; i < height; i++) {
            memcpy(to + i * p->to_row, sums[i], (size_t)p->columns * sizeof(REAL));
        }
        return;
    }
    UNROLL
    for (int i = 0; i < height; i++) {
        for (int v = 0; v < VECTOR_LANES; v++) {
            ((NAME(vector) *)(to + i * p->to_row))[v] = sums[i][v];
        }
    }
}

GS_INLINE void
NAME(multiply_narrow)(const int adds, const NAME(narrow) *p, npy_intp rows)
{
    npy_intp row = 0;
    for (; row + TILE_ROWS <= rows; row += TILE_ROWS) {
        NAME(multiply_tile)(TILE_ROWS, adds, p, row);
    }
    for (; row + 2 <= rows; row += 2) {
        NAME(multiply_tile)(2, adds, p, row);
    }
    if (row < rows) {
        NAME(multiply_tile)(1, adds, p, row);
    }
}

/* A matrix (length, columns) in panels: [panel][k][column], with zeros after the last column.  Steps are in bytes. */
GS_INLINE void
NAME(pack)(REAL *to, const char *from, npy_intp length, npy_intp columns, npy_intp row, npy_intp column)
{
    for (npy_intp first = 0; first < columns; first += LANES) {
        npy_intp here = columns - first < LANES ? columns - first : LANES;
        for (npy_intp k = 0; k < length; k++, to += LANES) {
            const char *at = from + k * row + first * column;
            for (npy_intp i = 0; i < LANES; i++) {
                to[i] = i < here ? *(const REAL *)(at + i * column) : 0;
            }
        }
    }
}

/* For each group a block of rows times its matrix; the matrices are packed one after the other.  A last panel that is not
 * full is stored whole where what comes after it is a group that is yet to be written. */
GS_CLONES static void
NAME(multiply_block)(const gs_groups *job, const char *packed, npy_intp first, npy_intp last)
{
    const npy_intp size = sizeof(REAL);
    const REAL *panel = (const REAL *)packed;
    npy_intp left = job->groups * job->columns; /* of a row of the result */
    for (npy_intp group = 0; group < job->groups; group++) {
        const char *a = job->a + first * job->a_row + group * job->a_group;
        REAL *to = (REAL *)(job->result + first * job->result_row) + group * job->columns;
        for (npy_intp column = 0; column < job->columns; column += LANES, panel += job->inner * LANES) {
            npy_intp here = left - column < LANES ? job->columns - column : LANES;
            NAME(narrow) p = {(const REAL *)a, job->a_row / size, 1, job->inner, panel, to + column,
                              job->result_row / size, here};
            NAME(multiply_narrow)(0, &p, last - first);
        }
        left -= job->columns;
    }
}

/* Adds the outer products of a block of rows, at most MOST_TERMS, to a group's sum, which lies in panels. */
GS_CLONES static void
NAME(sum_block)(const gs_groups *job, char *sums, npy_intp group, npy_intp first, npy_intp last)
{
    const npy_intp size = sizeof(REAL), terms = last - first;
    NAME(vector) packed[MOST_TERMS * (MOST_NARROW / LANES) * VECTOR_LANES];
    NAME(pack)((REAL *)packed, job->b + first * job->b_row + group * job->b_group, terms, job->columns, job->b_row, size);
    const REAL *panel = (const REAL *)packed;
    const char *a = job->a + first * job->a_row + group * job->a_group;
    REAL *to = (REAL *)sums;
    for (npy_intp column = 0; column < job->columns; column += LANES, panel += terms * LANES, to += job->inner * LANES) {
        NAME(narrow) p = {(const REAL *)a, 1, job->a_row / size, terms, panel, to, LANES, LANES};
        NAME(multiply_narrow)(1, &p, job->inner);
    }
}

/* The inverse of `pack`, for rows side by side. */
static void
NAME(unpack)(REAL *to, const REAL *from, npy_intp length, npy_intp columns)
{
    for (npy_intp first = 0; first < columns; first += LANES) {
        npy_intp here = columns - first < LANES ? columns - first : LANES;
        for (npy_intp k = 0; k < length; k++, from += LANES) {
            memcpy(to + k * columns + first, from, (size_t)here * sizeof(REAL));
        }
    }
}

static void
NAME(pack_matrices)(const gs_groups *job, char *packed)
{
    npy_intp matrix = job->inner * ((job->columns + LANES - 1) / LANES * LANES);
    for (npy_intp group = 0; group < job->groups; group++) {
        NAME(pack)((REAL *)packed + group * matrix, job->b + group * job->b_group, job->inner, job->columns, job->b_row,
                   job->b_column);
    }
}

#undef LANES
#undef UNROLL
#undef VECTOR_LANES
