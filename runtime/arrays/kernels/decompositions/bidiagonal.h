/* Note [Bidiagonal matrices]
 *
 * Reflections of columns and of rows by turns leave a diagonal and what is above it, as in LAPACK's dgebrd.  A panel of
 * PANEL columns keeps the matrix as it was and what is to be subtracted from it,
 *
 *     now = then - the sum of l r^T,      two for each column:  l = v, r = y   and   l = x, r = u
 *
 * with the reflected column v and row u,  y = factor now^T v  and  x = factor now u.  After the panel all is subtracted
 * from the rest by one product.  Half of the work are the products with vectors, which read the matrix again and again.
 * Here it is read once a column instead of twice (Howell, Demmel, Fulton, Hammarling, Marmol, 2008): as soon as some
 * numbers of y are known, so are those of the row, which multiply the same columns while these are in the cache.  The row
 * has not been reflected then; with u = (row - multiple e) / (first - multiple), a multiple of one column is subtracted
 * afterwards.
 */
#define PANEL 32
#define SIDES (2 * PANEL) /* vectors on each side: two for each column of a panel */
#define BOTH 4            /* columns that are multiplied in both ways at once */

/* A = Q B P^T for m by n numbers, m >= n. The columns of A are rows here, row_step(m) numbers apart, and are used up. B
 * has n numbers on its diagonal and n - 1 above it. Vectors of reflections are rows too, as far apart as their sizes
 * demand: n `left` ones of m numbers, the product of which is Q, and n `right` ones of n numbers with P; so many factors
 * have both. */
typedef struct {
    NUMBER *columns;
    npy_intp m, n;
    NUMBER *diagonal, *above;
    NUMBER *left, *left_factors;
    NUMBER *right, *right_factors;
} bidiagonal;

/* What is to be subtracted from the matrix, as rows: `left` of m numbers, `right` of n, so many of each. */
typedef struct {
    npy_intp m, n;             /* from one row to the next */
    NUMBER *left, *right;
    npy_intp count;
    NUMBER *row;               /* n: the row of the matrix as it is now */
    NUMBER *product;           /* m: the matrix then, times the row */
    NUMBER sums[SIDES], factors[SIDES];
} panel;

/* The numbers of memory that reduce_to_bidiagonal needs. */
static npy_intp
memory_to_reduce(npy_intp m, npy_intp n)
{
    return (SIDES + 1) * (row_step(m) + row_step(n));
}

static panel
panel_in(NUMBER *memory, const bidiagonal *a)
{
    panel p = {.m = row_step(a->m), .n = row_step(a->n), .left = memory};
    p.right = p.left + SIDES * p.m;
    p.row = p.right + SIDES * p.n;
    p.product = p.row + p.n;
    return p;
}

/* A vector with zeros before what it reflects. */
static void
copy_reflection(NUMBER *vector, const NUMBER *from, npy_intp start, npy_intp n)
{
    memset(vector, 0, bytes(start));
    memcpy(vector + start, from + start, bytes(n - start));
}

/* ---- steps of one column */

/* The column as it is now becomes a reflection. */
static void
reflect_column(const bidiagonal *a, panel *p, npy_intp c)
{
    NUMBER *column = a->columns + c * p->m, *v = a->left + c * p->m;
    npy_intp line = line_of(c);
    for (npy_intp r = 0; r < p->count; r++) {
        p->factors[r] = p->right[r * p->n + c];
    }
    subtract_sum(column + line, p->factors, p->left + line, p->count, p->m, a->m - line);
    a->diagonal[c] = reflect(column + c, a->m - c, a->left_factors + c);
    copy_reflection(v, column, c, a->m);
    memcpy(p->left + p->count * p->m, v, bytes(a->m));
}

/* Of columns from c + 1 on: the next y, the row c, and the product with it. On entry y has what is to be subtracted from
 * the products with v, and the row what is to be subtracted from it. */
static void
multiply_both_ways(const bidiagonal *a, panel *p, NUMBER *y, npy_intp c)
{
    npy_intp line = line_of(c), rest = a->m - line;
    const NUMBER *v = a->left + c * p->m + line;
    memset(p->product + line, 0, bytes(rest));
    for (npy_intp j = c + 1; j < a->n; j += BOTH) {
        npy_intp count = least(a->n - j, BOTH);
        const NUMBER *columns = a->columns + j * p->m;
        NUMBER products[BOTH], negative[BOTH];
        dots(products, columns + line, count, p->m, v, rest);
        for (npy_intp i = 0; i < count; i++) {
            y[j + i] = a->left_factors[c] * (products[i] - y[j + i]);
            p->row[j + i] = columns[i * p->m + c] - p->row[j + i] - y[j + i];
            negative[i] = -p->row[j + i];
        }
        subtract_sum(p->product + line, negative, columns + line, count, p->m, rest);
    }
}

