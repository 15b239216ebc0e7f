#include "promotion.h"
#include "loops.h"
#include "numbers.h"
#include "walks/assign.h"

int gs_default_float = NPY_FLOAT32;

static int8_t promotions[GS_TYPES][GS_TYPES]; /* 0: not asked yet; type + 1; -1: refused */

const char *
gs_type_name(int type)
{
    static const char *const names[GS_TYPES] = {
        "bool", "int8",     "uint8",     "int16",   "uint16",  "int",        "uint",      "long",       "ulong",
                "longlong", "ulonglong", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble",
        [NPY_HALF] = "float16",
    };
    switch (type) { /* the numbers of these depend on the platform, their names must not */
    case NPY_INT32: return "int32";
    case NPY_UINT32: return "uint32";
    case NPY_INT64: return "int64";
    case NPY_UINT64: return "uint64";
    default: return type >= 0 && type < GS_TYPES && names[type] != NULL ? names[type] : "unsupported";
    }
}

int
gs_raise_not_implemented(const char *op, int type)
{
    PyErr_Format(PyExc_NotImplementedError, "\"%s\" not implemented for '%s'", op, gs_type_name(type));
    return -1;
}

/* ---- two types */

static int
ask_numpy(int a, int b)
{
    PyArray_Descr *descr = PyArray_PromoteTypes(gs_descr[a], gs_descr[b]);
    if (descr == NULL) {
        PyErr_Clear();
        return -1;
    }
    int type = descr->type_num;
    Py_DECREF(descr);
    return gs_category_of(type) == (gs_category_of(a) > gs_category_of(b) ? gs_category_of(a) : gs_category_of(b))
               ? type + 1
               : -1;
}

static int
promotion_of(int a, int b)
{
    gs_category ca = gs_category_of(a), cb = gs_category_of(b);
    if (ca <= GS_INT && cb >= GS_FLOAT) {
        return b + 1; /* the width of an int says nothing about a float */
    }
    if (cb <= GS_INT && ca >= GS_FLOAT) {
        return a + 1;
    }
    return ask_numpy(a, b);
}

int
gs_promote_types(int a, int b)
{
    if (a == b) {
        return a;
    }
    if (promotions[a][b] == 0) {
        promotions[a][b] = (int8_t)promotion_of(a, b);
    }
    if (promotions[a][b] < 0) {
        PyErr_Format(PyExc_RuntimeError,
                     "Promotion of %s and %s is not supported: no integer type holds both; convert one with .to(dtype)",
                     gs_type_name(a), gs_type_name(b));
        return -1;
    }
    return promotions[a][b] - 1;
}

/* ---- all operands */

static int
complex_of(int type)
{
    return type == NPY_FLOAT64 ? NPY_COMPLEX128 : type == NPY_LONGDOUBLE ? NPY_CLONGDOUBLE : NPY_COMPLEX64;
}

static int
merge(int *slot, int type)
{
    *slot = *slot < 0 ? type : gs_promote_types(*slot, type);
    return *slot < 0 ? -1 : 0;
}

int
gs_add_operand(gs_result_state *state, int type, int nd)
{
    return merge(nd > 0 ? &state->dimensioned : &state->zero_dim, type);
}

int
gs_add_number(gs_result_state *state, PyObject *number)
{
    switch (gs_number_category(number)) {
    case GS_BOOL: return merge(&state->number, NPY_BOOL);
    case GS_INT: return merge(&state->number, NPY_INT64);
    case GS_FLOAT: return merge(&state->number, gs_default_float);
    case GS_COMPLEX: return merge(&state->number, complex_of(gs_default_float));
    default: return -1;
    }
}

/* A stronger and a weaker kind of operand, -1 for none: the weaker one counts only for its category. */
static int
combine(int strong, int weak)
{
    if (strong < 0 || weak < 0) {
        return strong < 0 ? weak : strong;
    }
    gs_category s = gs_category_of(strong), w = gs_category_of(weak);
    if (s >= w) {
        return strong;
    }
    return s == GS_FLOAT ? complex_of(strong) : weak;
}

int
gs_result_type(const gs_result_state *state)
{
    return combine(state->dimensioned, combine(state->zero_dim, state->number));
}

int
gs_result_type_of(PyObject *a, PyObject *b)
{
    gs_result_state state = GS_RESULT_STATE_INIT;
    int a_type = gs_numeric_type(a);
    int b_type = a_type < 0 ? -1 : gs_numeric_type(b);
    if (b_type < 0 || gs_add_operand(&state, a_type, gs_fields(a)->nd) < 0 ||
        gs_add_operand(&state, b_type, gs_fields(b)->nd) < 0) {
        return -1;
    }
    return gs_result_type(&state);
}

/* ---- rules */

static int
refuse_bool_subtract(void)
{
    PyErr_SetString(PyExc_RuntimeError,
                    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a "
                    "mask, use the `~` or `logical_not()` operator instead, or `^` / `logical_xor()` for two masks");
    return -1;
}

static int
refuse_bool_negative(void)
{
    PyErr_SetString(PyExc_RuntimeError,
                    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
                    "mask, use the `~` or `logical_not()` operator instead");
    return -1;
}

int
gs_compute_type(gs_ufunc ufunc, int type)
{
    const char *name = gs_op_name(ufunc);
    gs_category category = gs_category_of(type);
    switch (gs_ufuncs[ufunc].rule) {
    case GS_RULE_FLOAT: return category <= GS_INT ? gs_default_float : type;
    case GS_RULE_SUBTRACT: return category == GS_BOOL ? refuse_bool_subtract() : type;
    case GS_RULE_NEGATIVE: return category == GS_BOOL ? refuse_bool_negative() : type;
    case GS_RULE_POWER: return category == GS_BOOL ? gs_raise_not_implemented(name, type) : type;
    case GS_RULE_SQUARE: return category == GS_BOOL ? NPY_INT64 : type;
    case GS_RULE_ORDERED: return category == GS_COMPLEX ? gs_raise_not_implemented(name, type) : type;
    case GS_RULE_BITS: return category >= GS_FLOAT ? gs_raise_not_implemented(name, type) : type;
    case GS_RULE_SHIFT: return category != GS_INT ? gs_raise_not_implemented(name, type) : type;
    case GS_RULE_INTEGER_DIVISION:
    case GS_RULE_ROUNDING:
        return category == GS_BOOL || category == GS_COMPLEX ? gs_raise_not_implemented(name, type) : type;
    case GS_RULE_POSITIVE: return category == GS_BOOL ? gs_raise_not_implemented(name, type) : type;
    case GS_RULE_SAME:
    case GS_RULE_BOOL_UNCHANGED:
    case GS_RULE_UNCHANGED: break;
    }
    return type;
}
