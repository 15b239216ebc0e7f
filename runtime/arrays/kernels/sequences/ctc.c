/* Note [Lattices]
 *
 * An alignment gives each step a label or the blank; repeated labels are merged and blanks left out.  So its states are
 * the labels with a blank before, between and after them, and a step stays in its state, goes to the next one, or skips a
 * blank between two labels that differ.  The probability of all alignments together is a sum over paths (Graves et al.,
 * Connectionist Temporal Classification, 2006): `before` of a state is the logarithm of the sum over paths that lead to it,
 * with what its step emits, and `after` that over paths that go on from it.  All is computed in double precision.
 *
 * The derivative of the loss with respect to a log-probability is minus the share of the paths that go through it.  The
 * derivative of such shares in a direction needs the tangents of both sums, which are means of the tangents that lead to a
 * state, weighted by the shares of their paths.
 */
#include "ctc.h"
#include "ctc_scaled.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <stdlib.h>
#include <string.h>

#define PADS 2 /* states on each side that no path reaches */

typedef enum { LOSSES, SLOPES, CURVATURE } wanted;

typedef struct {
    const gs_ctc *c;
    wanted wanted;
    void *results;
    int is_out_of_memory;
} job;

/* One sequence.  Rows of states have PADS more on each side. */
typedef struct {
    const gs_ctc *c;
    npy_intp sequence, n_steps, n_states, width;
    double *memory;
    npy_int64 *labels;                           /* of states */
    double *skips;                               /* 0 where a path may come from two states before, or -inf */
    double *before, *before_tangents;            /* (n_steps, width); one row is enough for the loss */
    double *after, *after_tangents;              /* of the step that is gone over */
    double *emitted, *emitted_tangents;          /* likewise */
    double *sums, *sum_tangents;
} lattice;

/* ---- sums over paths */

/* The logarithm of the sum of three exponentials, where the third may be closed by -inf. */
GS_CLONES static void
sum_paths(npy_intp n, const double *a, const double *b, const double *c, const double *open, double *to)
{
    GS_IVDEP
    for (npy_intp s = 0; s < n; s++) {
        double x = a[s], y = b[s], z = c[s] + open[s];
        double most = x > y ? x : y;
        most = most > z ? most : z;
        most = most == -INFINITY ? 0 : most;
        to[s] = most + log(exp(x - most) + exp(y - most) + exp(z - most));
    }
}

/* The mean of three tangents, weighted by the shares of their paths in the sum. */
GS_CLONES static void
mean_of_tangents(npy_intp n, const double *const *paths, const double *const *tangents, const double *open,
                 const double *sums, double *to)
{
    const double *a = paths[0], *b = paths[1], *c = paths[2];
    const double *at = tangents[0], *bt = tangents[1], *ct = tangents[2];
    GS_IVDEP
    for (npy_intp s = 0; s < n; s++) {
        double sum = sums[s] == -INFINITY ? 0 : sums[s];
        to[s] = exp(a[s] - sum) * at[s] + exp(b[s] - sum) * bt[s] + exp(c[s] + open[s] - sum) * ct[s];
    }
}

static void
close_row(double *row, npy_intp width)
{
    for (npy_intp i = 0; i < width; i++) {
        row[i] = -INFINITY;
    }
}

/* What each state emits at a step, and its tangent. */
static void
emit(const lattice *l, npy_intp t)
{
    const gs_ctc *c = l->c;
    npy_intp row = (t * c->batch + l->sequence) * c->classes;
    for (npy_intp s = 0; s < l->n_states; s++) {
        l->emitted[PADS + s] = gs_ctc_number_at(c, c->log_probs, row + l->labels[s]);
        if (c->direction != NULL) {
            l->emitted_tangents[PADS + s] = gs_ctc_number_at(c, c->direction, row + l->labels[s]);
        }
    }
}

/* ---- forwards */

static double *
row_before(const lattice *l, double *rows, npy_intp t, int keeps)
{
    return rows + (keeps ? t : t % 2) * l->width + PADS;
}

static void
begin(const lattice *l, int keeps)
{
    double *before = row_before(l, l->before, 0, keeps);
    emit(l, 0);
    for (npy_intp s = 0; s < l->n_states && s < 2; s++) {
        before[s] = l->emitted[PADS + s];
        if (l->c->direction != NULL) {
            l->before_tangents[PADS + s] = l->emitted_tangents[PADS + s];
        }
    }
}

