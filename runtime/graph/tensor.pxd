from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t


cdef enum TensorFlag:
    REQUIRES_GRAD = 1           # asked for on a leaf, or has a grad_fn
    IS_VIEW = 2                 # differentiable view: `base` is the tensor it is a view of
    SAVED_AS_OUTPUT = 4         # its own grad_fn borrows it: settle before it dies or changes history
    HAS_HOOKS = 8               # meta holds hooks of a leaf
    VIEW_NO_GRAD = 16           # a view made while recording was off: ambiguous to write with recording on
    VIEW_MULTI_OUTPUT = 32      # one of several views of a multi-output op: may not be written
    IS_TANGENT = 64             # held as the tangent of another tensor: nobody else may take its memory over
    VIEW_IN_FUNCTION = 128      # a view that a custom Function made: may not be written
    VIEW_INFERENCE = 256        # a view made in inference mode of a tensor that was not
    INFERENCE = 512             # made in inference mode: no history, no version, never saved
    HAS_GRAD_DTYPE = 1024       # gradients of this leaf have another dtype than it has: meta.grad_dtype
    NEEDS_CARE = REQUIRES_GRAD | IS_VIEW
    HAS_ATTRIBUTES = 2048       # the user may have attached what leads back to it; see attributes.pyx
    IS_SHARED = 4096            # another tensor has it for its `base`, or has had
    SAVED_SPECIALLY = INFERENCE | HAS_ATTRIBUTES
    VIEW_RESTRICTIONS = VIEW_NO_GRAD | VIEW_MULTI_OUTPUT | VIEW_IN_FUNCTION | VIEW_INFERENCE     # a view of a view inherits
    BIRTH_SHIFT = 13
    MADE_IN_CALL = 7 << 13      # how many calls of transformed functions were under way then; see calls/captured.pyx
    # The upper half counts, modulo 65536, the saved slots that hold the tensor or a view of it; see changes.py. Of a
    # tensor that is no view, SAVED_AS_OUTPUT says as much.
    SAVE_COUNT_SHIFT = 16


cdef class TensorBase

cdef class TensorMeta:
    cdef object grad                    # gradient of a leaf, or retained; a Tensor or None
    cdef PyObject *accumulator          # borrowed: AccumulateGrad of a leaf, while a graph holds it
    cdef public object hooks            # of a leaf: a table of hooks.py, None until used
    cdef public object post_accumulate_hooks
    cdef public bint retains_grad
    cdef object tangents                # of forward mode: the youngest Tangent of a chain, or None
    cdef public object name
    cdef TensorBase stands_for          # leaf whose gradient this unpacked copy of it collects, or None
    cdef list changes                   # of a saved tensor: where it was changed in place; see changes.py
    cdef list watchers                  # weak references to what must be called before the tensor is changed
    cdef list aliases                   # weak references to dual numbers over its memory, None before the first
    cdef object grad_dtype              # None for any dtype; counts with HAS_GRAD_DTYPE only


cdef class TensorBase:
    cdef PyObject *array        # owned ndarray
    cdef PyObject *grad_fn      # owned Node, NULL for a leaf
    cdef PyObject *base         # owned TensorBase whose version counter this one shares; root of a view when IS_VIEW
    cdef object meta            # TensorMeta or None: rare things
    cdef object __weakref__
    cdef PyObject *attributes   # owned dict, its `__dict__`; NULL until the user sets an attribute
    cdef uint32_t flags
    # In-place changes so far; the counter that counts is at the end of the `base` chain. A tensor with a base has no
    # use for a counter: in a view this is the version at which its grad_fn was valid.
    cdef uint32_t own_version
    cdef uint32_t output_nr     # which output of grad_fn this is
    cdef uint32_t place         # among all tensors, see untracked.h: the last field


cdef TensorBase new_instance(PyObject *cls)          # of any class of tensors, without elements
cdef TensorBase wrap(object array)                  # around an ndarray; a NumPy scalar becomes 0-d
cdef TensorBase wrap_owned(PyObject *array)         # steals the reference
cdef inline object array_of(TensorBase t):
    return <object>t.array
cdef TensorMeta meta_of(TensorBase t)               # made on first use
cdef bint is_tensor(object value) noexcept
cdef inline PyObject *version_owner(PyObject *t) noexcept:     # borrowed: who counts the changes of `t`
    while (<TensorBase>t).base != NULL:
        t = (<TensorBase>t).base
    return t
# Plain assignments: an operator like `+=` would take a reference for the moment, and end a dying tensor a second time.
cdef inline void count_save(PyObject *owner) noexcept:
    (<TensorBase>owner).flags = (<TensorBase>owner).flags + (<uint32_t>1 << SAVE_COUNT_SHIFT)
cdef inline void uncount_save(PyObject *owner) noexcept:
    (<TensorBase>owner).flags = (<TensorBase>owner).flags - (<uint32_t>1 << SAVE_COUNT_SHIFT)
cdef inline bint is_saved(PyObject *owner) noexcept:
    return (<TensorBase>owner).flags >> SAVE_COUNT_SHIFT != 0 or (<TensorBase>owner).flags & SAVED_AS_OUTPUT != 0
cdef uint32_t version_of(TensorBase t) noexcept
cdef void bump_version(TensorBase t) noexcept
cdef PyObject *tensor_type          # the final Tensor class, for exact type tests

ctypedef void (*visitor)(PyObject *) noexcept
cdef Py_ssize_t visit_tensors(visitor visit) noexcept       # all that live, except of classes written in Python; their number
