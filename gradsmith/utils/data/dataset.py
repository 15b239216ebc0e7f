"""Datasets: samples by number, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.random import Generator, randperm

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset", "TensorDataset",
    "random_split",
]  # fmt: skip

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Base class of datasets whose samples have numbers. A subclass defines ``__getitem__``, and ``__len__``.

    With ``__getitems__``, which takes a list of numbers, it may give many samples at once.

    Examples
    --------
    >>> from gradsmith.utils.data import Dataset
    >>> class Squares(Dataset):
    ...     def __getitem__(self, index):
    ...         return index**2
    ...     def __len__(self):
    ...         return 10
    >>> (Squares() + Squares())[12]
    4
    """

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Base class of datasets whose samples come one after the other. A subclass defines ``__iter__``.

    Each worker of a loader goes through the dataset on its own, so that samples come as often as there are workers,
    unless ``__iter__`` asks `get_worker_info` for its share.

    Examples
    --------
    >>> from gradsmith.utils.data import DataLoader, IterableDataset
    >>> class Numbers(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(5))
    >>> list(DataLoader(Numbers(), batch_size=2))
    [tensor([0, 1]), tensor([2, 3]), tensor([4])]
    """

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Any]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples along the first dimension of tensors.

    Parameters
    ----------
    *tensors : Tensor
        Of one first size.

    Raises
    ------
    ValueError
        First sizes differ, or there is no tensor.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.utils.data import TensorDataset
    >>> TensorDataset(gs.arange(3), gs.ones(3, 2))[1]
    (tensor(1), tensor([1., 1.]))
    """

    def __init__(self, *tensors: Tensor) -> None:
        if not tensors:
            raise ValueError("TensorDataset: at least one tensor should be given")
        if any(t.ndim == 0 for t in tensors) or len({t.shape[0] for t in tensors}) > 1:
            shapes = ", ".join(str(list(t.shape)) for t in tensors)
            raise AssertionError(f"TensorDataset: Size mismatch between tensors: their shapes are {shapes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class StackDataset(Dataset[T]):
    """Samples of several datasets side by side.

    Parameters
    ----------
    *args : Dataset
        Samples are tuples.
    **kwargs : Dataset
        Samples are dicts. Only one of both can be given.

    Raises
    ------
    ValueError
        Lengths differ, there is no dataset, or both forms are given.

    Examples
    --------
    >>> from gradsmith.utils.data import StackDataset
    >>> StackDataset(number=range(3), letter="abc")[1]
    {'number': 1, 'letter': 'b'}
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        self.datasets = args or kwargs
        parts = list(args or kwargs.values())
        if not parts:
            raise ValueError("At least one dataset should be passed")
        if len({len(part) for part in parts}) > 1:
            raise ValueError(f"Size mismatch between datasets: their lengths are {[len(part) for part in parts]}")
        self._length = len(parts[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = [samples_of(part, indices) for part in self.datasets.values()]
            return [dict(zip(self.datasets, row)) for row in zip(*columns)]
        return list(zip(*(samples_of(part, indices) for part in self.datasets)))

    def __len__(self) -> int:
        return self._length


def samples_of(dataset: Any, indices: list[Any]) -> list[Any]:
    """Several samples, at once where the dataset can."""
    many = getattr(dataset, "__getitems__", None)
    if not callable(many):
        return [dataset[index] for index in indices]
    samples: list[Any] = many(indices)
    if len(samples) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(samples)}")
    return samples


class ConcatDataset(Dataset[T]):
    """One dataset after the other.

    Parameters
    ----------
    datasets : iterable of Dataset

    Attributes
    ----------
    cumulative_sizes : list of int
        The number of samples up to the end of each.

    Examples
    --------
    >>> from gradsmith.utils.data import ConcatDataset
    >>> ConcatDataset([range(3), "abc"])[-1]
    'c'
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """The number of samples up to the end of each dataset."""
        return list(itertools.accumulate(map(len, sequence)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        place = bisect.bisect_right(self.cumulative_sizes, idx)
        if place == len(self.datasets):
            raise IndexError(f"index {idx} is out of range for a dataset of {len(self)} samples")
        return self.datasets[place][idx - (self.cumulative_sizes[place - 1] if place else 0)]


class ChainDataset(IterableDataset[Any]):
    """One iterable dataset after the other.

    Examples
    --------
    >>> from gradsmith.utils.data import ChainDataset, IterableDataset
    >>> class Numbers(IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(2))
    >>> list(ChainDataset([Numbers(), Numbers()]))
    [0, 1, 0, 1]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        total = 0
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            total += len(dataset)  # type: ignore[arg-type]
        return total


class Subset(Dataset[T]):
    """Some samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
    indices : sequence of int

    Examples
    --------
    >>> from gradsmith.utils.data import Subset
    >>> list(Subset("abc", [2, 0]))
    ['c', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> T:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]  # type: ignore[no-any-return]
        return self.dataset[self.indices[idx]]  # type: ignore[no-any-return]

    def __getitems__(self, indices: list[int]) -> list[T]:
        return samples_of(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset[Any]]:
    """Divide a dataset at random.

    Parameters
    ----------
    dataset : Dataset
    lengths : sequence of int, or of float
        The length of each part, or the fraction of it, if their sum is 1. What is left after rounding down goes to the
        first parts, one sample to each.
    generator : Generator, optional
        The default one otherwise.

    Returns
    -------
    list of Subset

    Raises
    ------
    ValueError
        The sum of lengths is not that of the dataset, or a fraction is not between 0 and 1.

    Examples
    --------
    >>> from gradsmith.utils.data import random_split
    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    counts = [int(n) for n in lengths]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = _lengths_of(len(dataset), lengths)
    if sum(counts) != len(dataset):
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset! They are {sum(counts)} and "
            f"{len(dataset)}"
        )
    order = randperm(len(dataset), generator=generator).tolist()
    ends = list(itertools.accumulate(counts))
    return [Subset(dataset, order[end - count : end]) for count, end in zip(counts, ends)]


def _lengths_of(total: int, fractions: Sequence[float]) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    counts = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    for i, count in enumerate(counts):
        if count == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return counts
