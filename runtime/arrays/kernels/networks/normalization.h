/* Elements less their mean and divided by their deviation, scaled and shifted, and the gradients of that. */
#ifndef GRADSMITH_NORMALIZATION_H
#define GRADSMITH_NORMALIZATION_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* An array of size (outer, groups, inner), row by row.  A group has a mean and a variance, of its elements in all of
 * `outer`.  Factors and terms (weight and bias) are those of some runs of `run` elements, inner / run in a row; groups
 * `period` apart share them. */
typedef struct {
    int type; /* NPY_FLOAT32 or NPY_FLOAT64 */
    int is_centered; /* if not, the mean is taken for zero */
    double eps;
    npy_intp outer, groups, inner;
    npy_intp period, run;
} gs_normalization;

/* Called with the GIL, which large ones release; -1 with an exception.  The job is a gs_normalization. */

/* weight and bias may be NULL */
int gs_standardize(const void *job, const void *x, const void *weight, const void *bias, void *result, void *mean,
                   void *var);
int gs_standardize_backward(const void *job, const void *grad, const void *x, const void *weight, const void *mean,
                            const void *var, void *result);
/* The gradient of the weight: for each factor the sum of gradients times standardized elements. */
int gs_standardize_sums(const void *job, const void *grad, const void *x, const void *mean, const void *var, void *sums);

GS_HIDDEN_END

#endif
