from cpython.ref cimport PyObject

# Functions of C that the rooms named here set when they are imported. Tensors and nodes are objects here, since this
# room is below theirs.
ctypedef PyObject *(*accumulator_maker)(object leaf) except NULL           # a new reference
ctypedef void (*accumulator_forgetter)(PyObject *leaf, PyObject *accumulator) noexcept
ctypedef object (*packer)(object tensor, bint is_output)
ctypedef object (*unpacker)(object node, object packed)
ctypedef void (*settler)(object packed, PyObject *tensor) noexcept         # like detach_saved_output, for tangents
ctypedef int (*origin_recorder)(object node) except -1
ctypedef bint (*scalar_backward)(object root, bint keep_graph) except -1   # False when it is not for this root

cdef struct CUpcalls:
    accumulator_maker accumulator_of_leaf           # history/history.pyx
    accumulator_forgetter forget_accumulator
    packer pack_by_default                          # history/saved_hooks.pyx
    unpacker unpack_packed
    settler settle_packed
    origin_recorder record_origin                   # engine/anomaly_mode.pyx; NULL while anomaly mode is off
    scalar_backward backward_of_scalar              # tensors/entry_points.pyx
    PyObject *basic_index                           # what the module has by this name, which is called for each x[...]

cdef CUpcalls c_upcalls
