"""What losses expect of their targets, and how sums of them are reduced."""

cimport numpy as cnp
from libc.stdint cimport int64_t

from gradsmith.runtime.formulas.reduction cimport reduced_loss

from functools import partial

from gradsmith.runtime.batching.checked_values import check_values

cnp.import_array()


cpdef object divergence_loss(object self, object shape, object reduction):
    """As reduced_loss, or, with "batchmean", the sum divided by the number of distributions, which the input's shape says."""
    if reduction != "batchmean":
        return reduced_loss(self, reduction)
    return self.sum() / (shape[0] if shape else 1)


cpdef object alike(object op, object target, object one, object other):
    """The target, of as many dimensions as both inputs."""
    if not target.ndim == one.ndim == other.ndim:
        raise RuntimeError(
            f"{op}(): all input tensors should have the same number of dimensions, but got sizes: input1: "
            f"{list(one.shape)}, input2: {list(other.shape)}, target: {list(target.shape)}"
        )
    return target


cpdef object floats_beside(object self, object other):
    """Integers in the dtype of the floats that they are compared with."""
    return self.to(other.dtype) if self.dtype.kind in "biu" and other.dtype.kind == "f" else self


cpdef object in_dtype_of(object self, object other):
    """Factors of another dtype than the input's do not change that of the result."""
    return self if self.dtype == other.dtype else self.to(other.dtype)


cpdef object paired_target(object target, object one, object other):
    """One number for each pair of vectors."""
    if target.ndim not in (0, 1):
        raise RuntimeError(
            f"cosine_embedding_loss(): 0D or 1D target tensor expected, but its size is {list(target.shape)}"
        )
    wanted = target.ndim + 1
    if one.ndim != wanted or other.ndim != wanted:
        raise RuntimeError(
            f"cosine_embedding_loss(): {target.ndim}D target tensor expects {wanted}D input tensors, but found inputs "
            f"with sizes {list(one.shape)} and {list(other.shape)}"
        )
    return target


# ---- classes

cpdef object classes_of_rows(object self, object target, object p):
    """One class for each row of scores, or one for a vector or a number, for multi_margin_loss."""
    classes = one_for_each_row(self, target, p)
    check_labels("multi_margin_loss(): target out of range", self, classes, 0)
    return classes


cdef object check_labels(wrong, object self, object labels, object least):
    """Raise an error for labels that are no classes of the scores."""
    cdef object count = self.shape[self.ndim - 1] if self.ndim else 1
    if labels.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {labels.dtype}: labels are integers, classes from 0 on")
    check_values(partial(expect_labels, wrong, least, count), labels)


def expect_labels(str wrong, least, count, labels):
    if not labels.numel():
        return
    for value in extremes(labels.numpy(force=True)):
        if not least <= value < count:
            raise RuntimeError(f"{wrong}: {value} is none of the {count} classes")


cdef tuple extremes(object labels):
    """The least and the greatest of integers, of which there are some."""
    cdef const int64_t *found
    cdef int64_t low, high
    cdef Py_ssize_t i
    cdef cnp.ndarray values = labels
    if cnp.PyArray_TYPE(values) != cnp.NPY_INT64 or not cnp.PyArray_ISCARRAY_RO(values):
        return labels.min(), labels.max()
    found = <const int64_t *>cnp.PyArray_DATA(values)
    low = high = found[0]
    for i in range(1, cnp.PyArray_SIZE(values)):
        low, high = min(low, found[i]), max(high, found[i])
    return low, high


cdef object one_for_each_row(object self, object target, object p):
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss(): only p == 1 and p == 2 supported, but got p = {p}")
    if self.ndim > 2 or self.ndim and self.shape[self.ndim - 1] == 0:
        raise RuntimeError(f"multi_margin_loss(): expected non-empty vector or matrix, but got size {list(self.shape)}")
    if self.ndim < 2 and tuple(target.shape) == (1,):
        return target.reshape(())
    if self.ndim == 2 and self.shape[0] == 1 and target.ndim == 0:
        return target.reshape((1,))
    if tuple(target.shape) != tuple(self.shape[:self.ndim - 1] if self.ndim else ()):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size {list(self.shape[:max(self.ndim - 1, 0)])}, but got {list(target.shape)}"
        )
    return target


cpdef object classes_of_sets(object self, object target):
    """The classes before the first -1 of each row, and class 0 for what does not count."""
    if self.ndim > 2 or self.ndim and self.shape[self.ndim - 1] == 0:
        raise RuntimeError(
            f"multilabel_margin_loss(): expected non-empty vector or matrix, but got size {list(self.shape)}"
        )
    if tuple(target.shape) != tuple(self.shape) and not (
        max(self.ndim, target.ndim) < 2 and self.numel() == target.numel() == 1
    ):
        raise RuntimeError(
            f"multilabel_margin_loss(): inconsistent target size: {list(target.shape)} for input of size "
            f"{list(self.shape)}"
        )
    check_labels("multilabel_margin_loss(): argument #2 'target' is out of range", self, target, -1)
    return target.reshape(tuple(self.shape) or (1,)).clamp_min(0)


cpdef object reduced_class_losses(object losses, object target, object weight, object ignore, object reduction):
    """Losses of classes by their weights: each, their sum, or their mean by weight; what is ignored weighs nothing."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")
    if weight is None and reduction != "mean":
        return losses if reduction == "none" else losses.sum()
    counted = target != ignore
    if weight is not None:
        if weight.is_complex():
            raise RuntimeError(f"cross_entropy(): expected weights that are real numbers, but found {weight.dtype}")
        counted = counted * weight.to(losses.dtype)[target.masked_fill(target == ignore, 0)]
        losses = losses * counted
    if reduction == "mean":
        return losses.sum() / counted.sum()
    return losses if reduction == "none" else losses.sum()


cpdef object counted_classes(object self, object target, object ignore):
    """Numbers of targets, zero where the class is ignored."""
    return self.masked_fill(target == ignore, 0)
