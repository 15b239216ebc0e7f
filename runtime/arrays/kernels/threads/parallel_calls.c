/* Python functions on the pool: for those that spend their time without the GIL, like NumPy's random generators. */
#include "thread_pool.h"

typedef struct {
    PyObject *function;
    PyObject *error; /* the first one; written and read under the GIL */
} calls;

static void
call_one(calls *c, npy_intp i)
{
    PyObject *result = PyObject_CallFunction(c->function, "n", (Py_ssize_t)i);
    if (result != NULL) {
        Py_DECREF(result);
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    if (c->error == NULL) {
        c->error = value;
    } else {
        Py_XDECREF(value);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
}

static void
call_some(void *context, npy_intp first, npy_intp last)
{
    calls *c = context;
    PyGILState_STATE state = PyGILState_Ensure();
    for (npy_intp i = first; i < last && c->error == NULL; i++) {
        call_one(c, i);
    }
    PyGILState_Release(state);
}

int
gs_call_each(PyObject *function, Py_ssize_t count)
{
    calls c = {function, NULL};
    Py_BEGIN_ALLOW_THREADS
    gs_parallel_run(call_some, &c, count, 1);
    Py_END_ALLOW_THREADS
    if (c.error == NULL) {
        return 0;
    }
    PyErr_SetObject((PyObject *)Py_TYPE(c.error), c.error);
    Py_DECREF(c.error);
    return -1;
}
