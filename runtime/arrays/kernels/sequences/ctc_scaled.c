/* Note [Scaled lattices]
 *
 * Sums over paths, see Note [Lattices], are sums of products.  A step of them takes one multiplication and two additions
 * for a state, where logarithms of sums take three exponentials and a logarithm.  Products of hundreds of probabilities
 * leave the range of numbers, so each row of states is divided by its sum (Rabiner, A Tutorial on Hidden Markov Models,
 * 1989, V.A).  A state can still be so much less probable than others of its step that it would be rounded to zero, and
 * may yet be on the only way to the end: such a sequence is left to the logarithms.  A number of a row is zero or at least
 * LEAST, and a factor is within FACTOR of one, so nothing becomes zero before it is seen.
 *
 * A row has the blanks first, one more than there are labels, and then the labels, with zeros around them.
 */
#include "ctc_scaled.h"
#include "support/simd.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 1e-200     /* of a row whose sum is 1 */
#define LEAST_SUM 1e-280 /* of the products of two such rows */
#define FACTOR 1e100

typedef struct {
    const gs_ctc *c;
    npy_intp sequence, n_steps, n_labels, half; /* of a row */
    const npy_int64 *labels;
    double *memory;
    double *opens;   /* 1 where a path may skip the blank before a label, or 0 */
    double *after;   /* a row: paths that go on from each state */
    double *emitting; /* a row: those, with what the states emit */
    double *emitted; /* (rows, n_labels + 1): probabilities of the labels, and of the blank */
    double *before;  /* (rows, 2 * half): paths that lead to each state */
} scaled;

/* Where the log-probabilities of a step begin. */
static npy_intp
place_of(const scaled *l, npy_intp t)
{
    return (t * l->c->batch + l->sequence) * l->c->classes;
}

/* ---- rows */

/* Exponentials in place; are all within FACTOR of one? */
GS_CLONES static int
become_factors(npy_intp n, double *x)
{
    npy_int64 outside = 0;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        double e = exp(x[i]);
        outside += !(e >= 1 / FACTOR && e <= FACTOR);
        x[i] = e;
    }
    return outside == 0;
}

/* Divides a row by its sum, which it returns, or 0 when a number becomes too small. */
GS_CLONES static double
scale_row(npy_intp n, double *row)
{
    double sums[4] = {0};
    npy_intp i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int j = 0; j < 4; j++) {
            sums[j] += row[i + j];
        }
    }
    for (; i < n; i++) {
        sums[0] += row[i];
    }
    double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]), factor = 1 / sum;
    npy_int64 too_small = !(sum > 0);
    GS_IVDEP
    for (npy_intp k = 0; k < n; k++) {
        double x = row[k] * factor;
        too_small += (x > 0) & (x < LEAST);
        row[k] = x;
    }
    return too_small ? 0 : sum;
}

/* From the paths that lead to states to those that lead to states a step later; `emitted` ends with the blank. */
GS_CLONES static void
advance(npy_intp n, npy_intp half, const double *from, const double *opens, const double *emitted, double *to)
{
    const double *labels = from + half + 1;
    double blank = emitted[n], *to_labels = to + half + 1;
    GS_IVDEP
    for (npy_intp i = 0; i <= n; i++) {
        to[i] = (from[i] + labels[i - 1]) * blank;
    }
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        to_labels[i] = (labels[i] + from[i] + opens[i] * labels[i - 1]) * emitted[i];
    }
}

/* From the paths that go on after a step to those that go on after the step before. */
GS_CLONES static void
retreat(npy_intp n, npy_intp half, double *after, const double *opens, const double *emitted, double *emitting)
{
    double blank = emitted[n], *labels = emitting + half + 1, *after_labels = after + half + 1;
    GS_IVDEP
    for (npy_intp i = 0; i <= n; i++) {
        emitting[i] = after[i] * blank;
    }
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        labels[i] = after_labels[i] * emitted[i];
    }
    GS_IVDEP
    for (npy_intp i = 0; i <= n; i++) {
        after[i] = emitting[i] + labels[i];
    }
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        after_labels[i] = labels[i] + emitting[i + 1] + opens[i + 1] * labels[i + 1];
    }
}

