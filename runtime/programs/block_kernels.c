#include "block_kernels.h"
#include "forbidden.h"

#include <stdlib.h>
#include <string.h>

#include "singles.h"
#include "support/simd.h"

/* One operation on two operands, or one, in the two types. */
#define ARITHMETIC_OF(real, OP)                            \
    do {                                                   \
        const real *a = (const real *)addresses[step->in[0]]; \
        const real *b = (const real *)addresses[step->in[1]]; \
        real *out = (real *)addresses[step->out];          \
        const npy_intp n = step->n;                        \
        if (step->moving == 3) {                    \
            GS_IVDEP                                       \
            for (npy_intp i = 0; i < n; i++) {             \
                out[i] = a[i] OP b[i];                     \
            }                                              \
        } else if (step->moving == 1) {                    \
            const real other = b[0];                       \
            GS_IVDEP                                       \
            for (npy_intp i = 0; i < n; i++) {             \
                out[i] = a[i] OP other;                    \
            }                                              \
        } else if (step->moving == 0) {                    \
            const real all = a[0] OP b[0];                 \
            for (npy_intp i = 0; i < n; i++) {             \
                out[i] = all;                              \
            }                                              \
        } else {                                           \
            const real self = a[0];                        \
            GS_IVDEP                                       \
            for (npy_intp i = 0; i < n; i++) {             \
                out[i] = self OP b[i];                     \
            }                                              \
        }                                                  \
    } while (0)

#define NEGATIVE_OF(real)                                  \
    do {                                                   \
        const real *a = (const real *)addresses[step->in[0]]; \
        real *out = (real *)addresses[step->out];          \
        const npy_intp n = step->n;                        \
        if (step->moving == 0) {                           \
            const real all = -a[0];                        \
            for (npy_intp i = 0; i < n; i++) {             \
                out[i] = all;                              \
            }                                              \
        } else {                                           \
            GS_IVDEP                                       \
            for (npy_intp i = 0; i < n; i++) {             \
                out[i] = -a[i];                            \
            }                                              \
        }                                                  \
    } while (0)

#define IN_BOTH_TYPES(LOOP, ...)               \
    do {                                       \
        if (step->is_double) {                 \
            LOOP(double __VA_ARGS__);          \
        } else {                               \
            LOOP(float __VA_ARGS__);           \
        }                                      \
    } while (0)

static inline char *
operand(const gs_block_step *step, char *const *addresses, int i)
{
    return addresses[i < 2 ? step->in[i] : step->more->in[i - 2]];
}

static void
run_loop(const gs_block_step *step, char *const *addresses)
{
    const gs_block_more *more = step->more;
    char *args[GS_BLOCK_INPUTS + 1];
    npy_intp n = step->n;
    int n_in = step->n_in;
    for (int i = 0; i < n_in; i++) {
        args[i] = operand(step, addresses, i);
    }
    args[n_in] = addresses[step->out];
    if (more->rows == 1) {
        ((gs_block_loop)more->function)(args, &n, more->strides, more->data);
        return;
    }
    for (npy_intp row = 0; row < more->rows; row++) {
        char *now[GS_BLOCK_INPUTS + 1];
        memcpy(now, args, sizeof args);
        ((gs_block_loop)more->function)(now, &n, more->strides, more->data);
        for (int i = 0; i <= n_in; i++) {
            args[i] += more->row_strides[i];
        }
    }
}

/* A kernel reads rows alone, so that what is one element is written out. */
static void
run_kernel(const gs_block_step *step, char *const *addresses)
{
    double repeated[GS_BLOCK_ELEMENTS];
    char *args[GS_BLOCK_INPUTS + 1];
    int used = 0;
    for (int i = 0; i < step->n_in; i++) {
        args[i] = operand(step, addresses, i);
        if (step->n == 1 || step->moving >> i & 1) {
            continue;
        }
        char *row = (char *)repeated + (size_t)used * (size_t)step->n * (step->is_double ? 8 : 4);
        for (npy_intp j = 0; j < step->n; j++) {
            if (step->is_double) {
                ((double *)row)[j] = *(const double *)args[i];
            } else {
                ((float *)row)[j] = *(const float *)args[i];
            }
        }
        args[i] = row;
        used++;
    }
    args[step->n_in] = addresses[step->out];
    ((gs_block_kernel)step->more->function)(args, step->more->numbers, step->n);
}

