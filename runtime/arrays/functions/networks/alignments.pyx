"""Connectionist temporal classification: losses over all alignments of labels with steps, and their derivatives.

Log-probabilities are (steps, batch, classes); labels of all sequences lie one after the other. Dimensions before these are
broadcast, as in a generalized ufunc. kernels/sequences/ctc.h says the rest.
"""

from cpython.ref cimport PyObject
cimport numpy as cnp

from gradsmith.runtime.arrays.array cimport (
    Alignments, contiguous, ctc_curvature, ctc_losses, ctc_slopes, is_meta,
)
from gradsmith.runtime.arrays.functions.ownership cimport fresh, fresh_beside, take

import numpy as np

cnp.import_array()

cdef enum:
    LOSSES, SLOPES, CURVATURE


cpdef object ctc_losses_of(object a, object labels, object label_counts, object step_counts, Py_ssize_t blank):
    """Minus the logarithm of the probability of each sequence's labels: (batch,)."""
    return run(LOSSES, a, None, None, labels, label_counts, step_counts, blank)


cpdef object ctc_slopes_of(
    object a, object scale, object labels, object label_counts, object step_counts, Py_ssize_t blank
):
    """The derivatives of these losses, times a factor for each sequence."""
    return run(SLOPES, a, None, scale, labels, label_counts, step_counts, blank)


cpdef object ctc_curvature_of(
    object a, object direction, object scale, object labels, object label_counts, object step_counts, Py_ssize_t blank
):
    """The directional derivatives of `ctc_slopes_of`."""
    return run(CURVATURE, a, direction, scale, labels, label_counts, step_counts, blank)


cdef object run(
    int wanted, object a, object direction, object scale, object labels, object label_counts, object step_counts,
    Py_ssize_t blank
):
    """One call for each place of the dimensions before the operands' own."""
    own = own_shape(a, label_counts, step_counts, blank)
    operands = [(a, own), (direction, own), (scale, own[1:2]), (labels, (sum(label_counts),))]
    loops = ()
    for operand, shape in operands:
        loops = np.broadcast_shapes(loops, leading(operand, shape, a))
    shape = (*loops, *(own[1:2] if wanted == LOSSES else own))
    for operand, _ in operands:
        if operand is not None and is_meta(<PyObject *>operand):
            return fresh_beside(operand, cnp.PyArray_TYPE(a), shape)
    expect_labels(labels, own[2])
    result = fresh(cnp.PyArray_TYPE(a), shape)
    if not loops:
        call(wanted, [operand for operand, _ in operands], label_counts, step_counts, blank, result)
    for place in np.ndindex(*loops) if loops else ():
        slices = [None if x is None else np.broadcast_to(x, (*loops, *shape))[place] for x, shape in operands]
        call(wanted, slices, label_counts, step_counts, blank, result[place])
    return result


cdef tuple own_shape(object a, object label_counts, object step_counts, Py_ssize_t blank):
    if a.ndim < 3:
        raise RuntimeError(f"ctc_loss(): log_probs are (steps, batch, classes), but their size is {list(a.shape)}")
    if a.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"ctc_loss(): not implemented for {a.dtype.name}; convert it to float32 or float64")
    own = a.shape[a.ndim - 3:]
    steps, batch, classes = own
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss(): blank must be in label range, from 0 to {classes - 1}, but it is {blank}")
    for name, counts in (("input_lengths", step_counts), ("target_lengths", label_counts)):
        if len(counts) != batch:
            raise RuntimeError(f"ctc_loss(): {name} must be of size batch_size, {batch}, but there are {len(counts)}")
        if batch and min(counts) < 0:
            raise RuntimeError(f"ctc_loss(): Expected {name} to have value at least 0, but got value {min(counts)}")
    if batch and max(step_counts) > steps:
        raise RuntimeError(
            f"ctc_loss(): Expected input_lengths to have value at most {steps}, but got value {max(step_counts)}"
        )
    return own


cdef tuple leading(object operand, tuple own, object a):
    """The dimensions before an operand's own."""
    if operand is None:
        return ()
    before = operand.ndim - len(own)
    if before < 0 or operand.shape[before:] != own:
        raise RuntimeError(f"ctc_loss(): an operand has the size {list(operand.shape)}, but expected {list(own)}")
    if operand.dtype != a.dtype and operand.dtype != np.int64:
        raise RuntimeError(f"ctc_loss(): operands have one dtype, but got {operand.dtype.name} and {a.dtype.name}")
    return operand.shape[:before]


cdef int expect_labels(object labels, Py_ssize_t classes) except -1:
    if labels.dtype != np.int64:
        raise RuntimeError(f"ctc_loss(): labels are int64, not {labels.dtype.name}")
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise RuntimeError(
            f"ctc_loss(): targets are classes from 0 to {classes - 1}, but they go from {labels.min()} to {labels.max()}"
        )
    return 0


cdef int call(
    int wanted, list operands, object label_counts, object step_counts, Py_ssize_t blank, object result
) except -1:
    cdef Alignments c
    a, direction, scale, labels = [None if x is None else take(contiguous(<PyObject *>x)) for x in operands]
    counts = np.array((label_counts, step_counts), np.int64).reshape(2, -1)
    starts = np.cumsum(counts[0]) - counts[0]
    c.type = cnp.PyArray_TYPE(a)
    c.steps, c.batch, c.classes = a.shape
    c.blank = blank
    c.most_labels = max(label_counts, default=0)
    c.labels = <cnp.npy_int64 *>cnp.PyArray_DATA(labels)
    c.label_starts = <cnp.npy_int64 *>cnp.PyArray_DATA(starts)
    c.label_counts = <cnp.npy_int64 *>cnp.PyArray_DATA(counts)
    c.step_counts = c.label_counts + c.batch
    c.log_probs = cnp.PyArray_DATA(a)
    c.scales = NULL if scale is None else cnp.PyArray_DATA(scale)
    c.direction = NULL if direction is None else cnp.PyArray_DATA(direction)
    if wanted == LOSSES:
        return ctc_losses(&c, cnp.PyArray_DATA(result))
    if wanted == SLOPES:
        return ctc_slopes(&c, cnp.PyArray_DATA(result))
    return ctc_curvature(&c, cnp.PyArray_DATA(result))