/* The products of two rows; their sum. */
GS_CLONES static double
multiply_rows(npy_intp n, const double *a, const double *b, double *to)
{
    double sums[4] = {0};
    npy_intp i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int j = 0; j < 4; j++) {
            to[i + j] = a[i + j] * b[i + j];
            sums[j] += to[i + j];
        }
    }
    for (; i < n; i++) {
        to[i] = a[i] * b[i];
        sums[0] += to[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* ---- a sequence */

static int
begin(scaled *l, const gs_ctc *c, npy_intp sequence, int keeps)
{
    npy_intp n = c->label_counts[sequence], steps = c->step_counts[sequence];
    npy_intp half = n + 2, rows = keeps ? steps : 2;
    *l = (scaled){.c = c, .sequence = sequence, .n_steps = steps, .n_labels = n, .half = half,
                  .labels = c->labels + c->label_starts[sequence]};
    l->memory = steps == 0 ? NULL : calloc((size_t)(half + 4 * half + rows * 3 * half), sizeof(double));
    if (l->memory == NULL) {
        return 0;
    }
    l->opens = l->memory;
    l->after = l->opens + half;
    l->emitting = l->after + 2 * half;
    l->before = l->emitting + 2 * half;
    l->emitted = l->before + rows * 2 * half;
    for (npy_intp i = 1; i < n; i++) {
        l->opens[i] = l->labels[i] != l->labels[i - 1];
    }
    return 1;
}

static double *
row_before(const scaled *l, npy_intp t, int keeps)
{
    return l->before + (keeps ? t : t % 2) * 2 * l->half;
}

static double *
row_emitted(const scaled *l, npy_intp t, int keeps)
{
    return l->emitted + (keeps ? t : 0) * l->half;
}

static int
emit(const scaled *l, npy_intp t, double *emitted)
{
    const gs_ctc *c = l->c;
    npy_intp place = place_of(l, t);
    for (npy_intp i = 0; i < l->n_labels; i++) {
        emitted[i] = gs_ctc_number_at(c, c->log_probs, place + l->labels[i]);
    }
    emitted[l->n_labels] = gs_ctc_number_at(c, c->log_probs, place + c->blank);
    return become_factors(l->n_labels + 1, emitted);
}

/* Of the paths that lead to the end, which are in the last label or in the blank after it. */
static double
at_the_end(const scaled *l, const double *row)
{
    npy_intp n = l->n_labels;
    return row[n] + (n > 0 ? row[l->half + n] : 0);
}

/* Rows of the paths that lead to states, and the logarithm of the probability; are they within the range? */
static int
go_forward(const scaled *l, int keeps, double *log_sum)
{
    *log_sum = 0;
    for (npy_intp t = 0; t < l->n_steps; t++) {
        double *row = row_before(l, t, keeps), *emitted = row_emitted(l, t, keeps);
        if (!emit(l, t, emitted)) {
            return 0;
        }
        if (t > 0) {
            advance(l->n_labels, l->half, row_before(l, t - 1, keeps), l->opens, emitted, row);
        } else {
            row[0] = emitted[l->n_labels];
            row[l->half + 1] = l->n_labels > 0 ? emitted[0] : 0;
        }
        double sum = scale_row(2 * l->half, row);
        if (sum == 0) {
            return 0;
        }
        *log_sum += log(sum);
    }
    double last = at_the_end(l, row_before(l, l->n_steps - 1, keeps));
    *log_sum += log(last);
    return last > 0;
}

/* The share of paths through each state goes to its label. */
static int
add_shares(const scaled *l, npy_intp t, double scale, void *slopes)
{
    npy_intp n = l->n_labels, place = place_of(l, t);
    double *shares = l->emitting, blanks = 0;
    double sum = multiply_rows(2 * l->half, row_before(l, t, 1), l->after, shares);
    if (!(sum >= LEAST_SUM)) {
        return 0;
    }
    double factor = -scale / sum;
    for (npy_intp i = 0; i < n; i++) {
        blanks += shares[i];
        gs_ctc_add_at(l->c, slopes, place + l->labels[i], factor * shares[l->half + 1 + i]);
    }
    gs_ctc_add_at(l->c, slopes, place + l->c->blank, factor * (blanks + shares[n]));
    return 1;
}

static int
go_back(const scaled *l, double scale, void *slopes)
{
    npy_intp n = l->n_labels;
    l->after[n] = 1;
    l->after[l->half + n] = n > 0;
    for (npy_intp t = l->n_steps - 1; t >= 0; t--) {
        if (!add_shares(l, t, scale, slopes)) {
            return 0;
        }
        retreat(n, l->half, l->after, l->opens, row_emitted(l, t, 1), l->emitting);
        if (t > 0 && scale_row(2 * l->half, l->after) == 0) {
            return 0;
        }
    }
    return 1;
}

static void
clear(const scaled *l, void *slopes)
{
    size_t size = l->c->type == NPY_FLOAT32 ? 4 : 8;
    for (npy_intp t = 0; t < l->n_steps; t++) {
        memset((char *)slopes + (size_t)place_of(l, t) * size, 0, (size_t)l->c->classes * size);
    }
}

int
gs_ctc_scaled_loss(const gs_ctc *c, npy_intp sequence, void *losses)
{
    scaled l;
    double log_sum;
    if (!begin(&l, c, sequence, 0)) {
        return 0;
    }
    int is_done = go_forward(&l, 0, &log_sum);
    if (is_done) {
        gs_ctc_add_at(c, losses, sequence, -log_sum);
    }
    free(l.memory);
    return is_done;
}

int
gs_ctc_scaled_slopes(const gs_ctc *c, npy_intp sequence, void *slopes)
{
    scaled l;
    double log_sum, scale = gs_ctc_number_at(c, c->scales, sequence);
    if (!begin(&l, c, sequence, 1)) {
        return 0;
    }
    int is_done = go_forward(&l, 1, &log_sum);
    if (is_done && !go_back(&l, scale, slopes)) {
        clear(&l, slopes);
        is_done = 0;
    }
    free(l.memory);
    return is_done;
}
