"""Ops on tensors without data.

Note [Ops on the meta device]
An op on the meta device is the same op. Its operands have arrays, stand-ins that cost no memory (kernels/meta.h), and so
everything happens as usual: arguments are checked, the node is made, the hooks run, the result has the shape and the
dtype that it would have. Two things are added, around every op while there is a tensor without data: before it, that
its operands are on one device; after it, that its result is a stand-in too. Where the op had to compute its result,
from zeros, that is dropped here; most ops find out the shape alone.
"""
from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport is_on_meta, is_stand_in, meta_array, release_array
from gradsmith.runtime.graph.input_metadata cimport META
from gradsmith.runtime.graph.node cimport metadata_of
from gradsmith.runtime.graph.tensor cimport TensorBase

cnp.import_array()

# These only look at the shape or the device of a second tensor, or bring data from one device to another.
cdef frozenset ACROSS_DEVICES = frozenset(("copy_to", "expand_as", "reshape_as", "to", "view_as"))

# The shapes of their results depend on values.
cdef frozenset NEED_VALUES = frozenset((
    "argwhere", "bincount", "consecutive_elements", "masked_select", "nonzero_rows", "unique_elements",
))


cdef class Devices:
    """Devices seen among the operands of an op."""

    cdef bint meta
    cdef TensorBase cpu         # one that cannot go with tensors elsewhere, or None

    cdef int look_at(self, object operand) except -1:
        if isinstance(operand, TensorBase):
            self.look_at_tensor(operand)
        elif isinstance(operand, list):
            for item in operand:
                self.look_at(item)
        elif isinstance(operand, tuple):
            for item in operand:
                self.look_at_index(item)
        return 0

    cdef int look_at_index(self, object part) except -1:
        """An index with data goes with tensors on any device."""
        if isinstance(part, TensorBase):
            self.meta = self.meta or is_on_meta((<TensorBase>part).array)
        elif isinstance(part, cnp.ndarray):
            self.meta = self.meta or is_on_meta(<PyObject *>part)
        return 0

    cdef int look_at_tensor(self, TensorBase operand) except -1:
        if is_on_meta(operand.array):
            self.meta = True
        elif cnp.PyArray_NDIM(<cnp.ndarray>operand.array):      # without dimensions it is as good as a number
            self.cpu = operand
        return 0


cdef bint begin_meta(str name, tuple operands) except -1:
    cdef Devices devices = Devices.__new__(Devices)
    if name in ACROSS_DEVICES:
        return False
    for operand in operands:
        devices.look_at(operand)
    if not devices.meta:
        return False
    if name in NEED_VALUES:
        raise NotImplementedError(
            f"{name}(): the shape of the result depends on the values, and a tensor on the meta device has none"
        )
    if devices.cpu is not None and not (name == "copy_" and operands[0] is not devices.cpu):
        refuse_mixture(name, operands, devices.cpu)
    return True


cdef int refuse_mixture(str name, tuple operands, TensorBase cpu) except -1:
    if name == "copy_":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    raise RuntimeError(
        f"{name}(): Expected all tensors to be on the same device, but found at least two devices, meta and cpu! "
        f"A tensor of shape {list(cpu.shape)} is on cpu; move it with .to('meta')"
    )


cdef int end_meta(object result) except -1:
    if isinstance(result, TensorBase):
        take_data_from(result)
    elif isinstance(result, (list, tuple)):
        for item in result:
            end_meta(item)
    return 0


cdef int take_data_from(TensorBase t) except -1:
    """Swap the array in place: all holders of the tensor see the new one, nodes that saved it included."""
    cdef PyObject *old = t.array
    if not is_stand_in(old):
        t.array = meta_array(
            cnp.PyArray_TYPE(<cnp.ndarray>old), cnp.PyArray_NDIM(<cnp.ndarray>old), cnp.PyArray_DIMS(<cnp.ndarray>old)
        )
        release_array(old)
    if t.grad_fn != NULL:
        metadata_of(t.grad_fn, t.output_nr).device = META
    return 0
