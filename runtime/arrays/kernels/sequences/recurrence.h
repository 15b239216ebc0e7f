/* Recurrent layers over whole sequences: one layer in one direction, its pullback and its pushforward. */
#ifndef GRADSMITH_RECURRENCE_H
#define GRADSMITH_RECURRENCE_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

typedef enum { GS_LSTM, GS_GRU, GS_RNN_TANH, GS_RNN_RELU } gs_recurrent_cell;

/* The forward pass; the gradients of what goes into each step from those of what comes out; and tangents likewise. */
typedef enum { GS_RUN, GS_PULL, GS_PUSH } gs_recurrent_pass;

/* Sequences lie step by step: step t has rows starts[t] to starts[t + 1], one for each sequence that is so long, the
 * longest first.  Rows of gates are those that a step computes,
 *
 *     LSTM   input, forget, cell, output                        of `hidden` elements each
 *     GRU    reset, update, new, and what is reset of it        likewise; what goes in has three
 *     RNN    none: what goes in has as many elements as the output
 *
 * rows of the output have `size` elements, which differs from `hidden` where there is a projection.  Pointers are to
 * arrays of the type, row by row; those that a cell or a pass has no use for are NULL. */
typedef struct {
    int type; /* NPY_FLOAT32 or NPY_FLOAT64 */
    gs_recurrent_cell cell;
    gs_recurrent_pass pass;
    int reverse; /* from the last step of each sequence to the first */
    npy_intp batch, steps, hidden, size;
    const npy_intp *starts;
    const void *weight;         /* (gates * hidden, size) */
    const void *projection;     /* (size, hidden), or NULL */
    const void *bias;           /* of a GRU: (hidden,), added to what is reset; or NULL */
    const void *initial;        /* (batch, size) */
    const void *initial_cells;  /* (batch, hidden) */
    void *output, *gates, *cells;                           /* written by GS_RUN, read by the others */
    const void *from_output, *from_gates, *from_cells;      /* what goes in: gates of GS_RUN; all others may be NULL */
    void *to_output, *to_gates, *to_cells;                  /* what comes out of GS_PULL and GS_PUSH */
} gs_recurrence;

/* Called with the GIL, which large ones release; -1 with MemoryError. */
int gs_recur(const gs_recurrence *r);

GS_HIDDEN_END

#endif
