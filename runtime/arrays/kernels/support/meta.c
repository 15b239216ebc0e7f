#include "meta.h"
#include "array_cache.h"
#include "walks/assign.h"

_Alignas(64) char gs_meta_memory[3 * GS_META_BYTES];

/* The one base of all stand-ins.  Borrowed: it dies with the last of them. */
static PyObject *owner;

static void
report_to_nobody(int in_use)
{
    (void)in_use;
}

static void (*report)(int in_use) = report_to_nobody;

void
gs_meta_report_to(void (*function)(int in_use))
{
    report = function;
}

static void
last_is_gone(PyObject *capsule)
{
    (void)capsule;
    owner = NULL;
    report(0);
}

static PyObject *
hold_owner(void)
{
    if (owner != NULL) {
        Py_INCREF(owner);
        return owner;
    }
    owner = PyCapsule_New(gs_meta_memory, "gradsmith.meta", last_is_gone);
    if (owner != NULL) {
        report(1);
    }
    return owner;
}

/* Consumes `base`, which may be NULL with an exception. */
static PyObject *
new_stand_in(int type, int nd, const npy_intp *dims, char *memory, PyObject *base)
{
    npy_intp strides[NPY_MAXDIMS] = {0};
    if (base == NULL) {
        return NULL;
    }
    Py_INCREF(gs_descr[type]);
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, gs_descr[type], nd, (npy_intp *)dims, strides, memory, 0, NULL);
    if (array == NULL) {
        Py_DECREF(base);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, base) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
    return array;
}

PyObject *
gs_meta_new(int type, int nd, const npy_intp *dims)
{
    return new_stand_in(type, nd, dims, gs_meta_memory, hold_owner());
}

PyObject *
gs_batched_new(int type, int nd, const npy_intp *dims, PyObject *batch)
{
    Py_INCREF(batch);
    return new_stand_in(type, nd, dims, gs_meta_memory + GS_META_BYTES, batch);
}

int
gs_batched_of_array(PyObject *array)
{
    return gs_is_batched(array);
}

PyObject *
gs_indexed_new(int type, int nd, const npy_intp *dims, PyObject *rows)
{
    Py_INCREF(rows);
    return new_stand_in(type, nd, dims, gs_meta_memory + 2 * GS_META_BYTES, rows);
}

int
gs_indexed_of_array(PyObject *array)
{
    return gs_is_indexed(array);
}

PyObject *
gs_meta_like(PyObject *model, int type)
{
    return gs_meta_new(type, gs_fields(model)->nd, gs_fields(model)->dimensions);
}

PyObject *
gs_meta_or_prepared(PyObject *array, int type)
{
    return gs_is_meta(array) ? gs_meta_like(array, type) : gs_prepare(array, type);
}

PyObject *
gs_rounded_to_half(PyObject *wide)
{
    PyObject *half = wide == NULL ? NULL : gs_meta_or_prepared(wide, NPY_HALF);
    gs_array_xrelease(wide);
    return half;
}

PyObject *
gs_meta_or_clone(PyObject *array)
{
    return gs_is_meta(array) ? gs_meta_like(array, gs_fields(array)->descr->type_num) : gs_clone(array);
}

int
gs_meta_of_array(PyObject *array)
{
    return gs_is_meta(array);
}

int
gs_meta_is_stand_in(PyObject *array)
{
    return gs_is_stand_in(array);
}

int
gs_raise_no_data(void)
{
    PyErr_SetString(PyExc_NotImplementedError, "Cannot copy out of meta tensor; no data!");
    return -1;
}
