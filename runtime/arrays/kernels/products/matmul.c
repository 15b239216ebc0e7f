/* Matrix products.
 *
 * All of them end in gemm(): one product of strided matrices.  It is NumPy's own matmul loop, which calls BLAS and takes a
 * transposed operand as swapped strides; products that BLAS is bad at have kernels of their own: vectors and outer products
 * in gemv.c, small matrices in small_products.c.
 */
#include "products/blas.h"
#include "products/dots.h"
#include "products/gemm.h"
#include "products/gemv.h"
#include "products/matmul.h"
#include "products/narrow.h"
#include "products/small_products.h"
#include "support/array_cache.h"
#include "support/loops.h"
#include "support/meta.h"
#include "support/promotion.h"
#include "support/simd.h"
#include "threads/thread_pool.h"
#include "walks/assign.h"

/* Multiplications in a product from which on BLAS may use threads of its own, so that ours had better not. */
#define BLAS_THREADS_FROM 262144.0

/* Multiplications from which on the GIL is released. */
#define GIL_RELEASE_FROM 262144.0

/* ---- one product */

/* c = a @ b with a (m, k) and b (k, n); strides in bytes, columns of c have unit stride. */
typedef struct {
    const gs_loop *loop;
    int type;
    npy_intp size; /* of an element */
    char *a, *b, *c;
    npy_intp m, k, n;
    npy_intp a_row, a_column, b_row, b_column, c_row;
    const char *bias; /* what our own kernel adds to each row, or NULL */
} product;

/* Of several products; `steps` are the distances between their operands and results. */
static void
run_loop_over(const product *p, npy_intp count, const npy_intp steps[3])
{
    char *args[3] = {p->a, p->b, p->c};
    npy_intp core[4] = {count, p->m, p->k, p->n};
    npy_intp strides[9] = {steps[0],    steps[1], steps[2],    p->a_row, p->a_column,
                           p->b_row, p->b_column, p->c_row, p->size};
    p->loop->run(args, core, strides, p->loop->data);
}

static void
run_loop(const product *p)
{
    const npy_intp steps[3] = {0};
    run_loop_over(p, 1, steps);
}

static double
work_of(const product *p)
{
    return (double)p->m * (double)p->k * (double)p->n;
}

/* A product with an empty sum, or without elements. */
static int
is_empty(const product *p)
{
    if (p->k > 0 && p->m > 0 && p->n > 0) {
        return 0;
    }
    for (npy_intp i = 0; i < p->m; i++) {
        memset(p->c + i * p->c_row, 0, (size_t)(p->n * p->size));
    }
    return 1;
}

static int
is_outer(const product *p)
{
    return (p->type == NPY_FLOAT32 || p->type == NPY_FLOAT64) && p->k == 1 && p->b_column == p->size &&
           p->c_row == p->n * p->size && p->a_row % p->size == 0;
}

/* Vectors of one operand and outer products; 0 when the product is something else. */
static int
run_as_vectors(const product *p)
{
    npy_intp size = p->size;
    if (p->type != NPY_FLOAT32 && p->type != NPY_FLOAT64) {
        return 0;
    }
    if (is_outer(p)) {
        gs_outer(p->type, p->a, p->a_row / size, p->b, p->c, p->m, p->n);
        return 1;
    }
    if (p->m == 1 && (p->a_column == size || p->k == 1)) {
        if (p->n == 1 && p->b_row == size) { /* also a matrix of one column, whatever the step to the next */
            gs_matrix_vector(p->type, p->b, p->k, p->a, p->c, 1, p->k);
            return 1;
        }
        if (p->b_column == size && p->b_row % size == 0) {
            gs_vector_matrix(p->type, p->a, p->b, p->b_row / size, p->c, p->k, p->n);
            return 1;
        }
        if (p->b_row == size && p->b_column % size == 0) {
            gs_matrix_vector(p->type, p->b, p->b_column / size, p->a, p->c, p->n, p->k);
            return 1;
        }
    }
    if (p->n == 1 && (p->b_row == size || p->k == 1) && p->c_row == size) {
        if (p->a_column == size && p->a_row % size == 0) {
            gs_matrix_vector(p->type, p->a, p->a_row / size, p->b, p->c, p->m, p->k);
            return 1;
        }
        if (p->a_row == size && p->a_column % size == 0) {
            gs_vector_matrix(p->type, p->b, p->a, p->a_column / size, p->c, p->k, p->m);
            return 1;
        }
    }
    return 0;
}

