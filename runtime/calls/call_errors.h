/* Hints in the errors of calls with wrong arguments.
 *
 * Cython writes "sum() got an unexpected keyword argument 'dims'" where it unpacks the arguments of a function.  A file
 * that includes this header says more, at no price to calls that are right: the messages go through call_errors.py.
 */
#ifndef GRADSMITH_CALL_ERRORS_H
#define GRADSMITH_CALL_ERRORS_H

#include <Python.h>
#include <stdarg.h>
#include <string.h>

/* A message with a hint, or the message.  Takes the reference over. */
static PyObject *gs_with_hint(PyObject *message)
{
    PyObject *module = PyImport_ImportModule("gradsmith.runtime.calls.call_errors"), *longer = NULL;
    if (module != NULL)
        longer = PyObject_CallMethod(module, "of_method", "O", message);
    Py_XDECREF(module);
    if (longer == NULL) {
        PyErr_Clear();
        return message;
    }
    Py_DECREF(message);
    return longer;
}

static PyObject *gs_call_error(PyObject *type, const char *format, ...)
{
    PyObject *message;
    va_list values;
    va_start(values, format);
    message = PyUnicode_FromFormatV(format, values);
    va_end(values);
    if (message == NULL)
        return NULL;
    if (type == PyExc_TypeError && strstr(format, " argument") != NULL)
        message = gs_with_hint(message);
    PyErr_SetObject(type, message);
    Py_DECREF(message);
    return NULL;
}

#define PyErr_Format gs_call_error

#endif
