"""Algorithms between ranks that users choose: how the gradients of `DistributedDataParallel` are averaged."""

from gradsmith.distributed.algorithms import ddp_comm_hooks

__all__ = ["ddp_comm_hooks"]
