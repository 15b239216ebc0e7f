"""Building blocks for models and grids that are larger than one process: layers, halos, and systems over all ranks."""

from gradsmith.distributed.parallel.halo import halo_exchange, part_of
from gradsmith.distributed.parallel.layers import ColumnParallelLinear, RowParallelLinear, VocabParallelEmbedding
from gradsmith.distributed.parallel.losses import vocab_parallel_cross_entropy
from gradsmith.distributed.parallel.normalization import synchronized_batch_norm
from gradsmith.distributed.parallel.regions import (
    enter_parallel_region,
    gather_from_ranks,
    leave_parallel_region,
    split_among_ranks,
)
from gradsmith.distributed.parallel.systems import cg, dot, norm

__all__ = [
    "ColumnParallelLinear", "RowParallelLinear", "VocabParallelEmbedding", "cg", "dot", "enter_parallel_region",
    "gather_from_ranks", "halo_exchange", "leave_parallel_region", "norm", "part_of", "split_among_ranks",
    "synchronized_batch_norm", "vocab_parallel_cross_entropy",
]  # fmt: skip
