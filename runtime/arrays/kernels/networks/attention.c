/* Note [Attention in tiles]
 *
 * The weights of a head, one for each query and key, are never all there.  A block of queries meets the keys tile by
 * tile: the products with a tile of keys, their exponentials, and what they add to the averages are done before the next
 * tile comes.  A softmax can be taken in parts (Milakov and Gimelshein, 2018; Dao et al., FlashAttention, 2022): of each
 * query the greatest product so far is known, and the sum and the averages so far are multiplied by the exponential of
 * how much that has grown.  What backward is left with is the logarithm of the sum, from which it computes weights again.
 *
 * All tiles have SIDE rows and columns in memory, however much of them is used, so that distances in the inner loops are
 * constants.  Products of queries with keys are held with queries side by side: then a softmax goes along no vector, but
 * from one to the next.  So do all five products of backward find one operand row by row, as vectors, and the other one
 * element by element:
 *
 *     S [key][query]   = sum over columns   K [key][e]       Q' [e][query]          (' is transposed)
 *     O [query][v]    += sum over keys      P [key][query]   V  [key][v]
 *     dP[key][query]   = sum over columns   V [key][v]       dO'[v][query]
 *     dV[key][v]      += sum over queries   P [key][query]   dO [query][v]
 *     dK[key][e]      += sum over queries   dS[key][query]   Q  [query][e]
 *     dQ[query][e]    += sum over keys      dS[key][query]   K  [key][e]
 *
 * gemm.c is no help here: it copies its operands, which it expects to be large, and only one thread at a time can use it.
 *
 * Threads take blocks of queries, and in backward parts of heads: a few long heads have their queries shared out among
 * parts, whose gradients of keys and values are added in the end.  How many there are follows from the sizes, so sums have
 * one order, whatever the number of threads.
 */
#include "networks/attention.h"
#include "networks/exponential.h"
#include "threads/thread_pool.h"

#include <math.h>
#include <stdlib.h>

#define SIDE 64
#define TILE (SIDE * SIDE + 16) /* Rows of tiles side by side would meet in the same few lines of the cache. */
#define MANY_HEADS 8   /* which keep all threads busy, each as a whole */
#define MOST_PARTS 4   /* of the queries of one head */
#define PART 512       /* queries that are worth a part */

typedef struct {
    npy_intp rows, steps, width; /* of the result, of the sums, of the result */
    int adds;
} extent;

typedef struct {
    /* c [i][j] = or += the sum over k of a[i][k] * b[k][j], or of a[k][i] * b[k][j].  Up to a whole number of vectors,
     * columns beyond the width are computed too. */
    void (*multiply)(const extent *e, const void *a, const void *b, void *c);
    void (*multiply_transposed)(const extent *e, const void *a, const void *b, void *c);
    int lanes; /* columns of c that are computed at once */
} kernels;

typedef struct {
    const gs_attention *a;
    const kernels *kernels;
    const void *query, *key, *value, *mask, *grad, *known, *delta;
    void *result, *logsumexp;
    void **grads;
    npy_intp blocks, key_blocks, parts; /* of queries and of keys in a head; of its queries in backward */
    npy_intp columns, value_columns;    /* tiles side by side in a row of queries or keys, and of values */
    void *sums;                         /* of parts: [heads][parts][key_blocks][columns + value_columns] tiles */
    int is_out_of_memory;
} job;

static npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static npy_intp
ceil_div(npy_intp a, npy_intp b)
{
    return (a + b - 1) / b;
}

/* ---- inner loops for each type and instruction set */

#define KERNELS "networks/attention_kernels.h"
#include "instruction_sets/each_kernel.h"
#undef KERNELS

#include "support/with_float32.h"
#include "attention_template.h"

#include "support/with_float64.h"
#include "attention_template.h"

/* ---- the whole */

static job
job_of(const gs_attention *a)
{
    job j = {
        .a = a,
        .kernels = BEST_KERNELS(kernels, a->type),
        .blocks = ceil_div(a->queries, SIDE),
        .key_blocks = ceil_div(a->keys, SIDE),
        .columns = ceil_div(a->width, SIDE),
        .value_columns = ceil_div(a->value_width, SIDE),
        .parts = 1,
    };
    return j;
}

static npy_intp
cost_of_block(const gs_attention *a)
{
    return SIDE * a->keys * (a->width + a->value_width + 8) / 8 + 64;
}

int
gs_attend(const void *settings, const void *query, const void *key, const void *value, const void *mask, void *result,
          void *logsumexp)
{
    const gs_attention *a = settings;
    job j = job_of(a);
    j.query = query, j.key = key, j.value = value, j.mask = mask, j.result = result, j.logsumexp = logsumexp;
    gs_parallel(a->type == NPY_FLOAT32 ? attend_blocks_float32 : attend_blocks_float64, &j, a->heads * j.blocks,
                cost_of_block(a), 1);
    if (j.is_out_of_memory) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
gs_attend_backward(const void *settings, const void *query, const void *key, const void *value, const void *mask,
                   const void *grad, const void *logsumexp, const void *delta, void **grads)
{
    const gs_attention *a = settings;
    int is_float = a->type == NPY_FLOAT32;
    job j = job_of(a);
    j.query = query, j.key = key, j.value = value, j.mask = mask;
    j.grad = grad, j.known = logsumexp, j.delta = delta, j.grads = grads;
    j.parts = a->heads >= MANY_HEADS || a->queries == 0 ? 1 : smaller(MOST_PARTS, ceil_div(a->queries, PART));
    size_t tiles = (size_t)(a->heads * j.parts * j.key_blocks * (j.columns + j.value_columns));
    if (j.parts > 1) {
        j.sums = malloc(tiles * TILE * (is_float ? sizeof(float) : sizeof(double)) + 1);
        j.is_out_of_memory = j.sums == NULL;
    }
    if (!j.is_out_of_memory) {
        gs_parallel(is_float ? go_back_in_parts_float32 : go_back_in_parts_float64, &j, a->heads * j.parts,
                    cost_of_block(a) * (j.blocks / j.parts + 1) * 3, 1);
    }
    if (!j.is_out_of_memory && j.parts > 1) {
        gs_parallel(is_float ? add_parts_float32 : add_parts_float64, &j, a->heads * j.key_blocks,
                    SIDE * (a->width + a->value_width) * j.parts, 1);
    }
    free(j.sums);
    if (j.is_out_of_memory) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}