/* Products of a few rows: row by row, where BLAS has no kernel for small ones and packs the whole matrix. */

#define FEW_ROWS 3
#define FEW_ROWS_FROM 1e6 /* multiplications */

static int
run_row_by_row(const product *p)
{
    if (p->m < 2 || p->m > FEW_ROWS || p->n < 2 || work_of(p) < FEW_ROWS_FROM) {
        return 0;
    }
    product row = *p;
    row.m = 1;
    for (npy_intp i = 0; i < p->m; i++) {
        row.a = p->a + i * p->a_row;
        row.c = p->c + i * p->c_row;
        if (!run_as_vectors(&row)) {
            return 0; /* the first one already */
        }
    }
    return 1;
}

/* ---- BLAS or our own
 *
 * The two round differently, so the choice follows from the processor and the shape and from nothing that varies between
 * runs: neither from time measured nor from what other threads do.  Where BLAS uses AVX-512 too, the own kernel was as fast
 * or faster on shapes that `suits_own_beside_avx512` lets through, but for large ones on Intel's processors, whose two units for
 * AVX-512 OpenBLAS keeps busier: by 5 to 15 % for 1024 x 1024 and more of float32, 512 x 512 of float64.  Where BLAS knows
 * only AVX2 for the processor, it is slower on all but the narrowest matrices, by up to eight times. */

#define OWN_FROM 100000.0  /* multiplications; below, packing costs too much */
#define SMALL_FOR_BLAS 1e6 /* up to here a BLAS with AVX-512 has kernels for small matrices */
#define BLAS_FROM 5e8      /* on Intel's processors, with kernels of BLAS for AVX-512; a quarter of it for float64 */
#define LEAST_ROW 96       /* bytes of a row of b; a panel has 128 */
#define LEAST_COLUMNS 40   /* the same where columns of b lie in one piece, which BLAS has to pack too */

static gs_matmul_backend backend = GS_MATMUL_AUTO;

/* Sizes of elements are powers of two. Divisions would take as long as a small product. */
static inline int
shift_for(npy_intp size)
{
    return size == 4 ? 2 : size == 8 ? 3 : size == 2 ? 1 : size == 16 ? 4 : 0;
}

GS_INLINE gs_gemm_job
in_elements(const product *p)
{
    int n = shift_for(p->size);
    return (gs_gemm_job){p->type,       p->a,             p->b,          p->c,             p->m,          p->k, p->n,
                         p->a_row >> n, p->a_column >> n, p->b_row >> n, p->b_column >> n, p->c_row >> n, 0, 0, p->bias};
}

static int
run_own(const product *p)
{
    gs_gemm_job job = in_elements(p);
    return gs_gemm(&job);
}

GS_INLINE int
is_small(const product *p)
{
    return p->m <= GS_SMALL && p->k <= GS_SMALL && p->n <= GS_SMALL &&
           (p->type == NPY_FLOAT32 || p->type == NPY_FLOAT64) &&
           ((p->a_row | p->a_column | p->b_row | p->b_column) & (p->size - 1)) == 0;
}

gs_matmul_backend
gs_get_matmul_backend(void)
{
    return backend != GS_MATMUL_AUTO ? backend : gs_gemm_is_possible() ? GS_MATMUL_OWN : GS_MATMUL_BLAS;
}

#if defined(__x86_64__) && defined(__GNUC__)

