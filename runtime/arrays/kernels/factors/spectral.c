/* Note [Large decompositions]
 *
 * NumPy's eigh and svd spend more than half of their time around the part that is intricate, the divide and conquer of
 * LAPACK: on reducing the matrix before it, and behind it on turning the vectors that it found.  Here LAPACK does what is
 * intricate, and reduces symmetric matrices, which it does well; the rest are blocks of reflections and products of our
 * own: Note [Reflections], Note [Bidiagonal matrices].
 *
 * One matrix is done after the other, since the products inside use all threads.
 */
#include "factors/spectral.h"
#include "factors/bidiagonal.h"
#include "factors/lapack.h"
#include "factors/reflections.h"
#include "factors/rows.h"
#include "kernels.h"
#include "support/simd.h"

#define LAPACK_BLOCK 64 /* columns that sytrd has memory for */
#define LEAST_MAGNITUDE 1e-130
#define MOST_MAGNITUDE 1e130

int
gs_can_decompose(void)
{
    return gs_lapack_of_numpy() != NULL;
}

static size_t
bytes(npy_intp numbers)
{
    return sizeof(double) * (size_t)numbers;
}

GS_CLONES static double
greatest_of(const double *a, npy_intp size)
{
    double greatest = 0;
    for (npy_intp i = 0; i < size; i++) {
        greatest = fabs(a[i]) > greatest ? fabs(a[i]) : greatest;
    }
    return greatest;
}