static void
advance(const lattice *l, npy_intp t, int keeps)
{
    const double *from = row_before(l, l->before, t - 1, keeps), *emitted = l->emitted + PADS;
    double *to = row_before(l, l->before, t, keeps);
    emit(l, t);
    sum_paths(l->n_states, from, from - 1, from - 2, l->skips, to);
    if (l->c->direction != NULL) {
        const double *tangents = row_before(l, l->before_tangents, t - 1, keeps);
        double *result = row_before(l, l->before_tangents, t, keeps);
        const double *paths[3] = {from, from - 1, from - 2}, *theirs[3] = {tangents, tangents - 1, tangents - 2};
        mean_of_tangents(l->n_states, paths, theirs, l->skips, to, result);
        for (npy_intp s = 0; s < l->n_states; s++) {
            result[s] += l->emitted_tangents[PADS + s];
        }
    }
    for (npy_intp s = 0; s < l->n_states; s++) {
        to[s] += emitted[s];
    }
}

/* The logarithm of the probability of all alignments: they end in the last label or in the blank after it. */
static double
total(const double *last, npy_intp n_states)
{
    double x = last[n_states - 1], y = n_states > 1 ? last[n_states - 2] : -INFINITY;
    double most = x > y ? x : y;
    return most == -INFINITY ? x + y : most + log(exp(x - most) + exp(y - most));
}

static double
total_tangent(const double *last, const double *tangents, npy_intp n_states, double sum)
{
    double result = exp(last[n_states - 1] - sum) * tangents[n_states - 1];
    return n_states > 1 ? result + exp(last[n_states - 2] - sum) * tangents[n_states - 2] : result;
}

static double
log_probability(const lattice *l, int keeps)
{
    if (l->n_steps == 0) {
        return l->n_states == 1 ? 0 : -INFINITY;
    }
    begin(l, keeps);
    for (npy_intp t = 1; t < l->n_steps; t++) {
        advance(l, t, keeps);
    }
    return total(row_before(l, l->before, l->n_steps - 1, keeps), l->n_states);
}

/* ---- backwards */

/* From the sums over paths after a step, with what the step emits, to those after the step before. */
static void
retreat(const lattice *l)
{
    double *after = l->after + PADS, *sums = l->sums + PADS;
    for (npy_intp s = 0; s < l->n_states; s++) {
        sums[s] = after[s] + l->emitted[PADS + s];
    }
    sum_paths(l->n_states, sums, sums + 1, sums + 2, l->skips + 2, after);
    if (l->c->direction != NULL) {
        double *tangents = l->sum_tangents + PADS, *result = l->after_tangents + PADS;
        for (npy_intp s = 0; s < l->n_states; s++) {
            tangents[s] = result[s] + l->emitted_tangents[PADS + s];
        }
        const double *paths[3] = {sums, sums + 1, sums + 2}, *theirs[3] = {tangents, tangents + 1, tangents + 2};
        mean_of_tangents(l->n_states, paths, theirs, l->skips + 2, after, result);
    }
}

/* The share of paths through each state, or its derivative, goes to the state's label. */
static void
add_shares(const lattice *l, npy_intp t, double log_sum, double sum_tangent, double scale, void *results)
{
    const gs_ctc *c = l->c;
    npy_intp row = (t * c->batch + l->sequence) * c->classes;
    const double *before = row_before(l, l->before, t, 1), *after = l->after + PADS;
    const double *tangents = c->direction == NULL ? NULL : row_before(l, l->before_tangents, t, 1);
    for (npy_intp s = 0; s < l->n_states; s++) {
        double share = exp(before[s] + after[s] - log_sum);
        if (tangents != NULL) {
            share *= tangents[s] + l->after_tangents[PADS + s] - sum_tangent;
        }
        gs_ctc_add_at(c, results, row + l->labels[s], -scale * share);
    }
}

static void
share_out(const lattice *l, double log_sum, double scale, void *results)
{
    npy_intp last = l->n_steps - 1;
    double sum_tangent = 0;
    close_row(l->after, l->width);
    for (npy_intp s = l->n_states - 1; s >= 0 && s >= l->n_states - 2; s--) {
        l->after[PADS + s] = 0;
    }
    if (l->c->direction != NULL) {
        sum_tangent = total_tangent(row_before(l, l->before, last, 1), row_before(l, l->before_tangents, last, 1),
                                    l->n_states, log_sum);
    }
    for (npy_intp t = last; t >= 0; t--) {
        add_shares(l, t, log_sum, sum_tangent, scale, results);
        emit(l, t);
        retreat(l);
    }
}