#define MOVE_OF(real)                                                               \
    for (npy_intp i = 0; i < n; i++) {                                              \
        *(real *)(out + i * more->strides[1]) = *(const real *)(in + i * more->strides[0]); \
    }

static void
run_move(const gs_block_step *step, const char *in, char *out)
{
    const gs_block_more *more = step->more;
    const npy_intp n = step->n;
    for (npy_intp row = 0; row < more->rows; row++, in += more->row_strides[0], out += more->row_strides[1]) {
        IN_BOTH_TYPES(MOVE_OF);
    }
}

GS_INLINE int
run_other(const gs_block_step *step, char *const *addresses)
{
    const gs_block_more *more = step->more;
    char *a = step->n_in == 0 ? NULL : addresses[step->in[0]], *out = addresses[step->out];
    switch (step->kind) {
    case GS_BLOCK_LOOP:
        run_loop(step, addresses);
        return 0;
    case GS_BLOCK_KERNEL:
        run_kernel(step, addresses);
        return 0;
    case GS_BLOCK_PRODUCT:
        return ((gs_block_product)more->function)(more->type, more->sizes, more->strides, a, addresses[step->in[1]], out);
    case GS_BLOCK_MATRIX_VECTOR:
        ((gs_block_matrix_vector)more->function)(more->type, a, more->sizes[2], addresses[step->in[1]], out, more->sizes[0],
                                                 more->sizes[1]);
        return 0;
    case GS_BLOCK_VECTOR_MATRIX:
        ((gs_block_vector_matrix)more->function)(more->type, a, addresses[step->in[1]], more->sizes[2], out, more->sizes[0],
                                                 more->sizes[1]);
        return 0;
    case GS_BLOCK_OUTER:
        ((gs_block_outer)more->function)(more->type, a, more->sizes[2], addresses[step->in[1]], out, more->sizes[0],
                                         more->sizes[1]);
        return 0;
    case GS_BLOCK_SUM:
        return ((gs_block_sum)more->function)(a, out, more->sizes[0], more->sizes[1], more->sizes[2]);
    case GS_BLOCK_MOVE:
        run_move(step, a, out);
        return 0;
    case GS_BLOCK_ZERO:
        memset(out, 0, (size_t)step->n);
        return 0;
    default:
        if (a != out) {
            memmove(out, a, (size_t)step->n);
        }
        return 0;
    }
}

#define ITERATIONS_BETWEEN_SIGNALS (1 << 14)

static int run_repeat(const gs_block_repeat *repeat, char **addresses);
static int run_tiles(const gs_block_tiles *tiles, char **addresses);
static void run_rows(const gs_block_step *step, char *const *addresses);

