/* Objects that are born outside the cyclic collector and kept for reuse when they die.
 *
 * Cython's own free lists hand out tracked objects; untracking each again costs a quarter of a recorded operation.
 * This header replaces the allocator of a type and so of its subclasses of the same size, which inherit it when they
 * are made ready; subclasses written in Python get Python's own.  One pool per file that includes it.
 *
 * See node.pyx, Note [Collected late].
 */
#ifndef GRADSMITH_UNTRACKED_H
#define GRADSMITH_UNTRACKED_H

#include <Python.h>
#include <string.h>

#ifdef GRADSMITH_SANITIZE
#define GS_POOL_SIZE 0 /* an address sanitizer watches only what has been given back */
#else
#define GS_POOL_SIZE 4096
#endif

static struct {
    PyObject *free[GS_POOL_SIZE];
    int count;
    Py_ssize_t size; /* of the objects in the pool */
    destructor dealloc;
} gs_pool;

/* A subclass compiled by Cython brings a destructor that tracks and untracks the object once more and then calls the
 * base's.  Without fields of its own it has nothing to free: it gets the base's at its first instance. */
static void gs_share_dealloc(PyTypeObject *type)
{
    if (type->tp_basicsize == gs_pool.size && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        type->tp_dealloc = gs_pool.dealloc;
}

static PyObject *gs_untracked_alloc(PyTypeObject *type, Py_ssize_t Py_UNUSED(n_items))
{
    PyObject *object;
    if (type->tp_dealloc != gs_pool.dealloc)
        gs_share_dealloc(type);
    if (type->tp_basicsize == gs_pool.size && gs_pool.count > 0)
        object = PyObject_Init(gs_pool.free[--gs_pool.count], type);
    else
        object = _PyObject_GC_New(type);
    if (object)
        memset((char *)object + sizeof(PyObject), 0, (size_t)type->tp_basicsize - sizeof(PyObject));
    return object;
}

static void gs_untracked_free(void *object)
{
    if (Py_TYPE((PyObject *)object)->tp_basicsize == gs_pool.size && gs_pool.count < GS_POOL_SIZE)
        gs_pool.free[gs_pool.count++] = (PyObject *)object;
    else
        PyObject_GC_Del(object);
}

/* To be called in the module that defines `type`, before any subclass exists. */
static void gs_allocate_untracked(PyTypeObject *type, destructor dealloc)
{
    gs_pool.size = type->tp_basicsize;
    gs_pool.dealloc = dealloc;
    type->tp_alloc = gs_untracked_alloc;
    type->tp_free = gs_untracked_free;
    type->tp_dealloc = dealloc;
}

#endif
