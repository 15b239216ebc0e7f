"""Datasets, samplers, and the loader that makes batches of them, with PyTorch's names and arguments."""

from typing import Any

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


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
