/* Arrays are recycled: an ndarray that nobody can see any more keeps its memory and serves the next result of its size. */
#ifndef GRADSMITH_ARRAY_CACHE_H
#define GRADSMITH_ARRAY_CACHE_H

#include "numpy_api.h"

GS_HIDDEN_BEGIN

/* Uninitialised C-contiguous array of the shape of `model`.  (gs_array_new takes the shape itself.) */
PyObject *gs_array_like(PyObject *model, int type);

static inline void
gs_array_xrelease(PyObject *array)
{
    if (array != NULL) {
        gs_array_release(array);
    }
}

#ifdef Py_GIL_DISABLED
/* Is the interpreter's lock on?  A reference count is split there between the thread that made an object and all others.
 * Under the lock the sum of both is right, or too large while an object waits for its thread to let it go; without it
 * others may change the parts meanwhile. */
extern int gs_has_lock;
#else
#define gs_has_lock 1
#endif

/* Is the one reference the caller holds the only way to reach this memory?  A base, a weak reference or an exported
 * buffer could make it visible elsewhere; flags rule out views, read-only and foreign memory.  Dimensions may lie in any
 * order. */
static inline int
gs_array_is_exclusive(PyObject *array)
{
    PyArrayObject_fields *a = gs_fields(array);
    return gs_has_lock && Py_REFCNT(array) == 1 && Py_TYPE(array) == &PyArray_Type && a->base == NULL &&
           a->weakreflist == NULL && a->_buffer_info == NULL &&
           (a->flags & ~(NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS)) ==
               (NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
}

GS_HIDDEN_END

#endif
