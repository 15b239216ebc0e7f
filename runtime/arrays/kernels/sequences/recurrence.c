/* Note [Steps of a recurrence]
 *
 * What a step takes from its input does not depend on other steps, so callers compute it for all steps as one product.
 * Here is the rest: at each step a product of the previous output with the weight, to which the input's share is what
 * sums begin with, and one loop over the gates.  Sequences do not depend on each other, so threads take sequences, through
 * all steps.
 *
 * The pullback goes over the steps backwards.  It keeps the gradients of the gates, from which callers get that of the
 * weight as one product over all steps.  The pushforward is its transpose: it takes sources that are added to the
 * tangents of the gates, of the cells and of the output at each step, and gives these tangents, while the pullback takes
 * gradients of the three, and gives those of the three sources.
 */
#include "recurrence.h"
#include "networks/exponential.h"
#include "row_products.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 96 /* sequences that go through all steps together: what a step has of them stays near */

typedef struct {
    const gs_recurrence *r;
    gs_packed_matrix main;   /* of the GRU: of reset and update */
    gs_packed_matrix second; /* of the LSTM: the projection; of the GRU: of what is reset */
    char *scratch;           /* (batch, hidden) */
    char *zeros;             /* what a row has that is not there */
} job;

/* A step of some sequences from `first` on.  Rows are those of the arrays; the sequences that had a step before in the
 * order of GS_RUN, and those that have one after it, come first. */
typedef struct {
    npy_intp first, n, row;
    npy_intp carried, row_before;
    npy_intp continued, row_after;
} step;

static npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static npy_intp
larger(npy_intp a, npy_intp b)
{
    return a > b ? a : b;
}

/* How many of the sequences from `first` to `last` have step t. */
static npy_intp
rows_at(const gs_recurrence *r, npy_intp t, npy_intp first, npy_intp last)
{
    if (t < 0 || t >= r->steps) {
        return 0;
    }
    return larger(0, smaller(last, r->starts[t + 1] - r->starts[t]) - first);
}

static npy_intp
row_of(const gs_recurrence *r, npy_intp t, npy_intp first)
{
    return t < 0 || t >= r->steps ? 0 : r->starts[t] + first;
}

static step
step_at(const gs_recurrence *r, npy_intp t, npy_intp first, npy_intp last)
{
    npy_intp before = r->reverse ? t + 1 : t - 1, after = r->reverse ? t - 1 : t + 1;
    step s = {.first = first, .n = rows_at(r, t, first, last), .row = row_of(r, t, first)};
    s.carried = smaller(s.n, rows_at(r, before, first, last));
    s.row_before = row_of(r, before, first);
    s.continued = smaller(s.n, rows_at(r, after, first, last));
    s.row_after = row_of(r, after, first);
    return s;
}

#include "support/with_float32.h"
#include "recurrence_template.h"

#include "support/with_float64.h"
#include "recurrence_template.h"

/* ---- what a pass needs, and the loop over steps */

typedef void (*run_step)(const job *, const step *);

static const run_step step_runs[4][3][2] = {
    [GS_LSTM] = {{run_lstm_float32, run_lstm_float64},
                 {pull_lstm_float32, pull_lstm_float64},
                 {push_lstm_float32, push_lstm_float64}},
    [GS_GRU] = {{run_gru_float32, run_gru_float64},
                {pull_gru_float32, pull_gru_float64},
                {push_gru_float32, push_gru_float64}},
    [GS_RNN_TANH] = {{run_rnn_float32, run_rnn_float64},
                     {pull_rnn_float32, pull_rnn_float64},
                     {push_rnn_float32, push_rnn_float64}},
    [GS_RNN_RELU] = {{run_rnn_float32, run_rnn_float64},
                     {pull_rnn_float32, pull_rnn_float64},
                     {push_rnn_float32, push_rnn_float64}},
};

static void
run_sequences(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_recurrence *r = j->r;
    run_step run = step_runs[r->cell][r->pass][r->type == NPY_FLOAT64];
    int backwards = r->reverse != (r->pass == GS_PULL);
    for (; first < last; first += BLOCK) {
        for (npy_intp i = 0; i < r->steps; i++) {
            npy_intp t = backwards ? r->steps - 1 - i : i;
            step s = step_at(r, t, first, smaller(last, first + BLOCK));
            if (s.n > 0) {
                run(j, &s);
            }
        }
    }
}

static npy_intp
gates_of(const gs_recurrence *r)
{
    return r->cell == GS_LSTM ? 4 : r->cell == GS_GRU ? 3 : 1;
}

/* A matrix of the weight's rows from `first` to `last`: columns for the pullback, which multiplies gradients of gates. */
static int
pack(const gs_recurrence *r, gs_packed_matrix *packed, const void *weight, npy_intp first, npy_intp last, npy_intp size)
{
    npy_intp item = r->type == NPY_FLOAT32 ? 4 : 8;
    const char *from = (const char *)weight + first * size * item;
    if (r->pass == GS_PULL) {
        return gs_pack_matrix(packed, r->type, from, size, 1, last - first, size);
    }
    return gs_pack_matrix(packed, r->type, from, 1, size, size, last - first);
}

static int
prepare(job *j)
{
    const gs_recurrence *r = j->r;
    size_t item = r->type == NPY_FLOAT32 ? 4 : 8;
    npy_intp rows = gates_of(r) * r->hidden, in_main = r->cell == GS_GRU ? 2 * r->hidden : rows;
    j->zeros = calloc((size_t)(4 * r->hidden + r->size + 1), item);
    j->scratch = malloc((size_t)(r->batch * r->hidden + 1) * item);
    int is_ready = j->zeros != NULL && j->scratch != NULL && pack(r, &j->main, r->weight, 0, in_main, r->size);
    if (is_ready && r->cell == GS_GRU) {
        is_ready = pack(r, &j->second, r->weight, in_main, rows, r->size);
    }
    if (is_ready && r->projection != NULL) {
        is_ready = pack(r, &j->second, r->projection, 0, r->size, r->hidden);
    }
    return is_ready;
}

static void
dispose(job *j)
{
    gs_free_matrix(&j->main);
    gs_free_matrix(&j->second);
    free(j->scratch);
    free(j->zeros);
}

int
gs_recur(const gs_recurrence *r)
{
    job j = {.r = r};
    npy_intp work = r->steps * gates_of(r) * r->hidden * (r->size / 8 + 8);
    int is_ready = prepare(&j);
    if (is_ready) {
        gs_parallel(run_sequences, &j, r->batch, work, 1);
    }
    dispose(&j);
    if (!is_ready) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}
