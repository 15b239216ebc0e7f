"""Batched tensors.

Note [Batched tensors]
Inside of a function that `vmap` maps, a tensor stands for one slice, and all slices are computed at once. Such a batched
tensor is a tensor like any other: it has a shape, that of a slice, a history, and tangents. It has no data: its array is
a stand-in (kernels/meta.h) whose base is a `Batch`. That one has the data of all slices, a tensor with one dimension
more, the first one: the physical tensor.

An op on batched tensors computes its result by the same op, called on the physical tensors as its batching rule says
(rules.pyx). Everything else the op does as ever, for the batched tensors. So a graph that is recorded inside of the
mapped function is one of batched tensors, and one that is recorded outside is one of physical tensors; tangents
likewise. A physical tensor may itself be batched, by a call of `vmap` around this one: rules know of one dimension only.

The batch goes where the array goes: to aliases, detached tensors, and what a node has saved.

Note [Traced tensors]
A function that is traced sees tensors of the same kind: stand-ins for physical tensors, at a level that has no slices.
What would be an error for a slice, such as asking for its value, would make a program depend on what only this run has
seen. Every op in a thread that traces belongs to the trace, also one of tensors that are no stand-ins.
"""
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint64_t
cimport numpy as cnp
from numpy cimport npy_intp

from gradsmith.runtime.arrays.array cimport batched_array, is_batched_array
from gradsmith.runtime.graph.tensor cimport TensorBase, wrap_owned

from numpy.lib.stride_tricks import as_strided

from gradsmith.runtime.switches import upcalls

cnp.import_array()

cdef extern from *:
    """
    #if defined(_MSC_VER)
    static __declspec(thread) PyObject *gs_trace = NULL;
    #elif defined(__GNUC__) && defined(__linux__)
    static __thread PyObject *gs_trace __attribute__((tls_model("initial-exec"))) = NULL;
    #else
    static _Thread_local PyObject *gs_trace = NULL;
    #endif
    """
    PyObject *gs_trace                  # borrowed: who traces keeps it

cdef int living = 0
cdef uint64_t levels_opened = 0


cdef void report_to_nobody(int in_use) noexcept:
    pass


cdef batch_listener report = report_to_nobody


cdef void report_batches_to(batch_listener listener) noexcept:
    global report
    report = listener


cdef class VmapLevel:
    """One call of a function that `vmap` maps. Tensors batched in it end with it."""

    def __init__(self, Py_ssize_t size, str randomness, call):
        global levels_opened
        levels_opened += 1
        self.number = levels_opened
        self.size = size
        self.randomness = randomness
        self.call = call
        self.is_open = True

    def close(self):
        """Tensors still batched at this level may no longer be used."""
        self.is_open = False
        if living:
            # A function that keeps one of its tensors would be kept by it: a cycle through an array, which the
            # collector does not see.
            self.call = self.call.ended()

    def reopen(self):
        """Run a part of the call again."""
        self.is_open = True


cdef class Batch:
    """The base of the array of a batched tensor. See Note [Batched tensors]."""

    def __dealloc__(self):
        global living
        if self.level is not None:
            living -= 1
            if not living:
                report(0)

    @property
    def all_slices(self):
        """The physical tensor."""
        return self.physical

    @property
    def is_meta(self):
        """Have its slices no data?"""
        return self.physical is not None and self.physical.is_meta

    @property
    def is_traced(self):
        """Does it stand for a value of a program, and not for slices?"""
        return self.level.is_trace

    @property
    def steps(self):
        """Distances between the elements of a slice, counted in elements."""
        return self.physical.stride()[0 if self.level.is_trace else 1 :]

    def known(self):
        """The array of a traced constant that nothing has been written to, whose elements are the same in each run; None."""
        return self.level.known_array(self.slot) if self.level is not None and self.level.is_trace else None

    def error(self, str what):
        """The error for `what`, an operation that asks for the value of one slice."""
        if self.level is None:
            raise TypeError("a batch cannot be made in Python")
        if self.level.is_trace:
            return self.level.call.escape(what)
        return self.level.call.error(
            f"{what} is not possible for a tensor that differs from slice to slice. It looks like you're attempting to use "
            "a Tensor in some data-dependent control flow, and Python code can take one way only: use where() and the like "
            "in the place of `if`, or leave this part out of the function"
        )


cdef Batch new_batch(TensorBase physical, VmapLevel level):
    global living
    cdef Batch batch = Batch.__new__(Batch)
    batch.physical = physical
    batch.level = level
    living += 1
    if living == 1:
        report(1)
    return batch


cdef VmapLevel current_trace():
    return <VmapLevel>gs_trace if gs_trace != NULL else None


cdef VmapLevel swap_trace(VmapLevel trace):
    global gs_trace
    cdef VmapLevel before = current_trace()
    gs_trace = <PyObject *>trace if trace is not None else NULL
    return before


cdef TensorBase as_traced(TensorBase physical, VmapLevel trace, Py_ssize_t slot):
    cdef cnp.ndarray array = <cnp.ndarray>physical.array
    cdef Batch batch = new_batch(physical, trace)
    batch.slot = slot
    return wrap_owned(batched_array(
        cnp.PyArray_TYPE(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), batch
    ))


