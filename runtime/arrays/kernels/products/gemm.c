/* Note [Packed products]
 *
 * OpenBLAS picks its kernels by processor model and takes AVX2 ones for models that it does not know, at half the speed of
 * their AVX-512 units; and its threads stall when the machine is busy.  So there is a product of our own for processors
 * with AVX-512.
 *
 * It is Goto's scheme.  Both operands are copied block by block into panels that the inner kernel reads from end to end:
 *
 *     block of a (M_BLOCK x K_BLOCK)                ->  panels of `height` rows:   [k][row]      all in L2
 *     chunk of b (K_BLOCK x TOGETHER * two vectors) ->  panels of two vectors:     [k][column]   one in L1
 *
 * Each thread packs a chunk of b just before it is multiplied with the block of a.  Where copies would be read too seldom
 * to be worth it, the operand is read as it lies.
 *
 * The kernel keeps height x 2 vectors of c in registers and does, for each k, two loads of b, `height` broadcasts of a and
 * 2 * height multiply-adds.  Panels are padded with zeros; only what exists is stored.
 *
 * An element of c is always the sum over k in the same order, K_BLOCK after K_BLOCK: results do not depend on threads.
 */
#include "products/gemm.h"
#include "products/avx512.h"
#include "products/dots.h"
#include "products/narrow.h"
#include "kernels.h"
#include "threads/thread_pool.h"

#include <stdatomic.h>
#include <stdlib.h>

#ifdef GS_HAS_AVX512

#define MOST_ROWS 14 /* of a panel: 28 sums, two vectors of b and two to spare make 32 registers */
#define K_BLOCK 256
#define M_BLOCK 560     /* of float32, half as many of float64: a quarter of the L2 of an Intel server, half of others */
#define FEW_COLUMNS 512 /* up to which a row of a is not read often enough to be worth packing */
#define FEW_PANELS 3    /* of a, up to which the same holds of b */
#define PAGE 4096       /* bytes; rows that are whole pages apart have the same few places in L1 */
#define COLUMNS_IN_PAGES 128 /* from which on such rows are worth it */
#define TOGETHER 4      /* panels of b in a chunk */
#define PANELS_AHEAD 8  /* of b that is read as it lies: so far ahead of its use it is fetched */
#define RESULT_AHEAD 2  /* the same of c */
#define CHUNK_BYTES (TOGETHER * 128 * K_BLOCK)
#define MOST_SLOTS 256  /* as many as threads */

typedef struct {
    gs_gemm_job job;
    npy_intp height;                 /* rows of a panel of a */
    npy_intp first_row, n_rows;      /* the block of a */
    npy_intp first_k, n_k;
    npy_intp a_panels, b_panels;
    npy_intp b_as_it_lies;           /* panels of b that are read without having been packed */
    npy_intp chunks, parts;          /* of b, and of a: the work on one of each is an item */
    npy_intp part_panels;
    char *packed_a, *packed_b;
    int packs_a, slots;
    atomic_uchar is_taken[MOST_SLOTS]; /* places for a chunk in packed_b */
} block;

/* ---- packed operands: one buffer is kept, since fresh memory would cost more than the product.  A second product that
 * comes while it is taken gets memory of its own. */

typedef struct {
    char *memory; /* as malloc gave it, NULL without an exception when there was none */
    char *aligned;
    int is_kept;
} packing_buffer;

static char *kept_memory; /* it and its size belong to whoever has taken it */
static size_t kept_size;
static atomic_int kept_is_taken;

static char *
kept_of_size(size_t size)
{
    if (size > kept_size) {
        free(kept_memory);
        kept_memory = malloc(size + 64);
        kept_size = kept_memory == NULL ? 0 : size;
    }
    return kept_memory;
}

static void
give_back(packing_buffer *buffer)
{
    if (buffer->is_kept) {
        atomic_store_explicit(&kept_is_taken, 0, memory_order_release);
    } else {
        free(buffer->memory);
    }
}

static packing_buffer
take_buffer(size_t size)
{
    packing_buffer buffer = {.is_kept = !atomic_exchange_explicit(&kept_is_taken, 1, memory_order_acquire)};
    buffer.memory = buffer.is_kept ? kept_of_size(size) : malloc(size + 64);
    if (buffer.memory == NULL) {
        give_back(&buffer);
        return buffer;
    }
    buffer.aligned = buffer.memory + (64 - (uintptr_t)buffer.memory % 64);
    return buffer;
}

/* Each thread that works on a block has a place of its own for a packed chunk. */
static int
take_slot(block *b)
{
    int slot = 0;
    while (atomic_exchange_explicit(&b->is_taken[slot], 1, memory_order_acquire)) {
        slot = slot + 1 < b->slots ? slot + 1 : 0;
    }
    return slot;
}

static void
give_slot_back(block *b, int slot)
{
    atomic_store_explicit(&b->is_taken[slot], 0, memory_order_release);
}

