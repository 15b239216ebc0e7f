/* Averages of values, weighted by the softmax of the products of queries with keys. */
#ifndef GRADSMITH_ATTENTION_H
#define GRADSMITH_ATTENTION_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Some heads, each with queries (queries, width), keys (keys, width) and values (keys, value_width).  Where a head's
 * operands begin is said for each, in elements; their rows are as far apart as is said, and columns lie side by side.
 * Those of the mask may be any distance apart, zero too. */
typedef struct {
    int type;      /* NPY_FLOAT32 or NPY_FLOAT64 */
    int mask_type; /* NPY_BOOL: may a query see a key; `type`: a term of their product; -1: there is none */
    int is_causal; /* a query sees the keys up to its own place */
    double scale;
    npy_intp heads, queries, keys, width, value_width;
    const npy_intp *query_at, *key_at, *value_at, *mask_at;
    npy_intp query_row, key_row, value_row, mask_row, mask_column;
    const npy_intp *result_at, *grads_at[3]; /* of the result or its gradient; of those of query, key and value */
    npy_intp result_row, grads_row[3];
} gs_attention;

/* Called with the GIL, which large ones release; -1 with an exception.  The job is a gs_attention.  `logsumexp` and
 * `delta`, of size (heads, queries), are row by row. */

/* `logsumexp` is infinite for a query that may see nothing, whose result is zero. */
int gs_attend(const void *job, const void *query, const void *key, const void *value, const void *mask, void *result,
              void *logsumexp);
/* `delta` is the sum of result times gradient less the gradient of `logsumexp`.  `grads` are those of query, key and
 * value. */
int gs_attend_backward(const void *job, const void *query, const void *key, const void *value, const void *mask,
                       const void *grad, const void *logsumexp, const void *delta, void **grads);

GS_HIDDEN_END

#endif
