/* The type that an operation computes in: PyTorch's rules.
 *
 * Types fall into categories bool < int < float < complex.  Arrays with dimensions decide; a 0-d array, and below it a
 * Python number, counts only when its category is higher.
 */
#ifndef GRADSMITH_PROMOTION_H
#define GRADSMITH_PROMOTION_H

#include "numpy_api.h"
#include "ufunc_loops.h"

GS_HIDDEN_BEGIN

typedef enum { GS_BOOL, GS_INT, GS_FLOAT, GS_COMPLEX } gs_category;

/* From the common type of the operands to the type computed in. */
typedef enum {
    GS_RULE_SAME,             /* the common type */
    GS_RULE_FLOAT,            /* ints and bool go to the default float type */
    GS_RULE_SUBTRACT,         /* no bool operand at all */
    GS_RULE_NEGATIVE,         /* no bool */
    GS_RULE_POWER,            /* no bool; ints check their exponents */
    GS_RULE_INTEGER_DIVISION, /* no bool, no complex; ints check for zero divisors */
    GS_RULE_SQUARE,           /* bool goes to int64 */
    GS_RULE_ORDERED,          /* no complex */
    GS_RULE_BITS,             /* ints and bool only */
    GS_RULE_SHIFT,            /* ints only */
    GS_RULE_ROUNDING,         /* ints are their own result; no bool, no complex */
    GS_RULE_POSITIVE,         /* no bool; all but complex is its own result */
    GS_RULE_BOOL_UNCHANGED,   /* bool is its own result */
    GS_RULE_UNCHANGED         /* all but complex is its own result (float, too) */
} gs_rule;

static inline gs_category
gs_category_of(int type)
{
    return type == NPY_BOOL                           ? GS_BOOL
           : type <= NPY_ULONGLONG                    ? GS_INT
           : type <= NPY_LONGDOUBLE || type == NPY_HALF ? GS_FLOAT
                                                      : GS_COMPLEX;
}

extern int gs_default_float; /* NPY_FLOAT32 or NPY_FLOAT64 */

/* The type an operand contributes, and how strongly. */
typedef struct {
    int dimensioned; /* type of the operands with dimensions, -1 for none */
    int zero_dim;
    int number;
} gs_result_state;

#define GS_RESULT_STATE_INIT {-1, -1, -1}

/* -1 with an exception set on failure. */
int gs_add_operand(gs_result_state *state, int type, int nd);
int gs_add_number(gs_result_state *state, PyObject *number);
int gs_result_type(const gs_result_state *state);

/* The type a ufunc computes in when its operands' common type is `type`; raises for what the rule refuses. */
int gs_compute_type(gs_ufunc ufunc, int type);

/* May a result of type `from` be written into an array of type `to`?  (not down the categories) */
static inline int
gs_can_store(int from, int to)
{
    return gs_category_of(from) <= gs_category_of(to);
}

/* Raises NotImplementedError: "abs" not implemented for 'bool'. */
int gs_raise_not_implemented(const char *op, int type);

GS_HIDDEN_END

#endif
