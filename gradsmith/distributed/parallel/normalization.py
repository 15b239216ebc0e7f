"""Batch normalization by the statistics of all ranks' inputs."""

from __future__ import annotations

from gradsmith.distributed.groups.group import ProcessGroup
from gradsmith.distributed.nn import functional as collectives
from gradsmith.distributed.reduce_op import ReduceOp
from gradsmith.generated import cat, rsqrt
from gradsmith.generated.tensor import Tensor

__all__ = ["synchronized_batch_norm"]


def synchronized_batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    momentum: float,
    eps: float,
    group: ProcessGroup,
) -> Tensor:
    """`nn.functional.batch_norm` in training, of the inputs of all ranks together.

    It sends two messages of a number for each channel, and two in backward.

    Parameters
    ----------
    input : Tensor
        Of shape (images, channels, ...). Ranks may have different numbers of images, or none.
    running_mean, running_var : Tensor, optional
        Changed in place, equally on all ranks.
    weight, bias : Tensor, optional
        Of shape (channels,).
    momentum, eps : float
    group : ProcessGroup

    Returns
    -------
    Tensor
        In the shape and dtype of `input`.

    Raises
    ------
    ValueError
        All ranks together have one number for each channel.
    """
    x = input.float() if input.element_size() == 2 else input
    dims = [0, *range(2, x.ndim)]
    along = (1, -1, *(1,) * (x.ndim - 2))
    own_count = x.new_full((1,), x.numel() // x.shape[1])
    *_, count = totals = collectives.all_reduce(cat([x.sum(dims), own_count]), ReduceOp.SUM, group)
    numbers = count.item()
    if numbers == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got one on {group.size()} ranks, input size "
            f"{list(input.shape)} on rank {group.rank()}"
        )
    mean = totals[:-1] / count
    centred = x - mean.view(along)
    variance = collectives.all_reduce((centred * centred).sum(dims), ReduceOp.SUM, group) / count
    for running, found in ((running_mean, mean), (running_var, variance * (count / (count - 1)))):
        if running is not None and numbers:  # nothing has no statistics
            running.lerp_(found.detach().to(running.dtype), momentum)
    result = centred * rsqrt(variance + eps).view(along)
    result = result if weight is None else result * weight.view(along)
    shifted: Tensor = result if bias is None else result + bias.view(along)
    return shifted.to(input.dtype)
