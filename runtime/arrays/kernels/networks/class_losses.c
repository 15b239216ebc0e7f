/* Note [Losses without probabilities]
 *
 * The loss of a class is the logarithm of the sum of exponentials less the score of that class, so a row of scores is
 * read once and one number is kept of it.  Its gradient needs the probabilities, exp(score - logarithm of the sum), which
 * are computed again on the way: that is cheaper than writing them and reading them back.
 */
#include "networks/class_losses.h"
#include "elementary/logarithm.h"
#include "networks/exponential.h"
#include "threads/thread_pool.h"

#include <math.h>

#define TILE 1024   /* elements of a row whose sum is taken in one go */
#define COLUMNS 256 /* columns that are gone over together, where classes do not lie side by side */
#define ELEMENT_COST 8

typedef struct {
    const gs_classes *c;
    const void *x, *grad, *known;
    const npy_intp *classes;
    void *out, *logsumexp;
} job;

#include "support/with_float32.h"
#include "exponential_rows.h"
#include "class_losses_template.h"

#include "support/with_float64.h"
#include "exponential_rows.h"
#include "class_losses_template.h"

static int
run(gs_task rows, gs_task columns, job *j)
{
    const gs_classes *c = j->c;
    if (c->classes == 0) {
        return 0;
    }
    if (c->inner == 1) {
        gs_parallel(rows, j, c->outer, c->classes * ELEMENT_COST + 16, 1);
        return 0;
    }
    npy_intp n_tiles = (c->inner + COLUMNS - 1) / COLUMNS;
    npy_intp width = c->inner < COLUMNS ? c->inner : COLUMNS;
    gs_parallel(columns, j, c->outer * n_tiles, c->classes * width * ELEMENT_COST + 16, 1);
    return 0;
}

int
gs_class_losses(const void *settings, const void *x, const npy_intp *classes, void *losses, void *logsumexp)
{
    job j = {.c = settings, .x = x, .classes = classes, .out = losses, .logsumexp = logsumexp};
    return j.c->type == NPY_FLOAT32 ? run(losses_of_rows_float32, losses_of_columns_float32, &j)
                                    : run(losses_of_rows_float64, losses_of_columns_float64, &j);
}

int
gs_class_losses_backward(const void *settings, const void *grad, const void *x, const npy_intp *classes,
                         const void *logsumexp, void *result)
{
    job j = {.c = settings, .x = x, .grad = grad, .known = logsumexp, .classes = classes, .out = result};
    return j.c->type == NPY_FLOAT32 ? run(backward_of_rows_float32, backward_of_columns_float32, &j)
                                    : run(backward_of_rows_float64, backward_of_columns_float64, &j);
}
