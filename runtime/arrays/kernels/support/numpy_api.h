/* Included by every kernel file: the NumPy C API, and direct access to arrays of built-in types.
 *
 * NumPy is imported once for all files of this folder (numpy_api.c).  Headers that Cython modules include
 * (fused.h, ufunc_loops.h, kernels.h) must not include this one, since those modules import NumPy on their own.
 */
#ifndef GRADSMITH_NUMPY_API_H
#define GRADSMITH_NUMPY_API_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PY_ARRAY_UNIQUE_SYMBOL gs_array_api
#define PY_UFUNC_UNIQUE_SYMBOL gs_ufunc_api
#define NO_IMPORT_UFUNC
#ifndef GS_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include "simd.h"
#include "kernels.h"

GS_HIDDEN_BEGIN

/* NumPy's built-in numeric types have numbers 0 (bool) to 16 (clongdouble), and 23 (half). */
#define GS_TYPES 24

/* The native descriptors of these types (references held for ever), NULL for all other numbers; and their sizes. */
extern PyArray_Descr *gs_descr[GS_TYPES];
extern npy_intp gs_itemsize[GS_TYPES];

static inline PyArrayObject_fields *
gs_fields(PyObject *array)
{
    return (PyArrayObject_fields *)array;
}

/* The type number when the array has exactly a native built-in descriptor, else -1.  One comparison of pointers rules
 * out byte-swapped data, metadata, structured and user types. */
static inline int
gs_type(PyObject *array)
{
    PyArray_Descr *descr = gs_fields(array)->descr;
    unsigned int type = (unsigned int)descr->type_num;
    return type < GS_TYPES && gs_descr[type] == descr ? (int)type : -1;
}

#define GS_PLAIN (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED)

static inline int
gs_is_plain(PyObject *array)
{
    return (gs_fields(array)->flags & GS_PLAIN) == GS_PLAIN;
}

static inline npy_intp
gs_size(PyObject *array)
{
    PyArrayObject_fields *a = gs_fields(array);
    npy_intp size = 1;
    for (int i = 0; i < a->nd; i++) {
        size *= a->dimensions[i];
    }
    return size;
}

static inline int
gs_same_shape(PyObject *left, PyObject *right)
{
    PyArrayObject_fields *a = gs_fields(left), *b = gs_fields(right);
    if (a->nd != b->nd) {
        return 0;
    }
    for (int i = 0; i < a->nd; i++) {
        if (a->dimensions[i] != b->dimensions[i]) {
            return 0;
        }
    }
    return 1;
}

/* A shape as "[2, 3]", for messages; a new reference. */
PyObject *gs_shape_text(int nd, const npy_intp *dims);

/* While a silence is held NumPy reports no floating point warnings, as np.errstate(all="ignore").  The loops that are
 * called directly never warn, so NumPy's public functions must not either: behaviour cannot depend on the path taken.
 * gs_silence_end may be called with an exception set and keeps it. */
PyObject *gs_silence_begin(void);
void gs_silence_end(PyObject *silence);

/* Calls numpy.<name>(*args, **kwargs) silently; steals args and kwargs (kwargs may be NULL, a NULL args fails). */
PyObject *gs_call_numpy(const char *name, PyObject *args, PyObject *kwargs);
PyObject *gs_call_silently(PyObject *callable, PyObject *args, PyObject *kwargs);

/* An owned reference for the outcome of a NumPy call that may have given a scalar: always an array. */
PyObject *gs_as_array(PyObject *value);

GS_HIDDEN_END

#endif
