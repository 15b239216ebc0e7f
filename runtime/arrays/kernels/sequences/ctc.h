/* Connectionist temporal classification: sums over all alignments of labels with the steps of a sequence. */
#ifndef GRADSMITH_CTC_H
#define GRADSMITH_CTC_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Log-probabilities are (steps, batch, classes), row by row, of NPY_FLOAT32 or NPY_FLOAT64.  Labels of sequence i are
 * labels[label_starts[i]] and on, label_counts[i] of them, each from 0 to classes - 1 and none the blank; its steps are
 * the first step_counts[i].  All that has been checked. */
typedef struct {
    int type;
    npy_intp steps, batch, classes, blank, most_labels;
    const npy_int64 *labels, *label_starts, *label_counts, *step_counts;
    const void *log_probs;
    const void *scales;         /* (batch,): factors of what is written; for the losses none */
    const void *direction;      /* of gs_ctc_curvature: like the log-probabilities */
} gs_ctc;

static inline double
gs_ctc_number_at(const gs_ctc *c, const void *array, npy_intp place)
{
    return c->type == NPY_FLOAT32 ? ((const float *)array)[place] : ((const double *)array)[place];
}

static inline void
gs_ctc_add_at(const gs_ctc *c, void *array, npy_intp place, double value)
{
    if (c->type == NPY_FLOAT32) {
        ((float *)array)[place] += (float)value;
    } else {
        ((double *)array)[place] += value;
    }
}

/* Called with the GIL, which large ones release; -1 with MemoryError. */

/* Minus the logarithm of the probability of the labels of each sequence: (batch,). */
int gs_ctc_losses(const gs_ctc *c, void *losses);

/* Derivatives of the losses, times their scales: like the log-probabilities. */
int gs_ctc_slopes(const gs_ctc *c, void *slopes);

/* The directional derivatives of these slopes, times their scales. */
int gs_ctc_curvature(const gs_ctc *c, void *curvature);

GS_HIDDEN_END

#endif
