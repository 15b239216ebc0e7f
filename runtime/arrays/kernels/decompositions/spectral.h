/* Note [Large decompositions]
 *
 * NumPy's eigh and svd spend more than half of their time around the part that is intricate, the divide and conquer of
 * LAPACK: on reducing the matrix before it, and behind it on turning the vectors that it found.  Here LAPACK does what is
 * intricate, and reduces symmetric matrices, which it does well; the rest are blocks of reflections and products of our
 * own: Note [Reflections], Note [Bidiagonal matrices].
 *
 * One matrix is done after the other, since the products inside use all threads.
 */
#define LAPACK_BLOCK 64 /* columns that sytrd has memory for */

typedef void (*sytrd_function)(const char *uplo, const int64_t *n, NUMBER *a, const int64_t *lda, NUMBER *d, NUMBER *e,
                               NUMBER *tau, NUMBER *work, const int64_t *lwork, int64_t *info, size_t);
typedef void (*stedc_function)(const char *compz, const int64_t *n, NUMBER *d, NUMBER *e, NUMBER *z, const int64_t *ldz,
                               NUMBER *work, const int64_t *lwork, int64_t *iwork, const int64_t *liwork, int64_t *info,
                               size_t);
typedef void (*bdsdc_function)(const char *uplo, const char *compq, const int64_t *n, NUMBER *d, NUMBER *e, NUMBER *u,
                               const int64_t *ldu, NUMBER *vt, const int64_t *ldvt, NUMBER *q, int64_t *iq, NUMBER *work,
                               int64_t *iwork, int64_t *info, size_t, size_t);

/* As integers, since loops over those use vectors: without a sign, numbers and their bits have the same order. */
GS_CLONES static double
greatest_of(const NUMBER *a, npy_intp size)
{
    BITS greatest = 0;
    for (npy_intp i = 0; i < size; i++) {
        BITS bits;
        memcpy(&bits, a + i, sizeof(bits));
        bits &= MAGNITUDE_BITS;
        greatest = bits > greatest ? bits : greatest;
    }
    NUMBER found;
    memcpy(&found, &greatest, sizeof(found));
    return (double)found;
}

/* The power of two by which a matrix is multiplied, so that squares neither overflow nor vanish. */
static NUMBER
scale_of(const NUMBER *a, npy_intp size)
{
    double greatest = greatest_of(a, size);
    int exponent;
    if (greatest == 0 || (greatest >= LEAST_MAGNITUDE && greatest <= MOST_MAGNITUDE)) {
        return 1;
    }
    frexp(greatest, &exponent);
    return (NUMBER)ldexp(1, Py_MAX(-MOST_EXPONENT, Py_MIN(MOST_EXPONENT, -exponent)));
}

static void
multiply_unless_one(NUMBER *x, NUMBER factor, npy_intp n)
{
    if (factor != 1) {
        multiply(x, factor, n);
    }
}

/* Numbers that so many integers of LAPACK's take, up to where a cache line begins. */
static npy_intp
numbers_for(npy_intp integers)
{
    return row_step(integers * (npy_intp)(sizeof(int64_t) / sizeof(NUMBER)));
}

/* ---- symmetric matrices */

typedef struct {
    NUMBER *reduced, *rows; /* n by n: what sytrd makes of the matrix, and the eigenvectors as rows */
    NUMBER *beside, *factors;
    NUMBER *work;
    npy_intp work_size;
    int64_t *integers;
} eigen_memory;

static PyObject *
take_eigen_memory(eigen_memory *m, npy_intp n)
{
    npy_intp integers = numbers_for(5 * n + 3), work_size = n * n + LAPACK_BLOCK * n + 4 * n + 1;
    void *memory;
    PyObject *array = gs_work_memory(
        (npy_intp)bytes(integers + 2 * n * n + 2 * n + work_size + memory_to_turn(n)), &memory);
    if (array != NULL) {
        *m = (eigen_memory){.integers = memory, .work_size = work_size};
        m->reduced = (NUMBER *)memory + integers;
        m->rows = m->reduced + n * n;
        m->work = m->rows + n * n;
        m->beside = m->work + work_size + memory_to_turn(n);
        m->factors = m->beside + n;
    }
    return array;
}