cdef TensorBase as_batched(TensorBase physical, VmapLevel level):
    if level.is_trace:
        # What Python code makes anew for the data of a traced tensor has been traced itself.
        return physical
    cdef cnp.ndarray array = <cnp.ndarray>physical.array
    if cnp.PyArray_NDIM(array) == 0 or cnp.PyArray_DIM(array, 0) != level.size:
        raise ValueError(f"{level.size} slices cannot be made of a tensor of shape {list(physical.shape)}")
    return wrap_owned(batched_array(
        cnp.PyArray_TYPE(array),
        cnp.PyArray_NDIM(array) - 1,
        cnp.PyArray_DIMS(array) + 1,
        new_batch(physical, level),
    ))


cdef Batch batch_of(PyObject *array):
    cdef PyObject *base = cnp.PyArray_BASE(<cnp.ndarray>array)
    if base == NULL or not isinstance(<object>base, Batch):
        raise RuntimeError("gradsmith lost the batch of a tensor under vmap; please report this")
    return <Batch>base


cdef Batch open_batch_of(TensorBase t):
    cdef Batch batch = batch_of(t.array)
    if not batch.level.is_open and batch.level.is_trace:
        raise batch.level.call.error(
            f"a tensor of shape {list(t.shape)} was made while the function was compiled, and is used after that. It stands for "
            "a value within programs, and for nothing outside: have the function return it, or write it to a tensor, x.copy_(value)"
        )
    if not batch.level.is_open:
        raise batch.level.call.error(
            f"a tensor of shape {list(t.shape)} is used after the call of the function that vmap mapped has ended. "
            "A tensor kept from inside the function stands for one slice there and for nothing outside: return it"
        )
    return batch


cdef VmapLevel innermost_level(object operands, VmapLevel found=None):
    cdef VmapLevel level
    for operand in operands:
        if isinstance(operand, TensorBase):
            if is_batched(<TensorBase>operand):
                level = open_batch_of(<TensorBase>operand).level
                if found is None or level.number > found.number:
                    found = level
        elif isinstance(operand, (tuple, list)):
            found = innermost_level(operand, found)
    return found


cdef TensorBase leading(TensorBase t, VmapLevel level):
    cdef Batch batch
    if is_batched(t):
        batch = open_batch_of(t)
        if batch.level is level:
            return batch.physical
    if level.is_trace:
        return t
    return upcalls.expand(upcalls.unsqueeze(t, 0), (level.size, *t.shape))


# ---- the memory of a batch

cdef object slice_of_array(object array):
    while is_batched_array(<PyObject *>array):
        data = slice_of_array(<object>batch_of(<PyObject *>array).physical.array)
        if batch_of(<PyObject *>array).level.is_trace:
            return data
        array = data[0, ...] if data.shape[0] else as_strided(data, data.shape[1:], data.strides[1:])
    return array


cdef bint share_memory_of_batches(PyObject *array, PyObject *view) except -1:
    """Does `view` show the memory of `array`, where one of them, or both, are batched?

    What a traced op makes of a tensor that the function captures is traced, and the tensor is not.
    """
    while is_batched_array(array) and is_batched_array(view):
        array = batch_of(array).physical.array
        view = batch_of(view).physical.array
    if is_batched_array(view) and batch_of(view).level.is_trace:
        view = batch_of(view).physical.array
    if is_batched_array(array) or is_batched_array(view):
        return False
    return memory_of(array) == memory_of(view)


cdef PyObject *memory_of(PyObject *array) noexcept:
    """The array that owns the memory."""
    cdef PyObject *owner = cnp.PyArray_BASE(<cnp.ndarray>array)
    return array if owner == NULL else owner


def is_tracing():
    """Does this thread trace a function? What is chosen by looking at values would be chosen for all later runs."""
    return living != 0 and current_trace() is not None


def trace_of_thread():
    """The trace of this thread, or None."""
    return current_trace() if living != 0 else None


# ---- used from Python by `vmap`

def is_batched_tensor(TensorBase tensor not None):
    """Does the tensor stand for a batch?"""
    return is_batched(tensor)


def batched(TensorBase tensor not None, VmapLevel level not None):
    """A tensor that stands for one slice of `tensor` along dimension 0, which has to have the size of the level."""
    return as_batched(tensor, level)


def level_of(TensorBase tensor not None):
    """The innermost level at which a tensor is batched, or None."""
    return batch_of(tensor.array).level if is_batched(tensor) else None


def innermost(object operands):
    """The innermost level at which any tensor in tuples and lists is batched, or None."""
    return innermost_level(operands) if living != 0 else None


def layout_of(TensorBase tensor not None):
    """An array over the memory of a tensor, laid out as it is: of a batched one it is the first slice, if any; not to be
    read."""
    shown = slice_of_array(<object>tensor.array)
    return shown if has_elements(tensor) else <object>tensor.array


cdef bint has_elements(TensorBase t) except -1:
    while is_batched(t):
        if not batch_of(t.array).level.is_trace and not batch_of(t.array).level.size:
            return False
        t = batch_of(t.array).physical
    return True


def physical(TensorBase tensor not None):
    """The data of a batched tensor."""
    return open_batch_of(tensor).physical


def all_slices(TensorBase tensor not None, VmapLevel level not None):
    """The slices of a tensor at `level`, side by side in dimension 0; of one that is not batched there, all the same."""
    return leading(tensor, level)