/* Labels that no alignment has: the derivative of what is infinite. */
static void
fill_with_nan(const lattice *l, void *results)
{
    const gs_ctc *c = l->c;
    for (npy_intp t = 0; t < l->n_steps; t++) {
        for (npy_intp k = 0; k < c->classes; k++) {
            gs_ctc_add_at(c, results, (t * c->batch + l->sequence) * c->classes + k, NAN);
        }
    }
}

/* ---- one sequence after the other */

static void
set_states(lattice *l)
{
    const gs_ctc *c = l->c;
    const npy_int64 *labels = c->labels + c->label_starts[l->sequence];
    for (npy_intp s = 0; s < l->n_states; s++) {
        l->labels[s] = s % 2 ? labels[s / 2] : c->blank;
    }
    close_row(l->skips, l->n_states + PADS);
    for (npy_intp s = 3; s < l->n_states; s += 2) {
        l->skips[s] = l->labels[s] == l->labels[s - 2] ? -INFINITY : 0;
    }
}

static int
open_lattice(lattice *l, const gs_ctc *c, npy_intp sequence, int keeps)
{
    *l = (lattice){.c = c, .sequence = sequence, .n_steps = c->step_counts[sequence]};
    l->n_states = 2 * c->label_counts[sequence] + 1;
    l->width = l->n_states + 2 * PADS;
    npy_intp rows = keeps ? l->n_steps : 2, size = (2 * rows + 9) * l->width;
    l->memory = calloc((size_t)size, sizeof(double));
    if (l->memory == NULL) {
        return 0;
    }
    double *place = l->memory;
    double **parts[] = {&l->skips, &l->after, &l->after_tangents, &l->emitted, &l->emitted_tangents, &l->sums,
                        &l->sum_tangents};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++, place += l->width) {
        *parts[i] = place;
    }
    l->before = place;
    l->before_tangents = place + rows * l->width;
    l->labels = (npy_int64 *)(place + 2 * rows * l->width);
    close_row(l->before, rows * l->width);
    close_row(l->sums, l->width);
    set_states(l);
    return 1;
}

static void
compute(const lattice *l, const job *j)
{
    const gs_ctc *c = l->c;
    double log_sum = log_probability(l, j->wanted != LOSSES);
    if (j->wanted == LOSSES) {
        gs_ctc_add_at(c, j->results, l->sequence, -log_sum);
        return;
    }
    double scale = gs_ctc_number_at(c, c->scales, l->sequence);
    if (scale == 0 || l->n_steps == 0) {
        return;
    }
    if (log_sum == -INFINITY) {
        fill_with_nan(l, j->results);
    } else {
        share_out(l, log_sum, scale, j->results);
    }
}

/* Without logarithms; 0 when that is not possible. */
static int
compute_scaled(const job *j, npy_intp sequence)
{
    switch (j->wanted) {
    case LOSSES:
        return gs_ctc_scaled_loss(j->c, sequence, j->results);
    case SLOPES:
        return gs_ctc_scaled_slopes(j->c, sequence, j->results);
    default:
        return 0;
    }
}

static void
run(void *context, npy_intp first, npy_intp last)
{
    job *j = context;
    for (npy_intp i = first; i < last; i++) {
        lattice l;
        if (compute_scaled(j, i)) {
            continue;
        }
        if (open_lattice(&l, j->c, i, j->wanted != LOSSES)) {
            compute(&l, j);
            free(l.memory);
        } else {
            j->is_out_of_memory = 1;
        }
    }
}

static int
run_all(const gs_ctc *c, wanted wanted, void *results, npy_intp n_results)
{
    job j = {.c = c, .wanted = wanted, .results = results};
    memset(results, 0, (size_t)n_results * (c->type == NPY_FLOAT32 ? 4 : 8));
    gs_parallel(run, &j, c->batch, c->steps * (2 * c->most_labels + 1) * 4 + 1, 1);
    if (j.is_out_of_memory) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

int
gs_ctc_losses(const gs_ctc *c, void *losses)
{
    return run_all(c, LOSSES, losses, c->batch);
}

int
gs_ctc_slopes(const gs_ctc *c, void *slopes)
{
    return run_all(c, SLOPES, slopes, c->steps * c->batch * c->classes);
}

int
gs_ctc_curvature(const gs_ctc *c, void *curvature)
{
    return run_all(c, CURVATURE, curvature, c->steps * c->batch * c->classes);
}
