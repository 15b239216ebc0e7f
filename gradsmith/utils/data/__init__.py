"""Datasets, samplers, and the loader that makes batches of them, with PyTorch's names and arguments."""

from typing import Any

from gradsmith.names.other_modules import add_other_name
from gradsmith.utils.data.collate import default_collate, default_convert
from gradsmith.utils.data.dataloader import DataLoader
from gradsmith.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from gradsmith.utils.data.distributed import DistributedSampler
from gradsmith.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from gradsmith.utils.data.worker import get_worker_info

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
    "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip

# Where PyTorch has what makes batches, and what workers know.
_utils = add_other_name(f"{__name__}._utils", __name__)
add_other_name(f"{__name__}._utils.collate", f"{__name__}.collate")
add_other_name(f"{__name__}._utils.worker", f"{__name__}.worker")


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
