"""Counts the bytes of array data that a thread allocates and frees while it is asked to.

NumPy lets a thread say by which functions the data of its arrays are allocated, and an array remembers by which it is
to be freed. Here they are NumPy's own with a count around them. Arrays that were made before are freed by other
functions and do not count. Each block begins with its size: of a block that is resized, NumPy tells only the new one.
"""
from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array import empty_cache, get_cache_limit, set_cache_limit

cnp.import_array()

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define GS_THREAD_LOCAL static __declspec(thread)
    #elif defined(__GNUC__) && defined(__linux__)
    #define GS_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
    #else
    #define GS_THREAD_LOCAL static _Thread_local
    #endif
    #define GS_HEADER 16                                /* as large as keeps the data aligned */

    GS_THREAD_LOCAL long long gs_bytes_in_use = 0;
    static const PyDataMemAllocator *gs_standard;       /* NumPy's own */

    static void *
    gs_with_header(char *block, size_t size)
    {
        if (block == NULL) {
            return NULL;
        }
        *(size_t *)block = size;
        gs_bytes_in_use += (long long)size;
        return block + GS_HEADER;
    }

    static void *
    gs_counted_malloc(void *context, size_t size)
    {
        return gs_with_header(gs_standard->malloc(gs_standard->ctx, size + GS_HEADER), size);
    }

    static void *
    gs_counted_calloc(void *context, size_t count, size_t size)
    {
        /* NumPy has checked that the product is in range */
        return gs_with_header(gs_standard->calloc(gs_standard->ctx, 1, count * size + GS_HEADER), count * size);
    }

    static void *
    gs_counted_realloc(void *context, void *data, size_t size)
    {
        if (data == NULL) {
            return gs_counted_malloc(context, size);
        }
        char *block = (char *)data - GS_HEADER;
        size_t before = *(size_t *)block;
        void *moved = gs_with_header(gs_standard->realloc(gs_standard->ctx, block, size + GS_HEADER), size);
        if (moved != NULL) {
            gs_bytes_in_use -= (long long)before;
        }
        return moved;
    }

    static void
    gs_counted_free(void *context, void *data, size_t size)
    {
        if (data != NULL) {
            char *block = (char *)data - GS_HEADER;
            size = *(size_t *)block;
            gs_bytes_in_use -= (long long)size;
            gs_standard->free(gs_standard->ctx, block, size + GS_HEADER);
        }
    }

    static PyDataMem_Handler gs_counted = {
        "gradsmith counted", 1,
        {NULL, gs_counted_malloc, gs_counted_calloc, gs_counted_realloc, gs_counted_free}};

    static PyObject *
    gs_make_counted_handler(void)
    {
        PyDataMem_Handler *standard = PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler");
        if (standard == NULL) {
            return NULL;
        }
        gs_standard = &standard->allocator;
        return PyCapsule_New(&gs_counted, "mem_handler", NULL);
    }
    """
    long long gs_bytes_in_use
    object gs_make_counted_handler()

cdef extern from "numpy/arrayobject.h":
    object PyDataMem_SetHandler(object handler)

cdef object counted_handler = gs_make_counted_handler()

# The cache of arrays holds blocks that are not counted: it is off while anybody counts.
cdef int n_counting = 0
cdef size_t cache_limit = 0


cdef long long bytes_in_use() noexcept:
    return gs_bytes_in_use


def start_counting():
    """Count from now on, in this thread; gives what `stop_counting` is to put back."""
    global n_counting, cache_limit
    if n_counting == 0:
        cache_limit = get_cache_limit()
        set_cache_limit(0)
        empty_cache()
    n_counting += 1
    return PyDataMem_SetHandler(counted_handler)


def stop_counting(handler):
    """Allocate as before. Memory allocated meanwhile is still counted when it is freed."""
    global n_counting
    PyDataMem_SetHandler(handler)
    n_counting -= 1
    if n_counting == 0:
        set_cache_limit(cache_limit)