/* The power of two by which a matrix is multiplied, so that squares neither overflow nor vanish. */
static double
scale_of(const double *a, npy_intp size)
{
    double greatest = greatest_of(a, size);
    int exponent;
    if (greatest == 0 || (greatest >= LEAST_MAGNITUDE && greatest <= MOST_MAGNITUDE)) {
        return 1;
    }
    frexp(greatest, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

GS_CLONES static void
multiply(double *x, double factor, npy_intp n)
{
    if (factor == 1) {
        return;
    }
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

/* ---- symmetric matrices */

typedef struct {
    double *reduced, *rows; /* n by n: what sytrd makes of the matrix, and the eigenvectors as rows */
    double *beside, *factors;
    double *work;
    npy_intp work_size;
    int64_t *integers;
} eigen_memory;

static PyObject *
take_eigen_memory(eigen_memory *m, npy_intp n)
{
    npy_intp work_size = n * n + LAPACK_BLOCK * n + 4 * n + 1;
    double *memory;
    PyObject *array = gs_work_memory(2 * n * n + 2 * n + work_size + gs_memory_to_turn(n) + 5 * n + 3, &memory);
    if (array != NULL) {
        *m = (eigen_memory){.reduced = memory, .rows = memory + n * n, .work_size = work_size};
        m->work = m->rows + n * n;
        m->beside = m->work + work_size + gs_memory_to_turn(n);
        m->factors = m->beside + n;
        m->integers = (int64_t *)(m->factors + n);
    }
    return array;
}

/* The vectors of the reflections that sytrd leaves below the diagonal. */
static void
copy_reflections(const double *reduced, double *vectors, npy_intp n)
{
    for (npy_intp i = 0; i + 1 < n; i++) {
        double *v = vectors + i * n;
        memset(v, 0, bytes(i + 1));
        v[i + 1] = 1;
        memcpy(v + i + 2, reduced + i * n + i + 2, bytes(n - i - 2));
    }
}

static int
find_eigenvectors(const gs_algebra *algebra, const gs_lapack *lapack, const eigen_memory *m, double *values, npy_intp size)
{
    const int64_t n = size, lwork = m->work_size, liwork = 5 * n + 3;
    int64_t info = 0;
    lapack->sytrd("L", &n, m->reduced, &n, values, m->beside, m->factors, m->work, &lwork, &info, 1);
    lapack->stedc("I", &n, values, m->beside, m->rows, &n, m->work, &lwork, m->integers, &liwork, &info, 1);
    if (info != 0) {
        return 0;
    }
    copy_reflections(m->reduced, m->work, n);
    gs_reflections h = {m->work, m->factors, n - 1, n, n};
    gs_turn_rows(algebra, h, m->rows, n, n, 1, m->work + n * n);
    return 1;
}

/* Matrices of one call, or those that are left of them. */
typedef struct {
    const double *a;
    double *values, *vectors;
    npy_intp count, n;
} symmetric;

static npy_intp
decompose_symmetric(const gs_algebra *algebra, const eigen_memory *m, symmetric s)
{
    const gs_lapack *lapack = gs_lapack_of_numpy();
    npy_intp n = s.n, i = 0;
    for (; i < s.count; i++, s.a += n * n, s.values += n, s.vectors += n * n) {
        double scale = scale_of(s.a, n * n);
        memcpy(m->reduced, s.a, bytes(n * n));
        multiply(m->reduced, scale, n * n);
        if (!find_eigenvectors(algebra, lapack, m, s.values, n)) {
            break;
        }
        multiply(s.values, 1 / scale, n);
        gs_transpose_rows(m->rows, n, s.vectors, n, n, n);
    }
    return i;
}

npy_intp
gs_eigh(const double *a, double *values, double *vectors, npy_intp count, npy_intp n)
{
    gs_algebra algebra;
    eigen_memory memory;
    if (gs_begin_algebra(&algebra, NPY_FLOAT64) < 0) {
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
    gs_bidiagonal a;
    double *found_left, *found_right; /* singular vectors of the bidiagonal matrix, as rows, and as columns */
    double *work;                     /* of the reduction, of LAPACK and of turning, one after the other */
    int64_t *integers;
} singular_memory;

static PyObject *
take_singular_memory(singular_memory *s, npy_intp m, npy_intp n, npy_intp left)
{
    npy_intp row = gs_row_step(m), column = gs_row_step(n), conquest = 3 * n * n + 4 * n;
    npy_intp work = Py_MAX(Py_MAX(gs_memory_to_reduce(m, n), conquest), gs_memory_to_turn(Py_MAX(left, n)));
    double *next;
    PyObject *array = gs_work_memory((2 * n + left) * row + 2 * n * column + 3 * column + work + 8 * n, &next);
    if (array != NULL) {
        s->a = (gs_bidiagonal){.m = m, .n = n, .columns = next};
        s->a.left = next += n * row;
        s->found_left = next += n * row;
        s->a.right = next += left * row;
        s->found_right = next += n * column;
        s->a.above = next += n * column;
        s->a.left_factors = next += column;
        s->a.right_factors = next += column;
        s->work = next += column;
        s->integers = (int64_t *)(next + work);
    }
    return array;
}

/* The vectors of the matrix from those of the bidiagonal one. */
static void
turn_vectors(const gs_algebra *algebra, const singular_memory *s, double *u, double *vh, npy_intp left)
{
    npy_intp m = s->a.m, n = s->a.n, row = gs_row_step(m);
    gs_reflections of_columns = {s->a.left, s->a.left_factors, n, m, row};
    gs_reflections of_rows = {s->a.right, s->a.right_factors, n, n, gs_row_step(n)};
    gs_turn_rows(algebra, of_columns, s->found_left, left, row, 1, s->work);
    gs_transpose_rows(s->found_left, row, u, left, left, m);
    gs_transpose_rows(s->found_right, n, vh, n, n, n);
    gs_turn_rows(algebra, of_rows, vh, n, n, 1, s->work);
}

static int
find_singular_vectors(const gs_algebra *algebra, const gs_lapack *lapack, const singular_memory *s, double *u, double *vh,
                      npy_intp left)
{
    const int64_t n = s->a.n, row = gs_row_step(s->a.m), one = 1;
    int64_t info = 0;
    double nothing;
    gs_reduce_to_bidiagonal(algebra, &s->a, s->work);
    if (u == NULL) {
        lapack->bdsdc("U", "N", &n, s->a.diagonal, s->a.above, &nothing, &one, &nothing, &one, NULL, NULL, s->work,
                      s->integers, &info, 1, 1);
        return info == 0;
    }
    memset(s->found_left, 0, bytes(left * row));
    for (npy_intp i = n; i < left; i++) {
        s->found_left[i * row + i] = 1; /* further vectors are whatever the reflections make of the unit vectors */
    }
    lapack->bdsdc("U", "I", &n, s->a.diagonal, s->a.above, s->found_left, &row, s->found_right, &n, NULL, NULL, s->work,
                  s->integers, &info, 1, 1);
    if (info == 0) {
        turn_vectors(algebra, s, u, vh, left);
    }
    return info == 0;
}

/* Matrices of one call, or those that are left of them. */
typedef struct {
    const double *a;
    double *u, *values, *vh;
    npy_intp count, left;
} rectangular;

static npy_intp
decompose(const gs_algebra *algebra, singular_memory *s, rectangular r)
{
    const gs_lapack *lapack = gs_lapack_of_numpy();
    npy_intp m = s->a.m, n = s->a.n, row = gs_row_step(m), i = 0;
    for (; i < r.count; i++, r.a += m * n, r.values += n) {
        double scale = scale_of(r.a, m * n);
        s->a.diagonal = r.values;
        gs_transpose_rows(r.a, n, s->a.columns, row, m, n);
        multiply(s->a.columns, scale, row * n);
        if (!find_singular_vectors(algebra, lapack, s, r.u, r.vh, r.left)) {
            break;
        }
        multiply(r.values, 1 / scale, n);
        if (r.u != NULL) {
            r.u += m * r.left;
            r.vh += n * n;
        }
    }
    return i;
}

npy_intp
gs_svd(const double *a, double *u, double *values, double *vh, npy_intp count, npy_intp m, npy_intp n, npy_intp left)
{
    gs_algebra algebra;
    singular_memory memory;
    if (gs_begin_algebra(&algebra, NPY_FLOAT64) < 0) {
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