/* The vectors of the reflections that sytrd leaves below the diagonal. */
static void
copy_reflections(const NUMBER *reduced, NUMBER *vectors, npy_intp n)
{
    for (npy_intp i = 0; i + 1 < n; i++) {
        NUMBER *v = vectors + i * n;
        memset(v, 0, bytes(i + 1));
        v[i + 1] = 1;
        memcpy(v + i + 2, reduced + i * n + i + 2, bytes(n - i - 2));
    }
}

static int
find_eigenvectors(const gs_algebra *algebra, const gs_lapack *lapack, const eigen_memory *m, NUMBER *values,
                  npy_intp size, int with_vectors)
{
    const sytrd_function reduce = (sytrd_function)lapack->sytrd;
    const stedc_function solve = (stedc_function)lapack->stedc;
    const int64_t n = size, lwork = m->work_size, liwork = 5 * n + 3;
    int64_t info = 0;
    reduce("L", &n, m->reduced, &n, values, m->beside, m->factors, m->work, &lwork, &info, 1);
    solve(with_vectors ? "I" : "N", &n, values, m->beside, m->rows, &n, m->work, &lwork, m->integers, &liwork, &info, 1);
    if (info != 0 || !with_vectors) {
        return info == 0;
    }
    copy_reflections(m->reduced, m->work, n);
    reflections h = {m->work, m->factors, n - 1, n, n};
    turn_rows(algebra, h, m->rows, n, n, 1, m->work + n * n);
    return 1;
}

/* Matrices of one call, or those that are left of them. */
typedef struct {
    const NUMBER *a;
    NUMBER *values, *vectors;
    npy_intp count, n;
} symmetric;

static npy_intp
decompose_symmetric(const gs_algebra *algebra, const eigen_memory *m, symmetric s)
{
    const gs_lapack *lapack = gs_lapack_of_numpy(TYPE);
    npy_intp n = s.n, i = 0;
    for (; i < s.count; i++, s.a += n * n, s.values += n) {
        NUMBER scale = scale_of(s.a, n * n);
        memcpy(m->reduced, s.a, bytes(n * n));
        multiply_unless_one(m->reduced, scale, n * n);
        if (!find_eigenvectors(algebra, lapack, m, s.values, n, s.vectors != NULL)) {
            break;
        }
        multiply_unless_one(s.values, 1 / scale, n);
        if (s.vectors != NULL) {
            transpose(m->rows, n, s.vectors, n, n, n);
            s.vectors += n * n;
        }
    }
    return i;
}

npy_intp
DECOMPOSITION(eigh)(const void *a, void *values, void *vectors, npy_intp count, npy_intp n)
{
    gs_algebra algebra;
    eigen_memory memory;
    if (gs_begin_algebra(&algebra, TYPE) < 0) {
        return -1;
    }
    PyObject *array = take_eigen_memory(&memory, n);
    if (array == NULL) {
        return -1;
    }
    npy_intp done;
    Py_BEGIN_ALLOW_THREADS;
    done = decompose_symmetric(&algebra, &memory, (symmetric){a, values, vectors, count, n});
    Py_END_ALLOW_THREADS;
    gs_array_release(array);
    return done;
}

/* ---- singular values */

typedef struct {
    bidiagonal a;
    NUMBER *found_left, *found_right; /* singular vectors of the bidiagonal matrix, as rows, and as columns */
    NUMBER *work;                     /* of the reduction, of LAPACK and of turning, one after the other */
    int64_t *integers;
} singular_memory;

static PyObject *
take_singular_memory(singular_memory *s, npy_intp m, npy_intp n, npy_intp left)
{
    npy_intp row = row_step(m), column = row_step(n), integers = numbers_for(8 * n), conquest = 3 * n * n + 4 * n;
    npy_intp work = Py_MAX(Py_MAX(memory_to_reduce(m, n), conquest), memory_to_turn(Py_MAX(left, n)));
    void *memory;
    PyObject *array = gs_work_memory(
        (npy_intp)bytes(integers + (2 * n + left) * row + 2 * n * column + 3 * column + work), &memory);
    if (array != NULL) {
        NUMBER *next = (NUMBER *)memory + integers;
        s->integers = memory;
        s->a = (bidiagonal){.m = m, .n = n, .columns = next};
        s->a.left = next += n * row;
        s->found_left = next += n * row;
        s->a.right = next += left * row;
        s->found_right = next += n * column;
        s->a.above = next += n * column;
        s->a.left_factors = next += column;
        s->a.right_factors = next += column;
        s->work = next + column;
    }
    return array;
}

