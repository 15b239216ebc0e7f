from cpython.ref cimport PyObject
from numpy cimport npy_intp

cdef extern from "runtime/programs/block_kernels.h":
    ctypedef struct BlockRepeat "gs_block_repeat":
        const BlockStep *steps
        Py_ssize_t n_steps
        Py_ssize_t count
        int first
        int n_moving
        int n_listed
        const int *starts
        const npy_intp *strides
        const int *listed
    ctypedef struct BlockTiles "gs_block_tiles":
        const BlockStep *steps
        const BlockStep *rest
        Py_ssize_t n_steps
        Py_ssize_t count
        Py_ssize_t n_rest
        Py_ssize_t cost
        Py_ssize_t n_local
        Py_ssize_t scratch, n_gaps
        const npy_intp *gaps
        const int *places
        const npy_intp *strides
    ctypedef struct BlockMore "gs_block_more":
        void (*function)() noexcept
        void *data
        npy_intp rows
        npy_intp *strides
        npy_intp *row_strides
        npy_intp *sizes
        int type
        double *numbers
        int *others "in"
        const BlockRepeat *repeat
        const BlockTiles *tiles
    ctypedef struct BlockStep "gs_block_step":
        unsigned char kind
        unsigned char is_double
        unsigned char n_in
        unsigned char moving
        int n
        int out
        int *ins "in"
        const BlockMore *more
    ctypedef void (*BlockParallel "gs_block_parallel")(...) noexcept
    void gs_block_set_parallel(BlockParallel parallel) noexcept
    int gs_run_block(const BlockStep *steps, Py_ssize_t count, char **addresses) except -1
    int gs_run_block_often(
        const BlockStep *steps, Py_ssize_t count, char **addresses, Py_ssize_t first, Py_ssize_t n, const npy_intp *after_even,
        const npy_intp *after_odd, Py_ssize_t times
    ) except -1


# Steps that follow one another and need no Python. `addresses` of a frame are theirs.
cdef class Block:
    cdef readonly list parts            # the steps in whose place it runs
    cdef readonly list fresh            # (slot, model) of results that leave the program: new arrays in each run
    cdef readonly list shown            # slots whose arrays later steps read
    cdef readonly list counted          # inputs of the program that it writes to: their versions are counted
    cdef BlockStep *steps
    cdef Py_ssize_t count, capacity
    cdef list storage                   # keeps `more` of the steps and the numbers that they read
    cdef int *moving                    # (address, slot, offset) of what lies elsewhere in each run
    cdef Py_ssize_t n_moving

    cdef int run(self, char **addresses) except -1
    cdef int run_often(self, char **addresses, Py_ssize_t first, Py_ssize_t n, const npy_intp *strides, Py_ssize_t times) except -1
    cdef BlockStep *new_step(self, object part) except NULL
    cdef int form_after_last(self, const BlockStep *step) noexcept
    cdef int grow(self) except -1
    cdef const BlockMore *keep(self, dict given, tuple others) except NULL


# Steps of a block that run several times.
cdef class Repeat:
    cdef readonly Block body
    cdef readonly object starts, strides, listed    # arrays: see block_kernels.h
    cdef BlockMore more
    cdef BlockRepeat repeat


# Elementwise steps of a block that run tile by tile.
cdef class Tiles:
    cdef readonly Block body, rest
    cdef readonly object places, strides, gaps      # arrays: see block_kernels.h
    cdef readonly Py_ssize_t n                      # elements of the arrays
    cdef BlockMore more
    cdef BlockTiles tiles
