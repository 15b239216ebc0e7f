"""Collectives with gradients, under PyTorch's name for them."""

from gradsmith.distributed.nn import functional
from gradsmith.distributed.nn.functional import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    send,
    shift,
)

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "functional",
    "gather", "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "send", "shift",
]  # fmt: skip
