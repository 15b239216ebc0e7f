/* Sums over all alignments without logarithms, for sequences whose probabilities stay in the range of numbers. */
#ifndef GRADSMITH_CTC_SCALED_H
#define GRADSMITH_CTC_SCALED_H

#include "ctc.h"

GS_HIDDEN_BEGIN

/* Both say 1, or 0 and change nothing: then ctc.c computes the same with logarithms. */

/* Adds the loss of a sequence. */
int gs_ctc_scaled_loss(const gs_ctc *c, npy_intp sequence, void *losses);

/* Adds the derivatives of its loss, where there are zeros. */
int gs_ctc_scaled_slopes(const gs_ctc *c, npy_intp sequence, void *slopes);

GS_HIDDEN_END

#endif