/* The vectors of the matrix from those of the bidiagonal one. */
static void
turn_vectors(const gs_algebra *algebra, const singular_memory *s, NUMBER *u, NUMBER *vh, npy_intp left)
{
    npy_intp m = s->a.m, n = s->a.n, row = row_step(m);
    reflections of_columns = {s->a.left, s->a.left_factors, n, m, row};
    reflections of_rows = {s->a.right, s->a.right_factors, n, n, row_step(n)};
    turn_rows(algebra, of_columns, s->found_left, left, row, 1, s->work);
    transpose(s->found_left, row, u, left, left, m);
    transpose(s->found_right, n, vh, n, n, n);
    turn_rows(algebra, of_rows, vh, n, n, 1, s->work);
}

static int
find_singular_vectors(const gs_algebra *algebra, const gs_lapack *lapack, const singular_memory *s, NUMBER *u,
                      NUMBER *vh, npy_intp left)
{
    const bdsdc_function solve = (bdsdc_function)lapack->bdsdc;
    const int64_t n = s->a.n, row = row_step(s->a.m), one = 1;
    int64_t info = 0;
    NUMBER nothing;
    reduce_to_bidiagonal(algebra, &s->a, s->work);
    if (u == NULL) {
        solve("U", "N", &n, s->a.diagonal, s->a.above, &nothing, &one, &nothing, &one, NULL, NULL, s->work, s->integers,
              &info, 1, 1);
        return info == 0;
    }
    memset(s->found_left, 0, bytes(left * row));
    for (npy_intp i = n; i < left; i++) {
        s->found_left[i * row + i] = 1; /* further vectors are whatever the reflections make of the unit vectors */
    }
    solve("U", "I", &n, s->a.diagonal, s->a.above, s->found_left, &row, s->found_right, &n, NULL, NULL, s->work, s->integers,
          &info, 1, 1);
    if (info == 0) {
        turn_vectors(algebra, s, u, vh, left);
    }
    return info == 0;
}

/* Matrices of one call, or those that are left of them. */
typedef struct {
    const NUMBER *a;
    NUMBER *u, *values, *vh;
    npy_intp count, left;
} rectangular;

static npy_intp
decompose(const gs_algebra *algebra, singular_memory *s, rectangular r)
{
    const gs_lapack *lapack = gs_lapack_of_numpy(TYPE);
    npy_intp m = s->a.m, n = s->a.n, row = row_step(m), i = 0;
    for (; i < r.count; i++, r.a += m * n, r.values += n) {
        NUMBER scale = scale_of(r.a, m * n);
        s->a.diagonal = r.values;
        transpose(r.a, n, s->a.columns, row, m, n);
        multiply_unless_one(s->a.columns, scale, row * n);
        if (!find_singular_vectors(algebra, lapack, s, r.u, r.vh, r.left)) {
            break;
        }
        multiply_unless_one(r.values, 1 / scale, n);
        if (r.u != NULL) {
            r.u += m * r.left;
            r.vh += n * n;
        }
    }
    return i;
}

npy_intp
DECOMPOSITION(svd)(const void *a, void *u, void *values, void *vh, npy_intp count, npy_intp m, npy_intp n, npy_intp left)
{
    gs_algebra algebra;
    singular_memory memory;
    if (gs_begin_algebra(&algebra, TYPE) < 0) {
        return -1;
    }
    PyObject *array = take_singular_memory(&memory, m, n, left);
    if (array == NULL) {
        return -1;
    }
    npy_intp done;
    Py_BEGIN_ALLOW_THREADS;
    done = decompose(&algebra, &memory, (rectangular){a, u, values, vh, count, left});
    Py_END_ALLOW_THREADS;
    gs_array_release(array);
    return done;
}
