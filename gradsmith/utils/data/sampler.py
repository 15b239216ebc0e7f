"""Samplers: in which order the numbers of samples come."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import float64, int64
from gradsmith.runtime.tensors.factories.creation import as_tensor
from gradsmith.runtime.tensors.factories.random import Generator, randint, randperm
from gradsmith.runtime.tensors.factories.sources import numpy_generator

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
]  # fmt: skip

T = TypeVar("T", covariant=True)
LARGEST_SEED = (1 << 63) - 1


def drawn_seed(generator: Generator | None = None) -> int:
    return int(randint(0, LARGEST_SEED, (), dtype=int64, generator=generator).item())


class Sampler(Generic[T]):
    """Base class of samplers. A subclass defines ``__iter__``, and ``__len__``."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of Sampler should implement __iter__.")


class SequentialSampler(Sampler[int]):
    """All numbers in order.

    Examples
    --------
    >>> from gradsmith.utils.data import SequentialSampler
    >>> list(SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Numbers at random.

    Parameters
    ----------
    data_source : sized
    replacement : bool, default False
        May a number come twice?
    num_samples : int, optional
        As many as there are samples by default. Without replacement all come once before any comes again.
    generator : Generator, optional
        Otherwise each pass draws from a new one, whose seed is drawn from the default one.

    Raises
    ------
    TypeError, ValueError
        `replacement` is no bool, or `num_samples` is not a positive integer.

    Examples
    --------
    >>> from gradsmith.utils.data import RandomSampler
    >>> sorted(RandomSampler("abc"))
    [0, 1, 2]
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        _require_positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many numbers come."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = Generator().manual_seed(drawn_seed()) if self.generator is None else self.generator
        n = len(self.data_source)
        if self.replacement:
            yield from randint(0, n, (self.num_samples,), dtype=int64, generator=generator).tolist()
            return
        for begin in range(0, self.num_samples, n):
            yield from randperm(n, generator=generator).tolist()[: self.num_samples - begin]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given numbers in random order.

    Parameters
    ----------
    indices : sequence of int
    generator : Generator, optional

    Examples
    --------
    >>> from gradsmith.utils.data import SubsetRandomSampler
    >>> sorted(SubsetRandomSampler([3, 5]))
    [3, 5]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Numbers at random, with given weights.

    Parameters
    ----------
    weights : sequence of float
        Of each number; they need not have the sum 1.
    num_samples : int
    replacement : bool, default True
        May a number come twice?
    generator : Generator, optional

    Raises
    ------
    ValueError
        `weights` are not a row of numbers, `num_samples` is not a positive integer, or `replacement` no bool.
    RuntimeError
        Weights are negative, not finite or all zero, or too few of them are positive.

    Examples
    --------
    >>> from gradsmith.utils.data import WeightedRandomSampler
    >>> list(WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        _require_positive("num_samples", num_samples)
        _require_bool("replacement", replacement)
        self.weights: Tensor = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        weights = self.weights.numpy()
        total = weights.sum()
        if not np.isfinite(total) or (weights < 0).any() or total <= 0:
            raise RuntimeError("WeightedRandomSampler: weights should be finite, not negative, and not all zero")
        if not self.replacement and np.count_nonzero(weights) < self.num_samples:
            raise RuntimeError(
                f"WeightedRandomSampler: cannot draw {self.num_samples} numbers without replacement, since "
                f"{np.count_nonzero(weights)} weights are positive"
            )
        source = numpy_generator(self.generator)
        yield from source.choice(len(weights), self.num_samples, self.replacement, weights / total).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of as many numbers as a batch has.

    Parameters
    ----------
    sampler : iterable
        Where the numbers come from.
    batch_size : int
    drop_last : bool
        Leave out a last list that is shorter.

    Raises
    ------
    ValueError
        `batch_size` is not a positive integer, or `drop_last` no bool.

    Examples
    --------
    >>> from gradsmith.utils.data import BatchSampler
    >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        _require_positive("batch_size", batch_size)
        _require_bool("drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


def _require_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _require_bool(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")