static int
is_faster_by_blas(const product *p)
{
    return work_of(p) >= (p->type == NPY_FLOAT32 ? BLAS_FROM : BLAS_FROM / 4) && __builtin_cpu_is("intel") &&
           gs_blas_uses_avx512();
}

#else

static int
is_faster_by_blas(const product *p)
{
    (void)p;
    return 0;
}

#endif

static int
has_own_layout(const product *p)
{
    npy_intp s = p->size;
    return (p->type == NPY_FLOAT32 || p->type == NPY_FLOAT64) &&
           ((p->a_row | p->a_column | p->b_row | p->b_column) & (s - 1)) == 0 && (p->a_row == s || p->a_column == s) &&
           (p->b_row == s || p->b_column == s);
}

static int
suits_dots(const product *p)
{
    gs_gemm_job job = in_elements(p);
    return p->m >= 2 && p->n >= 2 && gs_suits_dots(&job);
}

static int
suits_narrow(const product *p)
{
    gs_gemm_job job = in_elements(p);
    return p->n >= 2 && gs_suits_narrow(&job);
}

/* Its kernels for small products are slower than our own only where a row of b is narrow, but fills half a vector. */
static int
suits_own_beside_avx512(const product *p)
{
    if (work_of(p) > SMALL_FOR_BLAS) {
        return (p->m >= 4 && p->n >= 32 && p->k >= 16) || suits_dots(p) || suits_narrow(p);
    }
    int fills_half = p->n * p->size > 32 && p->a_column == p->size && p->b_column == p->size;
    return (p->m >= 4 && p->n >= 32 && p->k >= 16 && work_of(p) >= OWN_FROM) ||
           (p->m >= 16 && fills_half && suits_narrow(p));
}

static int
suits_own_beside_avx2(const product *p)
{
    npy_intp least = p->b_column == p->size ? LEAST_ROW : LEAST_COLUMNS;
    return (p->n * p->size >= least && p->m >= 2 && p->k >= 2) || suits_narrow(p) || suits_dots(p);
}

static int
suits_own(const product *p)
{
    return has_own_layout(p) && (gs_blas_uses_avx512() ? suits_own_beside_avx512(p) : suits_own_beside_avx2(p));
}

/* What is packed is little beside the sums, which need not be read again. */
static int
suits_adding(const product *p)
{
    return p->m >= 16 && p->n >= 32 && p->k >= 1 && (double)p->m * (double)p->n >= 2048 && p->c_row % p->size == 0 &&
           has_own_layout(p);
}

static int
goes_own(const product *p)
{
    return suits_own(p) && gs_get_matmul_backend() == GS_MATMUL_OWN &&
           !(backend == GS_MATMUL_AUTO && is_faster_by_blas(p));
}

int
gs_set_matmul_backend(gs_matmul_backend wanted)
{
    if (wanted == GS_MATMUL_OWN && !gs_gemm_is_possible()) {
        return 0;
    }
    backend = wanted;
    return 1;
}