GS_CLONES static int
run_steps(const gs_block_step *steps, Py_ssize_t count, char **addresses)
{
    for (const gs_block_step *step = steps; step < steps + count; step++) {
        if (step->kind >= GS_BLOCK_SINGLE && (step = run_singles(step, addresses)) == steps + count) {
            return 0;
        }
        switch (step->kind) {
        case GS_BLOCK_ADD:
            IN_BOTH_TYPES(ARITHMETIC_OF, , +);
            break;
        case GS_BLOCK_SUBTRACT:
            IN_BOTH_TYPES(ARITHMETIC_OF, , -);
            break;
        case GS_BLOCK_MULTIPLY:
            IN_BOTH_TYPES(ARITHMETIC_OF, , *);
            break;
        case GS_BLOCK_DIVIDE:
            IN_BOTH_TYPES(ARITHMETIC_OF, , /);
            break;
        case GS_BLOCK_NEGATE:
            IN_BOTH_TYPES(NEGATIVE_OF);
            break;
        case GS_BLOCK_ROWS:
            run_rows(step, addresses);
            break;
        case GS_BLOCK_REPEAT:
            if (run_repeat(step->more->repeat, addresses) < 0) {
                return -1;
            }
            break;
        case GS_BLOCK_TILES:
            if (run_tiles(step->more->tiles, addresses) < 0) {
                return -1;
            }
            break;
        default:
            if (run_other(step, addresses) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static void
run_rows(const gs_block_step *step, char *const *addresses)
{
    const gs_block_more *more = step->more;
    char *own[] = {addresses[step->in[0]], addresses[step->in[1]], addresses[step->out]};
    gs_block_step row = *step;
    row.kind = (uint8_t)more->type;
    row.in[0] = 0;
    row.in[1] = 1;
    row.out = 2;
    for (npy_intp i = 0; i < more->rows; i++) {
        run_steps(&row, 1, own);
        own[0] += more->row_strides[0];
        own[1] += more->row_strides[1];
        own[2] += more->row_strides[step->n_in];
    }
}

/* The same, for short lists of steps that run often: without `run_steps`, whose beginning takes time, where it has nothing to do. */
static inline int
run_all(const gs_block_step *steps, Py_ssize_t count, char **addresses)
{
    const gs_block_step *rest = steps->kind >= GS_BLOCK_SINGLE ? run_singles(steps, addresses) : steps;
    return rest == steps + count ? 0 : run_steps(rest, steps + count - rest, addresses);
}

static inline void
move_along(char **own, const npy_intp *strides, npy_intp n)
{
    GS_IVDEP
    for (npy_intp k = 0; k < n; k++) {
        own[k] += strides[k];
    }
}

static int
run_repeat(const gs_block_repeat *repeat, char **addresses)
{
    char **own = addresses + repeat->first;
    const npy_intp n_moving = repeat->n_moving, n_listed = repeat->n_listed;
    for (npy_intp k = 0; k < n_moving; k++) {
        own[k] = addresses[repeat->starts[k]];
    }
    const int32_t *listed = repeat->listed;
    for (Py_ssize_t iteration = 0; iteration < repeat->count; iteration++, listed += n_listed) {
        for (npy_intp k = 0; k < n_listed; k++) {
            own[n_moving + k] = addresses[listed[k]];
        }
        if (run_all(repeat->steps, repeat->n_steps, addresses) < 0) {
            return -1;
        }
        move_along(own, repeat->strides, n_moving);
        if ((iteration + 1) % ITERATIONS_BETWEEN_SIGNALS == 0 && PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- tiles */

#define LINE 64

static gs_block_parallel parallel;

void
gs_block_set_parallel(gs_block_parallel given)
{
    parallel = given;
}

typedef struct {
    const gs_block_tiles *tiles;
    char *const *addresses;
    int failed; /* any thread may set it */
} tile_job;

static void
run_tile(const tile_job *job, npy_intp tile, char **local, char *scratch)
{
    const gs_block_tiles *tiles = job->tiles;
    for (Py_ssize_t k = 0; k < tiles->n_local; k++) {
        int32_t place = tiles->places[k];
        local[k] = place < 0 ? scratch + tiles->strides[k] : job->addresses[place] + tiles->strides[k] * tile;
    }
    run_steps(tile < tiles->count ? tiles->steps : tiles->rest, tiles->n_steps, local);
}

static void
run_some_tiles(void *context, npy_intp first, npy_intp last)
{
    tile_job *job = context;
    const gs_block_tiles *tiles = job->tiles;
    size_t table = ((size_t)tiles->n_local * sizeof(char *) + LINE - 1) / LINE * LINE;
    char *memory = malloc(table + (size_t)tiles->scratch + LINE);
    if (memory == NULL) {
        job->failed = 1;
        return;
    }
    char *start = memory + (LINE - (uintptr_t)memory % LINE), *scratch = start + table;
    for (Py_ssize_t i = 0; i < tiles->n_gaps; i++) {
        gs_forbid(scratch + tiles->gaps[2 * i], (size_t)tiles->gaps[2 * i + 1]);
    }
    for (npy_intp tile = first; tile < last; tile++) {
        run_tile(job, tile, (char **)start, scratch);
    }
    gs_allow(scratch, (size_t)tiles->scratch);
    free(memory);
}

static int
run_tiles(const gs_block_tiles *tiles, char **addresses)
{
    tile_job job = {tiles, addresses, 0};
    parallel(run_some_tiles, &job, tiles->count + (tiles->n_rest > 0), tiles->cost, 1);
    if (job.failed) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
gs_run_block(const gs_block_step *steps, Py_ssize_t count, char **addresses)
{
    return run_steps(steps, count, addresses);
}

int
gs_run_block_often(const gs_block_step *steps, Py_ssize_t count, char **addresses, Py_ssize_t first, Py_ssize_t n,
                   const npy_intp *after_even, const npy_intp *after_odd, Py_ssize_t times)
{
    for (Py_ssize_t time = 0; time < times; time++) {
        if (run_all(steps, count, addresses) < 0) {
            return -1;
        }
        move_along(addresses + first, time & 1 ? after_odd : after_even, n);
        if ((time + 1) % ITERATIONS_BETWEEN_SIGNALS == 0 && PyErr_CheckSignals() < 0) {
            return -1;
        }
    }
    return 0;
}
