"""Training one module on all ranks, each with a part of the batch."""

from gradsmith.distributed.ddp.data_parallel import DistributedDataParallel
from gradsmith.distributed.ddp.grad_bucket import GradBucket

__all__ = ["DistributedDataParallel", "GradBucket"]
