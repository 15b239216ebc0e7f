#define GS_IMPORTS_NUMPY
#include "numpy_api.h"

PyArray_Descr *gs_descr[GS_TYPES];
npy_intp gs_itemsize[GS_TYPES];

static PyObject *numpy_module;
static PyObject *error_state;   /* the context variable behind numpy.errstate, NULL where NumPy has none */
static PyObject *silent_state;  /* its value while nothing is reported */
static PyObject *errstate;      /* numpy.errstate */
static PyObject *ignore_all;    /* {"all": "ignore"} */
static PyObject *no_arguments;  /* () */

static int
import_array_api(void)
{
    import_array1(-1);
    return 0;
}

static int
find_descriptors(void)
{
    for (int type = 0; type < GS_TYPES; type++) {
        if (type > NPY_CLONGDOUBLE && type != NPY_HALF) {
            continue;
        }
        gs_descr[type] = PyArray_DescrFromType(type);
        if (gs_descr[type] == NULL) {
            return -1;
        }
        gs_itemsize[type] = PyDataType_ELSIZE(gs_descr[type]);
    }
    return 0;
}

/* What numpy.errstate sets, so that it can be set without Python.  It is NumPy's own business: without it we ask
 * numpy.errstate. */
static void
find_error_state(void)
{
    PyObject *umath = PyImport_ImportModule("numpy._core.umath");
    PyObject *make = umath == NULL ? NULL : PyObject_GetAttrString(umath, "_make_extobj");
    error_state = make == NULL ? NULL : PyObject_GetAttrString(umath, "_extobj_contextvar");
    silent_state = error_state == NULL ? NULL : PyObject_Call(make, no_arguments, ignore_all);
    if (silent_state == NULL || !PyContextVar_CheckExact(error_state)) {
        PyErr_Clear();
        Py_CLEAR(error_state);
    }
    Py_XDECREF(make);
    Py_XDECREF(umath);
}

int
gs_import_numpy(void)
{
    if (import_array_api() < 0 || find_descriptors() < 0) {
        return -1;
    }
    numpy_module = PyImport_ImportModule("numpy");
    if (numpy_module == NULL) {
        return -1;
    }
    errstate = PyObject_GetAttrString(numpy_module, "errstate");
    ignore_all = Py_BuildValue("{ss}", "all", "ignore");
    no_arguments = PyTuple_New(0);
    if (errstate == NULL || ignore_all == NULL || no_arguments == NULL) {
        return -1;
    }
    find_error_state();
    return 0;
}

PyObject *
gs_shape_text(int nd, const npy_intp *dims)
{
    PyObject *list = PyList_New(nd);
    if (list == NULL) {
        return NULL;
    }
    for (int i = 0; i < nd; i++) {
        PyObject *size = PyLong_FromSsize_t(dims[i]);
        if (size == NULL) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SET_ITEM(list, i, size);
    }
    PyObject *text = PyObject_Str(list);
    Py_DECREF(list);
    return text;
}

PyObject *
gs_silence_begin(void)
{
    if (error_state != NULL) {
        return PyContextVar_Set(error_state, silent_state);
    }
    PyObject *silence = PyObject_Call(errstate, no_arguments, ignore_all);
    if (silence == NULL) {
        return NULL;
    }
    PyObject *entered = PyObject_CallMethod(silence, "__enter__", NULL);
    if (entered == NULL) {
        Py_DECREF(silence);
        return NULL;
    }
    Py_DECREF(entered);
    return silence;
}

void
gs_silence_end(PyObject *silence)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (error_state != NULL) {
        if (PyContextVar_Reset(error_state, silence) < 0) {
            PyErr_Clear();
        }
    } else {
        PyObject *left = PyObject_CallMethod(silence, "__exit__", "OOO", Py_None, Py_None, Py_None);
        if (left == NULL) {
            PyErr_Clear();
        }
        Py_XDECREF(left);
    }
    Py_DECREF(silence);
    PyErr_Restore(type, value, traceback);
}

PyObject *
gs_call_silently(PyObject *callable, PyObject *args, PyObject *kwargs)
{
    PyObject *result = NULL;
    PyObject *silence = args == NULL ? NULL : gs_silence_begin();
    if (silence != NULL) {
        result = PyObject_Call(callable, args, kwargs);
        gs_silence_end(silence);
    }
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return result;
}

/* By the one text that Python has of the name: its cache of attributes would keep another one of each call. */
static PyObject *
function_of_numpy(const char *name)
{
    PyObject *text = PyUnicode_InternFromString(name);
    PyObject *function = text == NULL ? NULL : PyObject_GetAttr(numpy_module, text);
    Py_XDECREF(text);
    return function;
}

PyObject *
gs_call_numpy(const char *name, PyObject *args, PyObject *kwargs)
{
    PyObject *function = function_of_numpy(name);
    if (function == NULL) {
        Py_XDECREF(args);
        Py_XDECREF(kwargs);
        return NULL;
    }
    PyObject *result = gs_call_silently(function, args, kwargs);
    Py_DECREF(function);
    return result;
}

PyObject *
gs_as_array(PyObject *value)
{
    if (value == NULL || PyArray_CheckExact(value)) {
        return value;
    }
    PyObject *array = PyArray_FromAny(value, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
    Py_DECREF(value);
    return array;
}
