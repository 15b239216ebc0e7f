"""Training one module on all ranks, each with a part of the batch."""

from gradsmith.distributed.ddp.data_parallel import DistributedDataParallel

__all__ = ["DistributedDataParallel"]