static void
run_blas(const product *p)
{
    if (work_of(p) < GIL_RELEASE_FROM) {
        run_loop(p);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    run_loop(p);
    Py_END_ALLOW_THREADS
}

/* -1 with MemoryError on failure. */
GS_INLINE int
gemm(const product *p)
{
    if (is_empty(p) || run_as_vectors(p)) {
        return 0;
    }
    if (is_small(p)) {
        gs_gemm_job job = in_elements(p);
        gs_small_product(&job);
        return 0;
    }
    if (goes_own(p)) {
        return run_own(p);
    }
    if (!run_row_by_row(p)) {
        run_blas(p);
    }
    return 0;
}

int
gs_product_into(const gs_gemm_job *job)
{
    npy_intp s = gs_itemsize[job->type];
    product p = {gs_matmul_loop(job->type), job->type,          s,
                 (char *)job->a,            (char *)job->b,     job->c,
                 job->m,                    job->k,             job->n,
                 job->a_row * s,            job->a_column * s,  job->b_row * s,
                 job->b_column * s,         job->c_row * s,     NULL};
    return gemm(&p);
}

/* c += a @ b, without memory for the product: of m x k and k x n, by strides in bytes of the rows and columns of a and of b
 * and of the rows of c, whose columns have unit stride.  0 when the kernel that adds is not for it; -1 with MemoryError. */
int
gs_add_product(int type, const npy_intp *sizes, const npy_intp *strides, char *a, char *b, char *c)
{
    npy_intp size = gs_itemsize[type];
    product p = {NULL, type, size, a, b, c, sizes[0], sizes[1], sizes[2],
                 strides[0], strides[1], strides[2], strides[3], strides[4], NULL};
    if (p.k == 1) { /* a distance that leads nowhere may be any */
        p.a_column = p.b_row = size;
    }
    if (!suits_adding(&p) || gs_get_matmul_backend() != GS_MATMUL_OWN ||
        (backend == GS_MATMUL_AUTO && is_faster_by_blas(&p))) {
        return 0;
    }
    gs_gemm_job job = in_elements(&p);
    job.adds = 1;
    return gs_gemm(&job) ? -1 : 1;
}

/* ---- operands */

/* An operand seen as a stack of matrices. */
typedef struct {
    PyObject *array; /* owned */
    int is_vector;
    int n_batch; /* dimensions before the last two */
    npy_intp rows, columns;
    npy_intp row_stride, column_stride;
} operand;

/* BLAS wants one unit stride and rows that do not overlap. */
static int
is_blas_layout(npy_intp inner_size, npy_intp inner, npy_intp outer_size, npy_intp outer, npy_intp size)
{
    return (inner == size || inner_size == 1) && (outer_size == 1 || (outer >= inner_size * size && outer % size == 0));
}

static int
suits_blas(npy_intp rows, npy_intp columns, npy_intp row_stride, npy_intp column_stride, npy_intp size)
{
    return is_blas_layout(columns, column_stride, rows, row_stride, size) ||
           is_blas_layout(rows, row_stride, columns, column_stride, size);
}

static void
set_matrix(operand *o, int transpose, int vector_is_row)
{
    PyArrayObject_fields *a = gs_fields(o->array);
    o->is_vector = a->nd == 1;
    o->n_batch = a->nd > 2 ? a->nd - 2 : 0;
    npy_intp size = a->strides[a->nd - 1];
    npy_intp rows = o->is_vector ? 1 : a->dimensions[a->nd - 2], columns = a->dimensions[a->nd - 1];
    npy_intp row_stride = o->is_vector ? size * columns : a->strides[a->nd - 2];
    int swap = o->is_vector ? !vector_is_row : transpose;
    o->rows = swap ? columns : rows;
    o->columns = swap ? rows : columns;
    o->row_stride = swap ? size : row_stride;
    o->column_stride = swap ? row_stride : size;
}

static int
prepare_operand(operand *o, PyObject *array, int type, int transpose, int vector_is_row)
{
    o->array = gs_meta_or_prepared(array, type);
    if (o->array == NULL) {
        return -1;
    }
    set_matrix(o, transpose, vector_is_row);
    if (!gs_is_meta(array) && !suits_blas(o->rows, o->columns, o->row_stride, o->column_stride, gs_itemsize[type])) {
        PyObject *plain = gs_contiguous(o->array);
        gs_array_release(o->array);
        o->array = plain;
        if (plain == NULL) {
            return -1;
        }
        set_matrix(o, transpose, vector_is_row);
    }
    return 0;
}

/* ---- one product in programs */

/* Rows without gaps in new memory, or NULL: what a matrix is for a product when BLAS does not take it as it lies. */
static char *
packed(const char *matrix, npy_intp rows, npy_intp columns, npy_intp row_stride, npy_intp column_stride, npy_intp size)
{
    char *copy = malloc((size_t)(rows * columns * size)), *to = copy;
    for (npy_intp i = 0; copy != NULL && i < rows; i++) {
        for (npy_intp j = 0; j < columns; j++, to += size) {
            memcpy(to, matrix + i * row_stride + j * column_stride, (size_t)size);
        }
    }
    return copy;
}

/* One product of matrices of floats, for programs that know where their memory lies: strides of the rows and columns of
 * a and of b, in bytes; c has no gaps.  What gs_matmul copies is copied here: kernels of other layouts round otherwise. */
int
gs_product(int type, const npy_intp *sizes, const npy_intp *strides, char *a, char *b, char *c)
{
    npy_intp size = gs_itemsize[type], m = sizes[0], k = sizes[1], n = sizes[2];
    product p = {gs_matmul_loop(type), type, size, a, b, c, m, k, n,
                 strides[0], strides[1], strides[2], strides[3], n * size, NULL};
    char *copy_of_a = NULL, *copy_of_b = NULL;
    if (!suits_blas(m, k, p.a_row, p.a_column, size)) {
        copy_of_a = p.a = packed(a, m, k, p.a_row, p.a_column, size);
        p.a_row = k * size, p.a_column = size;
    }
    if (!suits_blas(k, n, p.b_row, p.b_column, size)) {
        copy_of_b = p.b = packed(b, k, n, p.b_row, p.b_column, size);
        p.b_row = n * size, p.b_column = size;
    }
    int failed = -1;
    if (p.a == NULL || p.b == NULL) {
        PyErr_NoMemory();
    } else {
        failed = gemm(&p);
    }
    free(copy_of_a);
    free(copy_of_b);
    return failed;
}

/* ---- shapes */

static int
raise_mismatch(PyObject *a, const operand *x, PyObject *b, const operand *y)
{
    PyObject *a_text = gs_shape_text(gs_fields(a)->nd, gs_fields(a)->dimensions);
    PyObject *b_text = gs_shape_text(gs_fields(b)->nd, gs_fields(b)->dimensions);
    if (a_text != NULL && b_text != NULL) {
        PyErr_Format(PyExc_RuntimeError,
                     "mat1 and mat2 shapes cannot be multiplied (%zdx%zd and %zdx%zd); the operands have shapes %U and %U",
                     x->rows, x->columns, y->rows, y->columns, a_text, b_text);
    }
    Py_XDECREF(a_text);
    Py_XDECREF(b_text);
    return -1;
}

typedef struct {
    int n_batch;
    int nd;
    npy_intp dims[NPY_MAXDIMS + 2]; /* of the result: batch, then rows and columns that are not a vector's */
} result_shape;

static int
broadcast_batch(result_shape *shape, const operand *x, const operand *y)
{
    shape->n_batch = x->n_batch > y->n_batch ? x->n_batch : y->n_batch;
    for (int d = 0; d < shape->n_batch; d++) {
        int dx = d - (shape->n_batch - x->n_batch), dy = d - (shape->n_batch - y->n_batch);
        npy_intp sx = dx < 0 ? 1 : gs_fields(x->array)->dimensions[dx];
        npy_intp sy = dy < 0 ? 1 : gs_fields(y->array)->dimensions[dy];
        if (sx != sy && sx != 1 && sy != 1) {
            PyErr_Format(PyExc_RuntimeError,
                         "The size of tensor a (%zd) must match the size of tensor b (%zd) at non-singleton dimension %d "
                         "of the batch",
                         sx, sy, d);
            return -1;
        }
        shape->dims[d] = sx == 1 ? sy : sx;
    }
    return 0;
}

static void
set_result_shape(result_shape *shape, const operand *x, const operand *y)
{
    shape->nd = shape->n_batch;
    if (!x->is_vector) {
        shape->dims[shape->nd++] = x->rows;
    }
    if (!y->is_vector) {
        shape->dims[shape->nd++] = y->columns;
    }
}

/* ---- batches */

typedef struct {
    product one; /* of the first matrices */
    int nd;
    npy_intp dims[NPY_MAXDIMS];
    npy_intp a_strides[NPY_MAXDIMS], b_strides[NPY_MAXDIMS];
    npy_intp c_stride;
    npy_intp count;
} batch;

static product
product_at(const batch *all, npy_intp index)
{
    product p = all->one;
    p.c += index * all->c_stride;
    for (int d = all->nd - 1; d >= 0; d--) {
        npy_intp i = index % all->dims[d];
        index /= all->dims[d];
        p.a += i * all->a_strides[d];
        p.b += i * all->b_strides[d];
    }
    return p;
}

/* The loop walks along the last dimension of the batch, which costs less than a call for each product. */
static void
run_batch_part(void *context, npy_intp first, npy_intp last)
{
    const batch *all = context;
    npy_intp length = all->dims[all->nd - 1];
    const npy_intp steps[3] = {all->a_strides[all->nd - 1], all->b_strides[all->nd - 1], all->c_stride};
    for (npy_intp i = first, here; i < last; i += here) {
        npy_intp left = length - i % length;
        here = left < last - i ? left : last - i;
        product p = product_at(all, i);
        run_loop_over(&p, here, steps);
    }
}

static void
run_small_part(void *context, npy_intp first, npy_intp last)
{
    const batch *all = context;
    gs_gemm_job job = in_elements(&all->one);
    for (npy_intp i = first; i < last; i++) {
        product p = product_at(all, i);
        job.a = p.a, job.b = p.b, job.c = p.c;
        gs_small_product(&job);
    }
}

static void
run_outer_part(void *context, npy_intp first, npy_intp last)
{
    const batch *all = context;
    for (npy_intp i = first; i < last; i++) {
        product p = product_at(all, i);
        gs_outer_unlocked(p.type, p.a, p.a_row / p.size, p.b, p.c, p.m, p.n);
    }
}

/* Only memory for packed operands can be missing; NumPy's loop does without. */
static void
run_own_part(void *context, npy_intp first, npy_intp last)
{
    const batch *all = context;
    gs_gemm_job job = in_elements(&all->one);
    for (npy_intp i = first; i < last; i++) {
        product p = product_at(all, i);
        job.a = p.a, job.b = p.b, job.c = p.c;
        if (gs_gemm_unlocked(&job) < 0) {
            run_loop(&p);
        }
    }
}

static int
run_batch(const batch *all)
{
    double work = work_of(&all->one);
    if (work > 0 && work < BLAS_THREADS_FROM) {
        gs_parallel(is_small(&all->one)   ? run_small_part
                    : is_outer(&all->one) ? run_outer_part
                    : goes_own(&all->one) ? run_own_part
                                          : run_batch_part,
                    (void *)all, all->count, (npy_intp)(work / 8) + 16, 1);
        return 0;
    }
    for (npy_intp i = 0; i < all->count; i++) {
        product p = product_at(all, i);
        if (gemm(&p) < 0) {
            return -1;
        }
    }
    return 0;
}

static npy_intp
batch_stride(const operand *o, int n_batch, int d)
{
    int own = d - (n_batch - o->n_batch);
    PyArrayObject_fields *a = gs_fields(o->array);
    return own < 0 || a->dimensions[own] == 1 ? 0 : a->strides[own];
}

/* Matrices stacked without gaps times one matrix are one tall product. */
static int
merge_batch_into_rows(batch *all, const operand *x, const operand *y)
{
    product *p = &all->one;
    if (y->n_batch > 0 || x->is_vector || p->m == 0) {
        return 0;
    }
    npy_intp expected = p->a_row * p->m;
    for (int d = all->nd - 1; d >= 0; d--) {
        if (all->dims[d] != 1 && all->a_strides[d] != expected) {
            return 0;
        }
        expected *= all->dims[d];
    }
    if (p->m == 1 && p->a_row != p->k * p->size && x->columns != 1) {
        return 0; /* the stride of a single row says nothing */
    }
    p->m *= all->count;
    all->count = 1;
    return 1;
}

/* ---- a bias for each row */

typedef struct {
    const char *bias;
    char *out;
    npy_intp columns;
} bias_job;

#define ADD_BIAS(name, real)                                         \
    GS_CLONES static void name(void *context, npy_intp first, npy_intp last) \
    {                                                                \
        const bias_job *job = context;                               \
        const real *bias = (const real *)job->bias;                  \
        for (npy_intp row = first; row < last; row++) {              \
            real *out = (real *)job->out + row * job->columns;       \
            GS_IVDEP                                                 \
            for (npy_intp i = 0; i < job->columns; i++) {            \
                out[i] += bias[i];                                   \
            }                                                        \
        }                                                            \
    }

ADD_BIAS(add_bias_float32, float)
ADD_BIAS(add_bias_float64, double)

/* out += bias, for rows without gaps. */
static void
add_to_rows(int type, const char *bias, PyObject *out, npy_intp columns)
{
    bias_job job = {bias, gs_fields(out)->data, columns};
    gs_parallel(type == NPY_FLOAT32 ? add_bias_float32 : add_bias_float64, &job, columns == 0 ? 0 : gs_size(out) / columns,
                columns + 8, 1);
}

static int
run_products(batch *all, const operand *x, const operand *y, const char *bias, int *is_biased)
{
    if (all->count != 1 && (all->count < 1 || !merge_batch_into_rows(all, x, y))) {
        return run_batch(all);
    }
    *is_biased = bias != NULL && goes_own(&all->one);
    all->one.bias = *is_biased ? bias : NULL;
    return gemm(&all->one);
}

/* `bias`, of floats, is NULL or as long as rows. */
static int
multiply(const operand *x, const operand *y, const char *bias, PyObject *out, const result_shape *shape, int type)
{
    npy_intp size = gs_itemsize[type];
    batch all = {
        .one = {gs_matmul_loop(type), type, size, gs_fields(x->array)->data, gs_fields(y->array)->data, gs_fields(out)->data, x->rows,
                    x->columns, y->columns, x->row_stride, x->column_stride, y->row_stride, y->column_stride,
                    y->columns * size, NULL},
        .nd = shape->n_batch,
        .c_stride = x->rows * y->columns * size,
        .count = 1,
    };
    for (int d = 0; d < shape->n_batch; d++) {
        all.dims[d] = shape->dims[d];
        all.count *= shape->dims[d];
        all.a_strides[d] = batch_stride(x, shape->n_batch, d);
        all.b_strides[d] = batch_stride(y, shape->n_batch, d);
    }
    int is_biased = 0;
    if (run_products(&all, x, y, bias, &is_biased) < 0) {
        return -1;
    }
    if (bias != NULL && !is_biased) {
        add_to_rows(type, bias, out, y->columns);
    }
    return 0;
}

/* ---- entry */

static int
check_types(PyObject *a, PyObject *b)
{
    int type = gs_numeric_type(a), other = type < 0 ? -1 : gs_numeric_type(b);
    if (other < 0) {
        return -1;
    }
    if (gs_fields(a)->nd == 0 || gs_fields(b)->nd == 0) {
        PyErr_Format(PyExc_RuntimeError, "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
                     gs_fields(a)->nd, gs_fields(b)->nd);
        return -1;
    }
    if (type != other) {
        PyErr_Format(PyExc_RuntimeError, "expected m1 and m2 to have the same dtype, but got: %s != %s", gs_type_name(type),
                     gs_type_name(other));
        return -1;
    }
    return type;
}

static PyObject *
swap_last_axes(PyObject *array, int transpose)
{
    if (!transpose || gs_fields(array)->nd < 2) {
        Py_INCREF(array);
        return array;
    }
    return PyArray_SwapAxes((PyArrayObject *)array, gs_fields(array)->nd - 1, gs_fields(array)->nd - 2);
}

/* For types whose loop is refused. */
static PyObject *
multiply_publicly(PyObject *a, int transpose_a, PyObject *b, int transpose_b)
{
    PyObject *x = swap_last_axes(a, transpose_a);
    PyObject *y = x == NULL ? NULL : swap_last_axes(b, transpose_b);
    PyObject *result = y == NULL ? NULL : gs_as_array(gs_call_numpy("matmul", PyTuple_Pack(2, x, y), NULL));
    Py_XDECREF(x);
    Py_XDECREF(y);
    return result;
}

static PyObject *
multiply_operands(PyObject *a, const operand *x, PyObject *b, const operand *y, const char *bias, int type)
{
    result_shape shape;
    if (x->columns != y->rows) {
        raise_mismatch(a, x, b, y);
        return NULL;
    }
    if (broadcast_batch(&shape, x, y) < 0) {
        return NULL;
    }
    set_result_shape(&shape, x, y);
    if (gs_is_meta(x->array) || gs_is_meta(y->array)) {
        return gs_meta_new(type, shape.nd, shape.dims);
    }
    PyObject *out = gs_array_new(type, shape.nd, shape.dims);
    if (out != NULL && multiply(x, y, bias, out, &shape, type) < 0) {
        Py_CLEAR(out);
    }
    return out;
}

/* `bias`: as for `multiply`. */
static PyObject *
matmul_with_bias(PyObject *a, int transpose_a, PyObject *b, int transpose_b, const char *bias)
{
    int type = check_types(a, b);
    if (type < 0) {
        return NULL;
    }
    int is_half = type == NPY_HALF; /* added up in float32, as NumPy does */
    type = is_half ? NPY_FLOAT32 : type;
    if (gs_matmul_loop(type)->state == GS_REFUSED) {
        return multiply_publicly(a, transpose_a, b, transpose_b);
    }
    operand x = {NULL}, y = {NULL};
    PyObject *out = NULL;
    if (prepare_operand(&x, a, type, transpose_a, 1) == 0 && prepare_operand(&y, b, type, transpose_b, 0) == 0) {
        out = multiply_operands(a, &x, b, &y, bias, type);
    }
    gs_array_xrelease(x.array);
    gs_array_xrelease(y.array);
    return is_half ? gs_rounded_to_half(out) : out;
}

PyObject *
gs_matmul(PyObject *a, int transpose_a, PyObject *b, int transpose_b)
{
    return matmul_with_bias(a, transpose_a, b, transpose_b, NULL);
}

/* ---- linear */

/* A vector of the floats that a product with this weight has, one for each column: it is added while the product is
 * written. */
static int
is_bias_of_rows(PyObject *bias, PyObject *weight)
{
    int type = gs_type(weight);
    return (type == NPY_FLOAT32 || type == NPY_FLOAT64) && gs_type(bias) == type && gs_fields(weight)->nd == 2 &&
           gs_fields(bias)->nd == 1 && gs_fields(bias)->dimensions[0] == gs_fields(weight)->dimensions[0] &&
           !gs_is_meta(bias) && gs_is_plain(bias) && gs_matmul_loop(type)->state != GS_REFUSED;
}

PyObject *
gs_linear(PyObject *x, PyObject *weight, PyObject *bias)
{
    if (bias == NULL) {
        return gs_matmul(x, 0, weight, 1);
    }
    if (is_bias_of_rows(bias, weight)) {
        Py_INCREF(bias);
        PyObject *result = matmul_with_bias(x, 0, weight, 1, gs_fields(bias)->data);
        Py_DECREF(bias);
        return result;
    }
    PyObject *y = gs_matmul(x, 0, weight, 1);
    PyObject *sum = y == NULL ? NULL : gs_binary(GS_ADD, y, bias);
    gs_array_xrelease(y);
    return sum;
}