/* y of the column that was reflected, the row as it is now, and the matrix then times this row. */
static void
multiply_column(const bidiagonal *a, panel *p, npy_intp c)
{
    NUMBER *y = p->right + p->count * p->n;
    npy_intp line = line_of(c), right = line_of(c + 1), rest = a->n - right;
    dots(p->sums, p->left + line, p->count, p->m, a->left + c * p->m + line, a->m - line);
    for (npy_intp r = 0; r < p->count; r++) {
        p->sums[r] = -p->sums[r];
        p->factors[r] = -p->left[r * p->m + c];
    }
    memset(y, 0, bytes(a->n));
    memset(p->row, 0, bytes(a->n));
    subtract_sum(y + right, p->sums, p->right + right, p->count, p->n, rest);
    subtract_sum(p->row + right, p->factors, p->right + right, p->count, p->n, rest);
    multiply_both_ways(a, p, y, c);
    p->count++;
}

/* The matrix then times the row becomes that times its reflection. */
GS_CLONES static void
subtract_first(NUMBER *product, const NUMBER *column, NUMBER multiple, NUMBER difference, npy_intp n)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        product[i] = (product[i] - multiple * column[i]) / difference;
    }
}

/* The row becomes a reflection u, and x the matrix now times it. */
static void
reflect_row(const bidiagonal *a, panel *p, npy_intp c)
{
    npy_intp start = c + 1, line = line_of(start), below = a->m - line;
    NUMBER *x = p->left + p->count * p->m, first = p->row[start], *u = a->right + c * p->n;
    NUMBER multiple = reflect(p->row + start, a->n - start, a->right_factors + c);
    a->above[c] = multiple;
    copy_reflection(u, p->row, start, a->n);
    memset(x, 0, bytes(a->m));
    if (a->right_factors[c] != 0) {
        memcpy(x + line, p->product + line, bytes(below));
        subtract_first(x + line, a->columns + start * p->m + line, multiple, first - multiple, below);
        dots(p->sums, p->right + line, p->count, p->n, u + line, a->n - line);
        subtract_sum(x + line, p->sums, p->left + line, p->count, p->m, below);
        multiply(x + line, a->right_factors[c], below);
        memset(x + line, 0, bytes(start - line));
    }
    memcpy(p->right + p->count * p->n, u, bytes(a->n));
    p->count++;
}

/* ---- all columns */

static void
reduce_panel(const bidiagonal *a, panel *p, npy_intp first, npy_intp last)
{
    p->count = 0;
    for (npy_intp c = first; c < last; c++) {
        reflect_column(a, p, c);
        if (c + 1 < a->n) {
            multiply_column(a, p, c);
            reflect_row(a, p, c);
        }
    }
}

/* What the panel before column `last` leaves to be subtracted from the columns from there on. */
static void
subtract_panel(const gs_algebra *algebra, const bidiagonal *a, const panel *p, npy_intp last)
{
    gs_block rest = block_at(a->columns + last * p->m + last, p->m);
    gs_block right = gs_turned(block_at(p->right + last, p->n)), left = block_at(p->left + last, p->m);
    gs_subtract_product(algebra, rest, right, left, a->n - last, p->count, a->m - last);
}

/* There is no reflection of the last row; its factor is zero. */
static void
set_last_row(const bidiagonal *a, npy_intp step)
{
    NUMBER *u = a->right + (a->n - 1) * step;
    memset(u, 0, bytes(a->n));
    u[a->n - 1] = 1;
    a->right_factors[a->n - 1] = 0;
}

static void
reduce_to_bidiagonal(const gs_algebra *algebra, const bidiagonal *a, NUMBER *memory)
{
    panel p = panel_in(memory, a);
    for (npy_intp first = 0; first < a->n; first += PANEL) {
        npy_intp last = least(first + PANEL, a->n);
        reduce_panel(a, &p, first, last);
        if (last < a->n) {
            subtract_panel(algebra, a, &p, last);
        }
    }
    set_last_row(a, p.n);
}

#undef PANEL
