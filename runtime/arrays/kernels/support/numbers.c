#include "numbers.h"
#include "promotion.h"
#include "walks/assign.h"

#include <math.h>

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

/* ---- integers */

/* An integer as its lowest 64 bits, and what it was: negative, or too long for them. */
typedef struct {
    uint64_t bits;
    int negative;
    int too_long;
} wide_integer;

static int
read_integer(PyObject *number, wide_integer *out)
{
    PyObject *index = PyNumber_Index(number);
    if (index == NULL) {
        return -1;
    }
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    *out = (wide_integer){(uint64_t)value, value < 0, overflow < 0};
    if (overflow) {
        out->negative = overflow < 0;
        out->bits = overflow > 0 ? PyLong_AsUnsignedLongLong(index) : 0;
        if (PyErr_Occurred()) {
            PyErr_Clear();
            out->too_long = 1;
        }
    }
    Py_DECREF(index);
    return 0;
}

static uint64_t
largest(int type)
{
    int bits = (int)gs_itemsize[type] * 8;
    return UINT64_MAX >> (64 - bits + !PyTypeNum_ISUNSIGNED(type));
}

/* A negative number is stored in an unsigned type when its magnitude fits. */
static int
can_hold(int type, const wide_integer *value)
{
    if (value->too_long) {
        return 0;
    }
    if (!value->negative) {
        return value->bits <= largest(type);
    }
    return -value->bits <= largest(type) + (PyTypeNum_ISUNSIGNED(type) ? 0 : 1);
}

static void
put_integer(uint64_t bits, int type, char *element)
{
    switch (gs_itemsize[type]) {
    case 1: { uint8_t v = (uint8_t)bits; memcpy(element, &v, 1); break; }
    case 2: { uint16_t v = (uint16_t)bits; memcpy(element, &v, 2); break; }
    case 4: { uint32_t v = (uint32_t)bits; memcpy(element, &v, 4); break; }
    default: memcpy(element, &bits, 8); break;
    }
}

static int
store_integer(PyObject *number, int type, char *element)
{
    wide_integer value;
    if (read_integer(number, &value) < 0) {
        return -1;
    }
    if (!can_hold(type, &value)) {
        return raise_overflow(type);
    }
    put_integer(value.bits, type, element);
    return 0;
}

static int
wrap_integer(PyObject *number, int type, char *element)
{
    wide_integer value;
    if (read_integer(number, &value) < 0) {
        return -1;
    }
    if (value.too_long) {
        PyErr_Format(PyExc_OverflowError, "int too big to convert to type %s", gs_type_name(type));
        return -1;
    }
    put_integer(value.bits, type, element);
    return 0;
}

/* A fraction counts against the bounds before it is cut off; NaN is within no bounds. */
static int
store_float_as_integer(double value, int type, char *element)
{
    double top = (double)largest(type); /* of 64 bits: rounded up to a power of two, which does not fit */
    double bottom = PyTypeNum_ISUNSIGNED(type) ? 0.0 : -top - (gs_itemsize[type] < 8);
    if (!(value >= bottom && (gs_itemsize[type] < 8 ? value <= top : value < top))) {
        return raise_overflow(type);
    }
    put_integer(value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value, type, element);
    return 0;
}

int
gs_side_of_range(PyObject *number, int type)
{
    wide_integer value;
    if (read_integer(number, &value) < 0) {
        PyErr_Clear();
        return 0;
    }
    if (value.negative) {
        return value.too_long || PyTypeNum_ISUNSIGNED(type) || -value.bits > largest(type) + 1 ? -1 : 0;
    }
    return value.too_long || value.bits > largest(type);
}

/* ---- floats and complex numbers */

/* Would a finite number become infinite? */
static int
overflows(double value, int type)
{
    double top = type == NPY_FLOAT16                              ? 65504.0
                 : type == NPY_FLOAT32 || type == NPY_COMPLEX64 ? 3.4028234663852886e+38
                                                                   : INFINITY;
    return isfinite(value) && fabs(value) > top;
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
store_float(PyObject *number, int type, char *element)
{
    double value = PyFloat_AsDouble(number);
    if (value == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    if (type == NPY_FLOAT32) {
        float v = (float)value;
        memcpy(element, &v, sizeof(v));
    } else if (type == NPY_FLOAT64) {
        memcpy(element, &value, sizeof(value));
    } else {
        return store_by_numpy(number, type, element);
    }
    return 0;
}

static int
store_complex(const Py_complex *value, PyObject *number, int type, char *element)
{
    if (type == NPY_COMPLEX64) {
        float v[2] = {(float)value->real, (float)value->imag};
        memcpy(element, v, sizeof(v));
    } else if (type == NPY_COMPLEX128) {
        double v[2] = {value->real, value->imag};
        memcpy(element, v, sizeof(v));
    } else {
        return store_by_numpy(number, type, element);
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

/* ---- by the category of the type */

static int
is_failure(double value)
{
    return value == -1.0 && PyErr_Occurred();
}

static int
store_as_complex(PyObject *number, int type, char *element, int checked)
{
    Py_complex value = PyComplex_AsCComplex(number);
    if (is_failure(value.real)) {
        return -1;
    }
    if (checked && (overflows(value.real, type) || overflows(value.imag, type))) {
        return raise_overflow(type);
    }
    return store_complex(&value, number, type, element);
}

static int
store_as_float(PyObject *number, int type, char *element, int checked)
{
    double value = PyFloat_AsDouble(number);
    if (is_failure(value)) {
        return -1;
    }
    return checked && overflows(value, type) ? raise_overflow(type) : store_float(number, type, element);
}

static int
store_as_integer(PyObject *number, int category, int type, char *element, int checked)
{
    if (category == GS_BOOL) {
        put_integer((uint64_t)PyObject_IsTrue(number), type, element);
        return 0;
    }
    if (category == GS_INT) {
        return checked ? store_integer(number, type, element) : wrap_integer(number, type, element);
    }
    double value = PyFloat_AsDouble(number);
    return is_failure(value) ? -1 : store_float_as_integer(value, type, element);
}

static int
store_real(PyObject *number, int category, int type, char *element, int checked)
{
    return gs_category_of(type) == GS_INT ? store_as_integer(number, category, type, element, checked)
                                          : store_as_float(number, type, element, checked);
}

/* A complex number goes into a real type only when it is real. */
static int
store_complex_as_real(PyObject *number, int type, char *element, int checked)
{
    Py_complex value = PyComplex_AsCComplex(number);
    if (is_failure(value.real)) {
        return -1;
    }
    if (value.imag != 0.0) {
        return raise_overflow(type);
    }
    PyObject *real = PyFloat_FromDouble(value.real);
    int status = real == NULL ? -1 : store_real(real, GS_FLOAT, type, element, checked);
    Py_XDECREF(real);
    return status;
}

static int
store(PyObject *number, int type, char *element, int checked)
{
    int category = gs_number_category(number);
    if (category < 0) {
        return -1;
    }
    if (gs_category_of(type) == GS_BOOL) {
        return store_bool(number, element);
    }
    if (gs_category_of(type) == GS_COMPLEX) {
        return store_as_complex(number, type, element, checked);
    }
    return category == GS_COMPLEX ? store_complex_as_real(number, type, element, checked)
                                  : store_real(number, category, type, element, checked);
}

int
gs_store_number(PyObject *number, int type, char *element)
{
    return store(number, type, element, 1);
}

int
gs_wrap_number(PyObject *number, int type, char *element)
{
    return store(number, type, element, 0);
}
