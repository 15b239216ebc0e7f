/* NumPy's inner loops, called directly.  See Note [Inner loops] in loops.c. */
#ifndef GRADSMITH_LOOPS_H
#define GRADSMITH_LOOPS_H

#include "numpy_api.h"
#include "promotion.h"
#include "ufunc_loops.h"

GS_HIDDEN_BEGIN

typedef void (*gs_loop_function)(char **args, const npy_intp *dims, const npy_intp *strides, void *data);

/* Rows of n elements: `steps` lead from element to element, `row_steps` from row to row. */
typedef void (*gs_rows_function)(char *const *data, const npy_intp *steps, const npy_intp *row_steps, npy_intp n,
                                 npy_intp n_rows);

/* A loop is UNTESTED until its first use; then it is REFUSED (the public ufunc is called instead), USABLE on operands
 * that pointwise.c has prepared, or DIRECT: usable on any plain array of the type, with no rule to observe. */
typedef enum { GS_UNTESTED, GS_REFUSED, GS_USABLE, GS_DIRECT } gs_loop_state;

typedef struct {
    gs_loop_function run;
    void *data;
    int16_t out_type;
    uint8_t cost;
    uint8_t state;
    gs_rows_function rows; /* for many short rows of plain steps; NULL: call `run` for each */
} gs_loop;

typedef struct {
    const char *name;
    gs_rule rule;
    uint8_t cost;
    uint8_t n_in;
    PyObject *object; /* numpy's ufunc */
} gs_ufunc_info;

/* By ufunc and by the one type of all inputs.  Look at it through gs_find_loop unless the state is GS_DIRECT. */
extern gs_loop gs_loops[GS_N_UFUNCS][GS_TYPES];
extern gs_ufunc_info gs_ufuncs[GS_N_UFUNCS];

/* The loop for inputs of this type, tested; NULL without exception when there is none that may be used. */
const gs_loop *gs_find_loop(gs_ufunc ufunc, int type);

#define GS_SHORT_ROW 512 /* elements; a call of NumPy's loop costs less than a tenth of a longer row */

/* The loop over rows for two inputs of this type, or NULL: see Note [Short rows] in short_rows.c. */
gs_rows_function gs_rows_loop(gs_ufunc ufunc, int type);

/* The ufunc's public call on arrays, silent; out may be NULL. */
PyObject *gs_call_ufunc(gs_ufunc ufunc, PyObject *const *inputs, PyObject *out);

/* numpy.matmul's gufunc loop for a type; its state is GS_DIRECT or GS_REFUSED. */
const gs_loop *gs_matmul_loop(int type);

GS_HIDDEN_END

#endif
