/* Minus the log-probability of the right class, of a softmax that is not written out. */
#ifndef GRADSMITH_CLASS_LOSSES_H
#define GRADSMITH_CLASS_LOSSES_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Scores of size (outer, classes, inner), row by row, and a class for each of (outer, inner). */
typedef struct {
    int type; /* NPY_FLOAT32 or NPY_FLOAT64 */
    npy_intp outer, classes, inner;
    npy_intp ignored; /* a class whose loss is zero */
} gs_classes;

/* Called with the GIL, which large ones release; -1 with an exception.  The job is a gs_classes.  Every class is one, or
 * the ignored one. */
int gs_class_losses(const void *job, const void *x, const npy_intp *classes, void *losses, void *logsumexp);
int gs_class_losses_backward(const void *job, const void *grad, const void *x, const npy_intp *classes,
                             const void *logsumexp, void *result);

GS_HIDDEN_END

#endif
