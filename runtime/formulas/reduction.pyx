"""Helpers of losses that become a mean or a sum; the types that formulas may call them with are in the .pxd."""


cpdef object reduced_loss(object self, object reduction):
    """The losses themselves, their mean or their sum."""
    if reduction == "mean":
        return self.mean()
    if reduction == "sum":
        return self.sum()
    if reduction == "none":
        return self
    raise ValueError(f"{reduction!r} is not a valid value for reduction: expected 'none', 'mean' or 'sum'")


cpdef object weighted_loss(object self, object weight, object reduction):
    """The same of losses that have weights; their mean is divided by the number of losses."""
    return reduced_loss(self if weight is None else self * weight, reduction)


cpdef object weighted_mean_loss(object self, object weight, object reduction):
    """The same, but for the mean, which is divided by the sum of the weights."""
    if weight is None or reduction != "mean":
        return weighted_loss(self, weight, reduction)
    weighted = self * weight
    return weighted.sum() / weight.expand(weighted.shape).sum()


cpdef object target_of_size(object target, object shape):
    """The target of a loss that does not broadcast."""
    if tuple(target.shape) != tuple(shape):
        raise ValueError(
            f"this loss expects a target of the size of the input, {list(shape)}, but it has size {list(target.shape)}"
        )
    return target


cpdef object target_of_kind(object target, object self):
    """The same of one that does not take part in promotion either."""
    if target.dtype != self.dtype:
        raise RuntimeError(
            f"this loss expects a target of the dtype of the input: found dtype {target.dtype} but expected {self.dtype}"
        )
    return target_of_size(target, self.shape)


cpdef object weight_of_kind(object weight, object self):
    """Weights in the dtype of what they weigh, which keeps it."""
    return weight if weight.dtype == self.dtype else weight.to(self.dtype)


cpdef object loss_of_target(object loss, object target):
    """A loss in the dtype of its target, where that is a floating one, as PyTorch gives it."""
    return loss if loss.dtype == target.dtype or target.dtype.kind != "f" else loss.to(target.dtype)
