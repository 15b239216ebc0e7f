from gradsmith.runtime.arrays.array cimport FusedKernel


cdef class Kernel:
    """The loop of a gradient, which nodes run in the place of the ops of its formula."""

    cdef const FusedKernel *kernel