#include "support/with_float32.h"
#define LANES 16
#define SHUFFLES                                                             \
    EXCHANGE(1, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)  \
    EXCHANGE(2, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)   \
    EXCHANGE(4, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)   \
    EXCHANGE(8, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#include "products/gemm_template.h"
#undef LANES
#undef SHUFFLES

#include "support/with_float64.h"
#define LANES 8
#define SHUFFLES                        \
    EXCHANGE(1, 0, 8, 2, 10, 4, 12, 6, 14) \
    EXCHANGE(2, 0, 1, 8, 9, 4, 5, 12, 13)  \
    EXCHANGE(4, 0, 1, 2, 3, 8, 9, 10, 11)
#include "products/gemm_template.h"
#undef LANES
#undef SHUFFLES

int
gs_gemm_is_possible(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq");
}

static npy_intp
ceil_div(npy_intp a, npy_intp b)
{
    return (a + b - 1) / b;
}

static npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

/* Panels of equal height waste the least: 32 rows are 11 + 11 + 10, not 14 + 14 + 4. */
static npy_intp
panel_height(npy_intp m)
{
    return ceil_div(m, ceil_div(m, MOST_ROWS));
}

static int
packs_a(const gs_gemm_job *job)
{
    npy_intp size = job->type == NPY_FLOAT32 ? 4 : 8;
    int collide = job->a_row != 1 && job->a_row * size % PAGE == 0;
    return job->n > FEW_COLUMNS || (collide && job->n >= COLUMNS_IN_PAGES);
}

static int
packs_b(const gs_gemm_job *job, npy_intp height)
{
    npy_intp size = job->type == NPY_FLOAT32 ? 4 : 8;
    return job->b_column != 1 || job->m > FEW_PANELS * height || job->b_row * size % PAGE == 0;
}

/* A chunk for each thread, or two, if there are as many; if not, some go through its panels of a together. */
static void
share_out(block *b)
{
    npy_intp threads = gs_get_num_threads();
    b->a_panels = ceil_div(b->n_rows, b->height);
    b->parts = threads == 1 ? 1 : smaller(b->a_panels, ceil_div(2 * threads, b->chunks));
    b->part_panels = ceil_div(b->a_panels, b->parts);
    b->parts = ceil_div(b->a_panels, b->part_panels);
}

static void
run_block(block *b)
{
    int is_float = b->job.type == NPY_FLOAT32;
    npy_intp pack_cost = b->n_k * b->height / 4 + 8;
    npy_intp items = b->chunks * b->parts;
    npy_intp item_cost = b->n_k * b->height * b->part_panels * TOGETHER * 2;
    if (b->packs_a) {
        gs_parallel_run(is_float ? pack_rows_float32 : pack_rows_float64, b, b->a_panels, gs_piece(b->a_panels, pack_cost, 1));
    }
    gs_parallel_run(is_float ? multiply_chunks_float32 : multiply_chunks_float64, b, items, gs_piece(items, item_cost, 1));
}

static void
fetch_next_block(const block *b)
{
    const gs_gemm_job *job = &b->job;
    npy_intp size = job->type == NPY_FLOAT32 ? 4 : 8, first = b->first_k + b->n_k;
    npy_intp terms = smaller(K_BLOCK, job->k - first);
    fetch_terms((terms_of){job->a, job->m, job->a_row, job->a_column, size}, first, terms);
    fetch_terms((terms_of){job->b, job->n, job->b_column, job->b_row, size}, first, terms);
}

static void
run_blocks(block *b)
{
    const gs_gemm_job *job = &b->job;
    npy_intp m_block = (job->type == NPY_FLOAT32 ? M_BLOCK : M_BLOCK / 2) / b->height * b->height;
    for (b->first_k = 0; b->first_k < job->k; b->first_k += K_BLOCK) {
        b->n_k = smaller(K_BLOCK, job->k - b->first_k);
        fetch_next_block(b);
        for (b->first_row = 0; b->first_row < job->m; b->first_row += m_block) {
            b->n_rows = smaller(m_block, job->m - b->first_row);
            share_out(b);
            run_block(b);
        }
    }
}

int
gs_gemm_unlocked(const gs_gemm_job *job)
{
    if (gs_suits_dots(job)) {
        gs_dots(job);
        return 0;
    }
    if (gs_suits_narrow(job)) {
        gs_narrow(job);
        return 0;
    }
    size_t size = job->type == NPY_FLOAT32 ? 4 : 8;
    npy_intp width = 128 / (npy_intp)size;
    block b = {.job = *job, .height = panel_height(job->m), .packs_a = packs_a(job)};
    b.b_panels = ceil_div(job->n, width);
    b.b_as_it_lies = packs_b(job, b.height) ? 0 : job->n / width;
    b.chunks = ceil_div(b.b_panels, TOGETHER);
    size_t a_size = (size_t)(smaller(job->m, M_BLOCK) + MOST_ROWS + 2) * (size_t)smaller(job->k, K_BLOCK) * size;
    a_size = b.packs_a ? (a_size + 63) / 64 * 64 : 0;
    b.slots = (int)smaller(gs_get_num_threads(), MOST_SLOTS);
    packing_buffer buffer = take_buffer(a_size + (size_t)b.slots * CHUNK_BYTES);
    if (buffer.memory == NULL) {
        return -1;
    }
    b.packed_a = buffer.aligned;
    b.packed_b = buffer.aligned + a_size;
    run_blocks(&b);
    give_back(&buffer);
    return 0;
}

int
gs_gemm(const gs_gemm_job *job)
{
    int failed;
    if ((double)job->m * (double)job->k * (double)job->n < 262144.0) {
        failed = gs_gemm_unlocked(job);
    } else {
        Py_BEGIN_ALLOW_THREADS
        failed = gs_gemm_unlocked(job);
        Py_END_ALLOW_THREADS
    }
    if (failed) {
        PyErr_NoMemory();
    }
    return failed;
}

#else

int
gs_gemm_is_possible(void)
{
    return 0;
}

int
gs_gemm_unlocked(const gs_gemm_job *job)
{
    (void)job;
    return -1;
}

int
gs_gemm(const gs_gemm_job *job)
{
    (void)job;
    PyErr_SetString(PyExc_SystemError, "matmul: this build has no product of its own");
    return -1;
}

#endif
