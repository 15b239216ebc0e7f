#include "promotion.h"
#include "assign.h"
#include "loops.h"

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

/* ---- numbers */

int
gs_number_category(PyObject *number)
{
    if (PyFloat_Check(number)) {
        return GS_FLOAT;
    }
    if (PyBool_Check(number) || PyArray_IsScalar(number, Bool)) {
        return GS_BOOL;
    }
    if (PyLong_Check(number) || PyArray_IsScalar(number, Integer)) {
        return GS_INT;
    }
    if (PyComplex_Check(number) || PyArray_IsScalar(number, ComplexFloating)) {
        return GS_COMPLEX;
    }
    if (PyArray_IsScalar(number, Floating)) {
        return GS_FLOAT;
    }
    if (PyIndex_Check(number) && !PyArray_Check(number)) {
        return GS_INT;
    }
    PyErr_Format(PyExc_TypeError, "expected a number, got %.100s", Py_TYPE(number)->tp_name);
    return -1;
}

static int
raise_overflow(int type)
{
    PyErr_Format(PyExc_RuntimeError, "value cannot be converted to type %s without overflow", gs_type_name(type));
    return -1;
}

/* Negative numbers wrap around in unsigned types, as in C and PyTorch. */
static int
fits(long long value, int type)
{
    int bits = (int)gs_itemsize[type] * 8;
    if (PyTypeNum_ISUNSIGNED(type)) {
        return bits == 64 || (value < (1LL << bits) && value > -(1LL << bits));
    }
    return bits == 64 || (value < (1LL << (bits - 1)) && value >= -(1LL << (bits - 1)));
}

/* An int of the value, truncated towards zero; a new reference. */
static PyObject *
truncated(PyObject *number)
{
    double value;
    switch (gs_number_category(number)) {
    case GS_BOOL: return PyLong_FromLong(PyObject_IsTrue(number));
    case GS_INT: return PyNumber_Index(number);
    default:
        value = PyFloat_AsDouble(number);
        return value == -1.0 && PyErr_Occurred() ? NULL : PyLong_FromDouble(value);
    }
}

static int
store_integer(PyObject *number, int type, char *element)
{
    PyObject *index = truncated(number);
    if (index == NULL) {
        return PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_OverflowError)
                   ? raise_overflow(type) /* NaN, infinity */
                   : -1;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (overflow > 0 && PyTypeNum_ISUNSIGNED(type) && gs_itemsize[type] == 8) {
        value = (long long)PyLong_AsUnsignedLongLong(index);
        overflow = PyErr_Occurred() != NULL;
        PyErr_Clear();
    }
    Py_DECREF(index);
    if (overflow || !fits(value, type)) {
        return raise_overflow(type);
    }
    switch (gs_itemsize[type]) {
    case 1: { int8_t v = (int8_t)value; memcpy(element, &v, 1); break; }
    case 2: { int16_t v = (int16_t)value; memcpy(element, &v, 2); break; }
    case 4: { int32_t v = (int32_t)value; memcpy(element, &v, 4); break; }
    default: memcpy(element, &value, 8); break;
    }
    return 0;
}

static int
store_float(PyObject *number, int type, char *element)
{
    double value = PyFloat_AsDouble(number);
    if (value == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (type == NPY_FLOAT32) {
        float v = (float)value;
        memcpy(element, &v, sizeof(v));
    } else {
        memcpy(element, &value, sizeof(value));
    }
    return 0;
}

static int
store_complex(PyObject *number, int type, char *element)
{
    Py_complex value = PyComplex_AsCComplex(number);
    if (value.real == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (type == NPY_COMPLEX64) {
        float v[2] = {(float)value.real, (float)value.imag};
        memcpy(element, v, sizeof(v));
    } else {
        double v[2] = {value.real, value.imag};
        memcpy(element, v, sizeof(v));
    }
    return 0;
}

static int
store_bool(PyObject *number, char *element)
{
    int truth = PyObject_IsTrue(number);
    *element = (char)truth;
    return truth < 0 ? -1 : 0;
}

static int
store_by_numpy(PyObject *number, int type, char *element)
{
    PyObject *silence = gs_silence_begin();
    if (silence == NULL) {
        return -1;
    }
    int status = PyArray_Pack(gs_descr[type], element, number);
    gs_silence_end(silence);
    return status;
}

static int
store_real(PyObject *number, int type, char *element)
{
    switch (gs_category_of(type)) {
    case GS_BOOL: return store_bool(number, element);
    case GS_INT: return store_integer(number, type, element);
    default:
        return type == NPY_FLOAT32 || type == NPY_FLOAT64 ? store_float(number, type, element)
                                                          : store_by_numpy(number, type, element);
    }
}

/* A complex number goes into a real type only when it is real. */
static int
store_complex_as_real(PyObject *number, int type, char *element)
{
    Py_complex value = PyComplex_AsCComplex(number);
    if (value.real == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (value.imag != 0.0) {
        return raise_overflow(type);
    }
    PyObject *real = PyFloat_FromDouble(value.real);
    int status = real == NULL ? -1 : store_real(real, type, element);
    Py_XDECREF(real);
    return status;
}

int
gs_store_number(PyObject *number, int type, char *element)
{
    int category = gs_number_category(number);
    if (category < 0) {
        return -1;
    }
    if (gs_category_of(type) < GS_COMPLEX) {
        return category == GS_COMPLEX ? store_complex_as_real(number, type, element) : store_real(number, type, element);
    }
    return type == NPY_COMPLEX64 || type == NPY_COMPLEX128 ? store_complex(number, type, element)
                                                           : store_by_numpy(number, type, element);
}
