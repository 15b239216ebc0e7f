/* Objects that are born outside the cyclic collector and kept for reuse when they die.
 *
 * Cython's own free lists hand out tracked objects; untracking each again costs a quarter of a recorded operation.
 * This header replaces the allocator of a type and so of its subclasses of the same size, which inherit it when they
 * are made ready; subclasses written in Python get Python's own.  One pool and one register per file that includes it.
 *
 * See gc_tracking.pyx, Note [Collected late].
 */
#ifndef GRADSMITH_UNTRACKED_H
#define GRADSMITH_UNTRACKED_H

#include <Python.h>
#include <stdint.h>
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

/* All objects that have memory, so that those alive can be found: the collector does not know them.  An object is
 * entered when memory is got for it and stays while it is in the pool, where nobody refers to it.  Taking one from the
 * pool costs nothing that way. */
static struct {
    PyObject **objects;
    uint32_t count, capacity;
    Py_ssize_t place_offset; /* of the last field, a uint32_t, in which an object keeps its place in `objects` */
} gs_register;

#define GS_PLACE(object) (*(uint32_t *)((char *)(object) + gs_register.place_offset))

static int gs_grow_register(void)
{
    /* By an eighth: of a large graph the register must not take much. */
    size_t capacity = gs_register.capacity + gs_register.capacity / 8 + 1024;
    PyObject **grown = capacity > UINT32_MAX ? NULL : PyMem_Realloc(gs_register.objects, capacity * sizeof *grown);
    if (!grown)
        return -1;
    gs_register.objects = grown;
    gs_register.capacity = (uint32_t)capacity;
    return 0;
}

static PyObject *gs_new_object(PyTypeObject *type)
{
    PyObject *object = _PyObject_GC_New(type); /* may run the collector, and so make others */
    if (!object)
        return NULL;
    if (gs_register.count == gs_register.capacity && gs_grow_register() < 0) {
        PyObject_GC_Del(object);
        return PyErr_NoMemory();
    }
    memset((char *)object + sizeof(PyObject), 0, (size_t)type->tp_basicsize - sizeof(PyObject));
    GS_PLACE(object) = gs_register.count;
    gs_register.objects[gs_register.count++] = object;
    return object;
}

static void gs_delete_object(PyObject *object)
{
    PyObject *last = gs_register.objects[--gs_register.count];
    GS_PLACE(last) = GS_PLACE(object);
    gs_register.objects[GS_PLACE(object)] = last;
    PyObject_GC_Del(object);
}

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
    if (type->tp_basicsize != gs_pool.size || gs_pool.count == 0)
        return gs_new_object(type);
    object = PyObject_Init(gs_pool.free[--gs_pool.count], type);
    memset((char *)object + sizeof(PyObject), 0, (size_t)gs_register.place_offset - sizeof(PyObject));
    return object;
}

static void gs_untracked_free(void *object)
{
    if (Py_TYPE((PyObject *)object)->tp_basicsize == gs_pool.size && gs_pool.count < GS_POOL_SIZE)
        gs_pool.free[gs_pool.count++] = (PyObject *)object;
    else
        gs_delete_object((PyObject *)object);
}

/* To be called in the module that defines `type`, before any subclass exists. */
static void gs_allocate_untracked(PyTypeObject *type, destructor dealloc, Py_ssize_t place_offset)
{
    gs_pool.size = type->tp_basicsize;
    gs_pool.dealloc = dealloc;
    gs_register.place_offset = place_offset;
    type->tp_alloc = gs_untracked_alloc;
    type->tp_free = gs_untracked_free;
    type->tp_dealloc = dealloc;
}

/* Calls `visit`, which must not allocate, with everything alive; gives how much that is. */
static Py_ssize_t gs_visit_living(void (*visit)(PyObject *))
{
    uint32_t i;
    Py_ssize_t living = 0;
    for (i = 0; i < gs_register.count; i++) {
        if (Py_REFCNT(gs_register.objects[i]) > 0) {
            visit(gs_register.objects[i]);
            living++;
        }
    }
    return living;
}

#endif
